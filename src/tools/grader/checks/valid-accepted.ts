import { type Check, failed, isAccepted, isSlowedDown, notObservable, passed, statusOf } from "../check.ts";
import { describe } from "../describe-exchange.ts";
import { diagnoseRefusal } from "../diagnose-refusal.ts";
import type { Session } from "../session.ts";
import { adviceOnRefused, STORE_THEN_ANSWER } from "../trouble.ts";

export const validAccepted: Check = {
  id: "valid-accepted",
  title: "Accepts a valid delivery within the deadline",
  severity: "critical",
  why: "An answer other than 2xx, or none in time, counts as a failure and the same delivery is sent again, up to six times.",
  advice: STORE_THEN_ANSWER,
  async run(session: Session) {
    const delivery = session.makeDelivery();
    const first = await session.deliver(delivery);
    if (isAccepted(first)) return passed(`the receiver ${describe(first)}`, first);
    if (isSlowedDown(first))
      return notObservable(`the receiver ${describe(first)} until patience ended`, first);
    const detail = `the receiver ${describe(first)}, where 2xx is expected within ${session.options.timeoutMs / 1000} s`;
    const advice = adviceOnRefused(first);
    if (statusOf(first) >= 500) {
      // A receiver that recovers on the retry can still be graded on all the rest.
      const retry = await session.deliver(delivery);
      return { ...failed(`${detail}; sent again, it ${describe(retry)}`, first), advice };
    }
    const diagnosis = await diagnoseRefusal(session);
    if (diagnosis === null) return { ...failed(detail, first), advice };
    const found = `${detail}. It accepts one that is signed otherwise: ${diagnosis.cause}`;
    return { ...failed(found, first), advice: diagnosis.mend };
  },
};
