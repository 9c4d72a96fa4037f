import { describe, expect, it } from "vitest";
import { sign } from "../../engine/webhooks/sign.ts";
import { checkReceivedDelivery } from "./receiver.ts";
import { Verdict } from "./verdict.ts";

function check(timestamp: string): string[] {
  const verdict = new Verdict();
  const webhook = { webhook_id: "wh_1", secret: "whsec_1" };
  const payload = { event: "user.created", data: {}, timestamp, webhook_id: "wh_1", delivery_id: "del_1" };
  const bytes = Buffer.from(JSON.stringify(payload));
  const headers = {
    "content-type": "application/json",
    "user-agent": "Service-Webhook/1.0",
    "x-service-event": "user.created",
    "x-service-delivery": "del_1",
    "x-service-signature": sign(webhook.secret, bytes),
  };
  checkReceivedDelivery(verdict, { headers, body: bytes }, webhook);
  return verdict.failures;
}

describe("verify of a delivery", () => {
  it("accepts only a timestamp in UTC as ISO 8601 writes it [6.2]", () => {
    expect(check("2026-03-15T12:00:00.000Z")).toEqual([]);
    expect(check("2026-03-15T12:00:00+00:00")).toEqual([]);
    for (const other of ["2026-03-15 12:00:00Z", "2026-02-30T12:00:00Z", "2026-03-15T12:00:00+02:00"])
      expect(check(other)).toEqual([`a delivery to wh_1 has "${other}" as timestamp`]);
  });
});
