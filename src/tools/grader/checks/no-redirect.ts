import { type Check, failed, notObservable, passed, statusOf } from "../check.ts";
import { describe } from "../describe-exchange.ts";
import { adviceOnRefused } from "../trouble.ts";

export const noRedirect: Check = {
  id: "no-redirect",
  title: "Answers without a redirect",
  severity: "major",
  why: "The service doesn't follow redirects: a 3xx is a failed delivery, wherever it points.",
  advice:
    "Register the final URL (scheme, host and trailing slash as the server wants them), or let this route answer itself.",
  sendsNothing: true,
  run(session) {
    const answered = session.exchanges.filter((exchange) => exchange.genuine && statusOf(exchange) > 0);
    const redirect = answered.find((exchange) => Math.floor(statusOf(exchange) / 100) === 3);
    if (redirect) {
      const finding = failed(`a valid delivery: the receiver ${describe(redirect)}`, redirect);
      return { ...finding, advice: adviceOnRefused(redirect) };
    }
    const last = answered.at(-1);
    if (!last) return notObservable("no valid delivery was answered at all");
    return passed(`none of ${answered.length} valid deliveries was answered with a redirect`, last);
  },
};
