import type { Check } from "../check.ts";
import { SENT_EVENTS } from "../event-data.ts";
import { expectRefused } from "../expectations.ts";
import { forgeries } from "../forged-check.ts";

export const signatureEveryEvent: Check = {
  id: "signature-every-event",
  title: "Verifies the signature of every event",
  severity: "critical",
  why: "One event that is believed unsigned, be it only the test, is a way in for everyone.",
  advice: "Verify before the event's name is looked at; no event is exempt, the test neither.",
  run: (session) =>
    expectRefused(
      session,
      SENT_EVENTS.flatMap((event) => forgeries(session, { label: event, shape: { event } })),
      { anyRefusal: true },
    ),
};
