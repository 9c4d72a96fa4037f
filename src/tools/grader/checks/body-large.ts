import type { Check } from "../check.ts";
import { expectAccepted } from "../expectations.ts";

/** All of the body, in bytes: beyond the 100 KB of common parsers, and just within limits that are called 1 MB. */
const SIZES = [256 * 1024, 990_000];

export const bodyLarge: Check = {
  id: "body-large",
  title: "Accepts a large body (up to 1 MB)",
  severity: "major",
  why: "Event data grows with the object; common body parsers stop at 100 KB, and such a delivery then fails on all six attempts.",
  advice:
    "Raise the body limit of this route (1 MB is a sensible bound) in the framework and in the proxies before it.",
  mends: ["too-large", "hung-up", "bad-request", "unauthorized", "exception"],
  run: (session) =>
    expectAccepted(
      session,
      SIZES.map((bytes) => {
        const event = "message.created";
        const empty = session.makeDelivery({ event, data: { content: "" } }).body.length;
        const delivery = session.makeDelivery({ event, data: { content: "x".repeat(bytes - empty) } });
        return { label: `${delivery.body.length} bytes`, delivery };
      }),
    ),
};
