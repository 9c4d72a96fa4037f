import type { Check } from "../check.ts";
import { type Delivery, freshId } from "../delivery.ts";
import { deliverInTurn, judgeEffects, onceEach } from "../expectations.ts";
import { occurrences } from "../probe.ts";
import type { Session } from "../session.ts";

export const DEDUPLICATE =
  "Record the delivery id in the same transaction as the side effect (a unique key does both), and answer 2xx to a repetition.";

export const duplicate: Check = {
  id: "duplicate",
  title: "The same delivery twice has one side effect",
  severity: "critical",
  why: "Every delivery can arrive more than once (an answer lost on the way is enough); the delivery id stays the same, so that you can tell.",
  advice: DEDUPLICATE,
  mends: ["conflict", "bad-request", "gone", "invalid", "exception"],
  async run(session) {
    const before = await session.readProbe();
    const delivery = session.makeDelivery();
    const refusal = await deliverInTurn(session, [delivery, delivery]);
    if (refusal) return refusal;
    const finding = await judgeEffects(session, { before, expected: onceEach([delivery]) });
    const note = finding.outcome === "passed" ? await replayNote(session, delivery) : null;
    return note ? { ...finding, note } : finding;
  },
};

/**
 * The header with the delivery id isn't signed: whoever captured a delivery can send it again under another
 * header. Told as a note, since the specification names header and field alike for deduplication.
 */
async function replayNote(session: Session, delivery: Delivery): Promise<string | null> {
  const before = await session.readProbe();
  const header = freshId("del");
  await session.deliver(delivery, { headerDeliveryId: header });
  const after = await session.readProbe();
  if (!before || !after) return null;
  const isAgain = (id: string) => occurrences(after, id) > occurrences(before, id);
  if (after.ids === null ? after.count === before.count : ![delivery.id, header].some(isAgain)) return null;
  return "Sent again with another X-Service-Delivery header, the same signed body was processed again. That header isn't covered by the signature: deduplicate by the body's delivery_id.";
}
