import { type Check, failed, notObservable, passed, statusOf } from "../check.ts";

export const goneStopsDelivery: Check = {
  id: "gone-stops-delivery",
  title: "Never answers 410 by accident",
  severity: "critical",
  why: "410 tells the service to stop: it disables the webhook and cancels its pending retries, so nothing more arrives until someone switches it on again.",
  advice:
    "Answer 410 only when the endpoint is retired for good; refuse with 400 or 401, and answer 2xx to what you ignore.",
  mends: ["gone"],
  sendsNothing: true,
  run(session) {
    const answered = session.exchanges.filter(({ result }) => result.kind === "answer");
    const disabling = answered.find((exchange) => exchange.genuine && statusOf(exchange) === 410);
    if (disabling) {
      return failed(
        "answered 410 to a genuine delivery: the webhook would now be disabled; nothing more was sent",
        disabling,
      );
    }
    const refusal = answered.find((exchange) => exchange.delivery && statusOf(exchange) === 410);
    if (refusal) {
      return failed(
        "answered 410 to a forged delivery: after a change of secrets, genuine ones would get it too",
        refusal,
      );
    }
    if (answered.length === 0) return notObservable("nothing was answered");
    return passed(`none of ${answered.length} answers was 410`, answered[0]);
  },
};
