import type { Check } from "../check.ts";
import { expectAccepted } from "../expectations.ts";

export const headerNameCase: Check = {
  id: "header-name-case",
  title: "Accepts header names in any letter case",
  severity: "major",
  why: "Header names have no case: proxies and HTTP/2 turn them into lower case on the way.",
  advice:
    "Look headers up through the framework's case-insensitive accessor, not by comparing the names as sent.",
  mends: ["bad-request", "unauthorized", "invalid", "exception"],
  run: (session) =>
    expectAccepted(session, [
      {
        label: "lower-case names",
        delivery: session.makeDelivery(),
        transport: { headerNames: (name) => name.toLowerCase() },
      },
      {
        label: "upper-case names",
        delivery: session.makeDelivery(),
        transport: { headerNames: (name) => name.toUpperCase() },
      },
    ]),
};
