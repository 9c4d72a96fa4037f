import { describe, expect, it } from "vitest";
import { deliveryHeaders, sign } from "./sign.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

describe("sign", () => {
  it("gives sha256= and the lowercase hex HMAC-SHA256 of the raw bytes (RFC 4231, case 2) [6.3]", () => {
    expect(sign("Jefe", Buffer.from("what do ya want for nothing?"))).toBe(
      "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    );
  });

  it("signs bytes, not text: an invalid UTF-8 sequence and its replacement character differ [6.3]", () => {
    expect(sign(SECRET, Buffer.from([0xff]))).not.toBe(sign(SECRET, Buffer.from("\uFFFD")));
  });
});

describe("deliveryHeaders", () => {
  const given = { event: "user.created", deliveryId: "del_1", signature: sign(SECRET, Buffer.from("{}")) };

  it("builds the five headers in their documented spelling [6.2]", () => {
    expect(Object.entries(deliveryHeaders({ ...given, serviceName: "Service" }))).toEqual([
      ["Content-Type", "application/json"],
      ["X-Service-Event", "user.created"],
      ["X-Service-Signature", given.signature],
      ["X-Service-Delivery", "del_1"],
      ["User-Agent", "Service-Webhook/1.0"],
    ]);
  });

  it("keeps a service name that cannot travel in a header from breaking the request [6.2]", () => {
    const headers = deliveryHeaders({ ...given, serviceName: "Čert\r\nX-Evil: 1" });
    expect(headers["User-Agent"]).toBe("_ert__X-Evil: 1-Webhook/1.0");
  });
});
