import type { Check } from "../check.ts";
import { expectAccepted } from "../expectations.ts";

export const unknownEvent: Check = {
  id: "unknown-event",
  title: "Accepts an event it doesn't know",
  severity: "major",
  why: "New events are added over time; refusing one makes the service retry it for hours, and 410 would switch the webhook off.",
  advice: "Answer 2xx and ignore events that you have no use for.",
  mends: ["bad-request", "not-found", "gone", "conflict", "invalid", "method", "exception"],
  run: (session) =>
    expectAccepted(session, [
      { label: "webhook.test", delivery: session.makeDelivery({ event: "webhook.test" }) },
      {
        label: "planet.discovered",
        delivery: session.makeDelivery({
          event: "planet.discovered",
          data: { planet_id: "planet_1", name: "an event of a later version" },
        }),
      },
    ]),
};
