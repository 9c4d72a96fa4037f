import Type, { type Static } from "typebox";
import { parseInstant } from "../contract/instant.ts";
import type { ClockSetting } from "../sandbox/sandbox.ts";
import type { World } from "../state/world.ts";
import { unprocessable } from "./problem.ts";

const FASTEST = 1_000_000;

/** `{mode, now?, rate?}` of interfaces 4. */
export const ClockInput = Type.Object(
  {
    mode: Type.Unsafe<"real" | "frozen" | "scaled">({ type: "string", enum: ["real", "frozen", "scaled"] }),
    now: Type.Optional(Type.String({ title: "an ISO 8601 timestamp" })),
    rate: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: FASTEST })),
  },
  { additionalProperties: false },
);
export type ClockInput = Static<typeof ClockInput>;

/** @throws Problem 422 for an unreadable instant, or a key that does not go with the mode */
export function clockSetting({ mode, now, rate }: ClockInput, prefix = ""): ClockSetting {
  const at = (field: string) => (prefix === "" ? field : `${prefix}.${field}`);
  if (rate !== undefined && mode !== "scaled") {
    throw unprocessable(at("rate"), rate, `goes with mode scaled only, not with ${mode}`);
  }
  if (now !== undefined && mode === "real") {
    throw unprocessable(
      at("now"),
      now,
      "cannot be given with mode real, which is the wall clock; scaled with rate 1 runs as fast from any instant",
    );
  }
  return { mode, now: now === undefined ? undefined : instantInput(at("now"), now), rate };
}

/** Milliseconds since 1970. @throws Problem 422 */
export function instantInput(field: string, text: string): number {
  const instant = parseInstant(text);
  if (instant === undefined) {
    throw unprocessable(field, text, "must be an ISO 8601 timestamp such as 2026-03-15T12:00:00Z");
  }
  return instant;
}

export function presentClock(world: World) {
  const { mode, rate } = world.clock;
  return { mode, now: new Date(world.epochNow()).toISOString(), rate };
}
