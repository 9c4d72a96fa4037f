import type { Check } from "../check.ts";
import { type Delivery, freshId } from "../delivery.ts";
import { drawEventData } from "../event-data.ts";
import { deliverInTurn, judgeEffects, onceEach } from "../expectations.ts";
import type { Session } from "../session.ts";

const ADVICE =
  "Deduplicate by the whole delivery id and by nothing else: not by event and object, not by time or content.";

export const distinctDeliveries: Check = {
  id: "distinct-deliveries",
  title: "Deliveries that differ in their id alone are each processed",
  severity: "critical",
  why: "The same thing can happen twice to the same object, within the same millisecond; only the delivery id tells two events from one that was sent again.",
  advice: ADVICE,
  mends: ["conflict", "bad-request", "invalid", "exception"],
  async run(session) {
    const before = await session.readProbe();
    const deliveries = lookalikes(session);
    const refusal = await deliverInTurn(session, deliveries);
    if (refusal) return refusal;
    return judgeEffects(session, { before, expected: onceEach(deliveries), whenMissing: ADVICE });
  },
};

/** Of the same event about the same object: a second later, then at the same instant, under ids that begin alike. */
function lookalikes(session: Session): Delivery[] {
  const { event, organizationId, webhookId, data: known } = session.options;
  const at = Date.now() - 2000;
  const data = drawEventData(event, {
    at,
    known: { organization_id: organizationId, webhook_id: webhookId, ...known },
  });
  const stem = freshId("del").slice(0, -1);
  return [
    session.makeDelivery({ data, at }),
    session.makeDelivery({ data, at: at + 1000 }),
    session.makeDelivery({ data, at, id: `${stem}1` }),
    session.makeDelivery({ data, at, id: `${stem}2` }),
  ];
}
