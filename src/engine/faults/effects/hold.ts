import { Type } from "typebox";
import { parseDuration } from "../../contract/duration.ts";
import { Duration } from "../../contract/schema.ts";
import { checkDelay } from "./delay.ts";
import type { Effect, EffectDocument } from "./effect.ts";

const TIMEOUT_MS = 30_000;

const HoldSchema = Type.Unsafe<NonNullable<EffectDocument["hold"]>>({
  description:
    "The answer waits until it is released (interfaces 20), at most for `timeout`, 30s unless given",
  anyOf: [
    { const: true },
    { type: "object", properties: { timeout: Duration() }, additionalProperties: false },
  ],
});

/** The message waits until a call releases it; the timeout runs in real time, since a sandbox may be frozen. */
export const holdEffect: Effect = {
  keys: { hold: HoldSchema },
  check({ hold }, report) {
    if (typeof hold === "object") checkDelay(hold.timeout, ["hold", "timeout"], report);
  },
  read({ hold }) {
    if (hold === undefined) return {};
    const timeout = typeof hold === "object" ? hold.timeout : undefined;
    return { hold: { timeout_ms: timeout === undefined ? TIMEOUT_MS : parseDuration(timeout)! } };
  },
};
