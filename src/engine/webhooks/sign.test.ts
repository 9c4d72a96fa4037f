import { describe, expect, it } from "vitest";
import { sign, toDeliveryHeaders } from "./sign.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

describe("a signature", () => {
  it("is sha256= and the lowercase hex HMAC-SHA256 of the raw bytes (RFC 4231, case 2) [6.3]", () => {
    expect(sign("Jefe", Buffer.from("what do ya want for nothing?"))).toBe(
      "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    );
  });

  it("covers bytes, not text: an invalid UTF-8 sequence and its replacement character differ [6.3]", () => {
    expect(sign(SECRET, Buffer.from([0xff]))).not.toBe(sign(SECRET, Buffer.from("\uFFFD")));
  });
});

describe("the headers of a delivery", () => {
  const given = { event: "user.created", deliveryId: "del_1", signature: sign(SECRET, Buffer.from("{}")) };

  it("are the five documented ones in their spelling [6.2]", () => {
    expect(Object.entries(toDeliveryHeaders({ ...given, serviceName: "Service" }))).toEqual([
      ["Content-Type", "application/json"],
      ["X-Service-Event", "user.created"],
      ["X-Service-Signature", given.signature],
      ["X-Service-Delivery", "del_1"],
      ["User-Agent", "Service-Webhook/1.0"],
    ]);
  });

  it("stay valid if the service's name cannot be sent in a header [6.2]", () => {
    const headers = toDeliveryHeaders({ ...given, serviceName: "Čert\r\nX-Evil: 1" });
    expect(headers["User-Agent"]).toBe("_ert__X-Evil: 1-Webhook/1.0");
  });
});
