import type { Check } from "../check.ts";
import type { DeliveryShape, Transport } from "../delivery.ts";
import { expectRefused } from "../expectations.ts";
import { forgeries } from "../forged-check.ts";

/** Beyond what common body parsers read by default. */
const LARGE_BYTES = 128 * 1024;

const FORMS: readonly { label: string; transport?: Transport; shape?: DeliveryShape }[] = [
  { label: "as text/plain", transport: { contentType: "text/plain" } },
  { label: "as a form", transport: { contentType: "application/x-www-form-urlencoded" } },
  { label: "without a content type", transport: { contentType: null } },
  { label: "in chunks", transport: { chunkAt: [10, 100] } },
  {
    label: "with a large body",
    shape: { event: "message.created", data: { content: "x".repeat(LARGE_BYTES) } },
  },
  { label: "on a connection that carried a genuine delivery", transport: { reuse: true } },
  { label: "with an old timestamp", shape: { at: Date.parse("2001-01-01T00:00:00Z") } },
];

export const signatureEveryForm: Check = {
  id: "signature-every-form",
  title: "Verifies the signature in whatever form the request comes",
  severity: "critical",
  why: "A forger chooses content type, framing and size; where one of them leads around the verification, that is the one he takes.",
  advice: "Read the raw body first, whatever its type, framing and size, verify it, and only then parse.",
  async run(session) {
    // Leaves a connection behind, where the receiver keeps any.
    await session.deliver(session.makeDelivery());
    return expectRefused(
      session,
      FORMS.flatMap((form) => forgeries(session, form)),
      { anyRefusal: true },
    );
  },
};
