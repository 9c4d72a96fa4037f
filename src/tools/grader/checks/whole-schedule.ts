import { type Check, isAccepted } from "../check.ts";
import type { Transport } from "../delivery.ts";
import { deliverWhenFree, judgeEffects, judgeNotAccepted, onceEach } from "../expectations.ts";

/** When the last retry is due, counted from the first attempt (6.4, G24). */
const WHOLE_SCHEDULE_MS = (7 * 60 + 21) * 60_000;

/** What goes wrong on the five attempts before the last one. */
const FAILURES: { label: string; transport: Transport | undefined }[] = [
  { label: "the connection breaks within the body", transport: { leave: "mid-body" } },
  { label: "the deadline passes after the body", transport: { leave: "after-body" } },
  { label: "the connection breaks within the answer", transport: { leave: "at-answer" } },
  { label: "the answer is lost behind a gateway", transport: undefined },
  { label: "the connection breaks within the body again", transport: { leave: "mid-body" } },
];

const ADVICE =
  "Don't refuse old timestamps within 24 hours, don't remember deliveries that didn't complete, and survive connections that break.";

export const wholeSchedule: Check = {
  id: "whole-schedule",
  title: "Recovers after failures over the whole schedule",
  severity: "critical",
  why: "The sixth and last attempt comes 7 h 21 min after the event; a receiver that counts it as stale, or as seen since an attempt that failed, loses the event for good.",
  advice: ADVICE,
  mends: ["bad-request", "unauthorized", "conflict", "gone", "invalid", "exception", "hung-up"],
  async run(session) {
    const before = await session.readProbe();
    // Time is not waited for: the payload is as old as it would be at the last attempt.
    const delivery = session.makeDelivery({ at: Date.now() - WHOLE_SCHEDULE_MS });
    const others = FAILURES.map(() => session.makeDelivery());
    for (const [index, { label, transport }] of FAILURES.entries()) {
      await session.deliver(delivery, transport);
      const other = await session.deliver(others[index]!);
      if (isAccepted(other)) continue;
      return judgeNotAccepted(session, other, `attempt ${index + 1}: ${label}; then another delivery`);
    }
    const exchange = await deliverWhenFree(session, delivery);
    if (!isAccepted(exchange)) return judgeNotAccepted(session, exchange, "attempt 6");
    return judgeEffects(session, {
      before,
      expected: onceEach([delivery, ...others]),
      whenMissing: ADVICE,
    });
  },
};
