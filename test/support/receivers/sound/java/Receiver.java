// Uses the JDK's HTTP server. Reads the delivery id with a regular expression, since the JDK has no JSON parser.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
  private static final Pattern ID = Pattern.compile("\"delivery_id\"\\s*:\\s*\"(del_\\w+)\"");
  private static final byte[] SECRET = System.getenv("WEBHOOK_SECRET").getBytes(StandardCharsets.UTF_8);
  private static final Set<String> known = new HashSet<>();
  private static final List<String> processed = new ArrayList<>();

  public static void main(String[] args) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 128);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.createContext("/webhook", exchange -> answer(exchange, receive(exchange), "{}"));
    server.createContext("/processed", exchange -> {
      synchronized (known) {
        answer(exchange, 200, processed.isEmpty() ? "[]" : "[\"" + String.join("\",\"", processed) + "\"]");
      }
    });
    server.start();
    System.out.println("listening on http://127.0.0.1:" + server.getAddress().getPort() + "/webhook");
  }

  private static int receive(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    if (!exchange.getRequestMethod().equals("POST")) return 405;
    String header = exchange.getRequestHeaders().getFirst("X-Service-Signature");
    byte[] given = (header == null ? "" : header).getBytes(StandardCharsets.ISO_8859_1);
    if (!MessageDigest.isEqual(sign(body).getBytes(StandardCharsets.ISO_8859_1), given)) return 401;
    String text = new String(body, StandardCharsets.UTF_8);
    Matcher id = ID.matcher(text);
    if (!text.strip().endsWith("}") || !id.find()) return 400;
    synchronized (known) {
      if (known.add(id.group(1))) processed.add(id.group(1));
    }
    return 200;
  }

  private static String sign(byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
      return "sha256=" + HexFormat.of().formatHex(mac.doFinal(body));
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }
}
