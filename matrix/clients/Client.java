import java.net.URI;
import java.net.http.*;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

public class Client {
  static final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(3)).build();
  static final String base = System.getenv("UNDERSTUDY_BASE_URL");

  static String send(String method, String path, String body) throws Exception {
    for (int retry = 0; ; retry++) {
      boolean last = retry == 4 || !method.equals("GET");
      long wait = (long) (200 * Math.pow(2, retry) * ThreadLocalRandom.current().nextDouble(0.5, 1.5));
      HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofSeconds(3))
          .header("api-key", "ak_adaOwnerAcme000000000000000000000000000").header("content-type", "application/json");
      try {
        HttpResponse<String> answer = http.send(
            request.method(method, body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body)).build(),
            HttpResponse.BodyHandlers.ofString());
        int status = answer.statusCode();
        if (status < 300 && answer.body().startsWith("{")) return answer.body();
        if (last || status < 300 || (status != 429 && status < 500)) throw new IllegalStateException("HTTP " + status);
        wait = Math.max(wait, 1000 * Long.parseLong(answer.headers().firstValue("retry-after").orElse("0")));
      } catch (java.io.IOException error) {
        if (last) throw error;
      }
      Thread.sleep(wait);
    }
  }

  public static void main(String[] args) throws Exception {
    send("GET", "/v1/models", null);
    send("POST", "/webhooks", "{\"url\":\"http://127.0.0.1:9/hook\",\"events\":[\"user.created\"]}");
    send("GET", "/v1/models", null);
  }
}
