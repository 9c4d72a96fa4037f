import { type Check, isAccepted } from "../check.ts";
import { deliverWhenFree, judgeEffects, judgeNotAccepted, onceEach } from "../expectations.ts";

export const timeoutAfterCommit: Check = {
  id: "timeout-after-commit",
  title: "A delivery whose answer was not awaited, then retried, has one side effect",
  severity: "critical",
  why: "When the deadline passes while the receiver works, the service hangs up and retries, although the work is done after all.",
  advice:
    "Record the delivery id together with the side effect and not on sending the answer; a client that hung up must change nothing.",
  mends: ["bad-request", "gone", "invalid", "exception"],
  async run(session) {
    const before = await session.readProbe();
    const delivery = session.makeDelivery();
    await session.deliver(delivery, { leave: "after-body" });
    // Lets the receiver finish what nobody waits for any more, where a probe shows when that is.
    await session.readProbe();
    await session.deliver(delivery, { leave: "at-answer" });
    await session.readProbe();
    const exchange = await deliverWhenFree(session, delivery);
    if (!isAccepted(exchange)) return judgeNotAccepted(session, exchange, "the retry");
    return judgeEffects(session, { before, expected: onceEach([delivery]) });
  },
};
