import {
  type Check,
  describe,
  failed,
  isAccepted,
  judgeEffects,
  notObservable,
  passed,
  statusOf,
} from "../check.ts";
import type { Session } from "../session.ts";

const validAccepted: Check = {
  id: "valid-accepted",
  title: "Accepts a valid delivery within the deadline",
  severity: "critical",
  why: "An answer other than 2xx, or none in time, counts as a failure and the same delivery is sent again, up to six times.",
  advice:
    "Check that URL and signing secret are those of the webhook and that the HMAC-SHA256 is taken over the raw body bytes; answer 2xx first and do slow work afterwards.",
  async run(session: Session) {
    const delivery = session.makeDelivery();
    const first = await session.deliver(delivery);
    if (isAccepted(first)) return passed(`the receiver ${describe(first)}`, first);
    const detail = `the receiver ${describe(first)}, where 2xx is expected within ${session.options.timeoutMs / 1000} s`;
    if (statusOf(first) < 500) return failed(detail, first);
    // A receiver that recovers on the retry can still be graded on all the rest.
    const retry = await session.deliver(delivery);
    return failed(`${detail}; sent again, it ${describe(retry)}`, first);
  },
};

const noRedirect: Check = {
  id: "no-redirect",
  title: "Answers without a redirect",
  severity: "major",
  why: "The service doesn't follow redirects: a 3xx is a failed delivery, wherever it points.",
  advice:
    "Register the final URL (scheme, host and trailing slash as the server wants them), or let this route answer itself instead of redirecting.",
  sendsNothing: true,
  run(session) {
    const answered = session.exchanges.filter((exchange) => exchange.genuine && statusOf(exchange) > 0);
    const redirect = answered.find((exchange) => Math.floor(statusOf(exchange) / 100) === 3);
    if (redirect) return failed(`a valid delivery: the receiver ${describe(redirect)}`, redirect);
    const last = answered.at(-1);
    if (!last) return notObservable("no valid delivery was answered at all");
    return passed(`none of ${answered.length} valid deliveries was answered with a redirect`, last);
  },
};

const validProcessed: Check = {
  id: "valid-processed",
  title: "Processes an accepted delivery exactly once",
  severity: "critical",
  why: "After a 2xx the service never sends a delivery again, so one that was acknowledged but not processed is lost.",
  advice: "Answer 2xx only once the work is done, or safely queued, and make the probe show it.",
  async run(session) {
    const before = await session.readProbe();
    const delivery = session.makeDelivery();
    const exchange = await session.deliver(delivery);
    if (!isAccepted(exchange))
      return failed(`the receiver ${describe(exchange)}, where 2xx is expected`, exchange);
    return judgeEffects(session, { before, expected: new Map([[delivery.id, 1]]), exchange });
  },
};

export const acceptance: Check[] = [validAccepted, validProcessed];
/** Judged at the end, over all valid deliveries. */
export const redirects: Check[] = [noRedirect];
