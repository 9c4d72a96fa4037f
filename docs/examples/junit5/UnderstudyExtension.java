import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A sandbox of Understudy per test, for JUnit 5: {@code @ExtendWith(UnderstudyExtension.class)}, then a parameter of
 * type {@link Sandbox}. Copy it beside your tests; it needs the JDK (11 or newer) and nothing else.
 *
 * <p>The server is the one that UNDERSTUDY_URL names, else one that {@code npx understudy} starts for the run. Inside
 * {@code understudy suite} each test uses the suite's sandbox, in which the scenario is active.
 */
public final class UnderstudyExtension implements ParameterResolver, AfterEachCallback {
  private static final Namespace SPACE = Namespace.create(UnderstudyExtension.class);
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Sandbox.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context.getStore(SPACE).getOrComputeIfAbsent(Sandbox.class, key -> open(context), Sandbox.class);
  }

  private static Sandbox open(ExtensionContext context) {
    String ofSuite = environment("UNDERSTUDY_CONTROL_URL");
    if (ofSuite != null) return new Sandbox(ofSuite, false);
    Server server = context.getRoot().getStore(SPACE).getOrComputeIfAbsent(Server.class, key -> new Server(), Server.class);
    // A port of its own, where this run has started the server; other ports of another one may not be reachable.
    String options = environment("UNDERSTUDY_URL") == null ? "{\"origin\": true}" : "{}";
    String made = call("POST", server.url + "/_control/sandboxes", options);
    return new Sandbox(server.url + "/_control/sandboxes/" + text(made, "name"), true);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Sandbox sandbox = context.getStore(SPACE).remove(Sandbox.class, Sandbox.class);
    if (sandbox == null) return;
    try {
      finish(sandbox, context);
    } catch (SandboxDeleted error) {
      // A test may delete its sandbox itself.
    }
  }

  private static void finish(Sandbox sandbox, ExtensionContext context) {
    boolean failed = context.getExecutionException().isPresent();
    if (failed) System.err.println("Journal of the sandbox, newest first: " + sandbox.control("GET", "/journal?limit=50", null));
    String faults = sandbox.control("GET", "/faults", null);
    if (sandbox.isOwn) sandbox.control("DELETE", "", null);
    if (!failed && faults.contains("\"hits\":0")) throw new AssertionError("armed but never triggered: " + faults);
  }

  /** {@code url} is the base URL for your application; the rest acts on the sandbox, as the control API does. */
  public static final class Sandbox {
    public final String url;
    private final String controlUrl;
    private final boolean isOwn;

    private Sandbox(String controlUrl, boolean isOwn) {
      this.controlUrl = controlUrl;
      this.isOwn = isOwn;
      String state = control("GET", "", null);
      this.url = text(state, state.contains("\"origin\":null") ? "base_url" : "origin");
    }

    /** The user's first API key that is not revoked. */
    public String key(String user) {
      String keys = control("GET", "/state/api_keys?revoked=false&user_id=" + user, null);
      return text(keys, "key");
    }

    /** Arms a rule: {@code {"match": {"operation": "models.list"}, "times": 1, "effect": {"status": 503}}}. */
    public void fault(String rule) {
      control("POST", "/faults", rule);
    }

    /** Moves the clock, such as by {@code 6h}, and returns the timers that ran. */
    public String advance(String by) {
      return control("POST", "/clock/advance", "{\"by\": \"" + by + "\"}");
    }

    /** {@code sandbox.assertReceived("{\"operation\": \"threads.delete\"}", "1")}; the count may be {@code {"min": 1}}. */
    public void assertReceived(String match, String count) {
      String found = control("POST", "/journal/verify", "{\"match\": " + match + ", \"count\": " + count + "}");
      if (!found.contains("\"ok\":true")) throw new AssertionError("not received as often as " + count + ": " + found);
    }

    /** Any call of the control API below the sandbox; its answer as JSON text. */
    public String control(String method, String path, String body) {
      return call(method, controlUrl + path, body);
    }
  }

  private static final class SandboxDeleted extends IllegalArgumentException {
    SandboxDeleted(String problem) {
      super(problem);
    }
  }

  /** A server for the whole run. */
  private static final class Server implements Store.CloseableResource {
    final String url;
    private final ProcessHandle process;

    Server() {
      String running = environment("UNDERSTUDY_URL");
      if (running != null) {
        url = running;
        process = null;
        return;
      }
      try {
        Path ready = Files.createTempDirectory("understudy").resolve("ready.json");
        Process npx =
            new ProcessBuilder("npx", "--no", "understudy", "start", "--port", "0", "--quiet", "--ready-file", ready.toString())
                .inheritIO()
                .start();
        while (!Files.exists(ready)) {
          if (!npx.isAlive())
            throw new IllegalStateException("understudy did not start; is understudy-sandbox installed in this folder?");
          Thread.sleep(50);
        }
        String started = Files.readString(ready);
        url = text(started, "url");
        Matcher pid = Pattern.compile("\"pid\":\\s*(\\d+)").matcher(started);
        process = pid.find() ? ProcessHandle.of(Long.parseLong(pid.group(1))).orElse(null) : null;
      } catch (IOException | InterruptedException error) {
        throw new IllegalStateException("understudy did not start", error);
      }
    }

    @Override
    public void close() {
      if (process != null) process.destroy();
    }
  }

  private static String call(String method, String url, String body) {
    HttpRequest.BodyPublisher sent =
        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url)).method(method, sent).header("content-type", "application/json");
    String token = environment("UNDERSTUDY_TOKEN");
    if (token != null) request.header("authorization", "Bearer " + token);
    try {
      HttpResponse<String> answer = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
      boolean isRefused = answer.statusCode() >= 400;
      if (isRefused && answer.body().contains("urn:understudy:problem:unknown-sandbox")) throw new SandboxDeleted(answer.body());
      if (isRefused) throw new IllegalArgumentException(answer.body());
      return answer.body();
    } catch (IOException | InterruptedException error) {
      throw new IllegalStateException("No Understudy answers at " + url, error);
    }
  }

  private static String environment(String name) {
    String value = System.getenv(name);
    return value == null || value.isEmpty() ? null : value;
  }

  /** The first text of that name; enough for what the control API answers here. */
  private static String text(String json, String name) {
    Matcher found = Pattern.compile("\"" + name + "\":\\s*\"([^\"]*)\"").matcher(json);
    if (!found.find()) throw new IllegalStateException("no " + name + " in " + json);
    return found.group(1);
  }
}
