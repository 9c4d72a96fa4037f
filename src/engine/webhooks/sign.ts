import { toHex } from "../bytes.ts";
import { hmac } from "../platform.ts";

/** The header with the signature, spelled as it is sent (section 6.2). */
export const SIGNATURE_HEADER = "X-Service-Signature";

/** The signature header's value over exactly these bytes (section 6.3): `sha256=` and lowercase hex HMAC-SHA256. */
export function sign(secret: string, bytes: Uint8Array): string {
  return `sha256=${toHex(hmac("sha256", secret, bytes))}`;
}

/**
 * The headers of section 6.2 in their documented spelling; the sender adds only what HTTP itself needs. Characters of the setting
 * `service_name` outside printable ASCII become `_`, since headers cannot contain them.
 */
export function toDeliveryHeaders({
  event,
  deliveryId,
  signature,
  serviceName,
}: Record<"event" | "deliveryId" | "signature" | "serviceName", string>): Record<string, string> {
  return {
    "Content-Type": "application/json",
    "X-Service-Event": event,
    [SIGNATURE_HEADER]: signature,
    "X-Service-Delivery": deliveryId,
    "User-Agent": `${serviceName.replace(/[^\x20-\x7e]/gu, "_")}-Webhook/1.0`,
  };
}
