import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

final class Verify {
  static boolean isGenuine(byte[] body, String signature, String secret) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    StringBuilder expected = new StringBuilder("sha256=");
    for (byte one : mac.doFinal(body)) expected.append(String.format("%02x", one));
    byte[] given = signature == null ? new byte[0] : signature.getBytes(StandardCharsets.UTF_8);
    return MessageDigest.isEqual(expected.toString().getBytes(StandardCharsets.UTF_8), given);
  }
}
