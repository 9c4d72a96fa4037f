import { type Static, Type } from "typebox";
import { parseInstant } from "../engine/contract/instant.ts";
import { ClosedObject, StringEnum, Timestamp } from "../engine/contract/schema.ts";
import type { ClockSetting } from "../engine/sandbox/sandbox-value.ts";
import type { World } from "../engine/state/world.ts";
import { OptionalText } from "./operation.ts";
import { unprocessable } from "./problem.ts";

export const MAX_RATE = 1_000_000;

const Mode = () =>
  StringEnum(["real", "frozen", "scaled"], {
    description: "`real` is the wall clock, `frozen` does not move, `scaled` runs at a rate",
  });

/** `{mode, now?, rate?}` of interfaces.md 4. */
export const ClockInput = ClosedObject(
  {
    mode: Mode(),
    now: OptionalText("The new time; by default the current one. Not with the mode `real`", {
      title: "an ISO 8601 timestamp",
    }),
    rate: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: MAX_RATE,
        description: "Sandbox seconds per second; only with the mode `scaled`",
      }),
    ),
  },
  { $id: "ClockInput", examples: [{ mode: "frozen", now: "2026-03-15T12:00:00Z" }] },
);
export type ClockInput = Static<typeof ClockInput>;

/** @throws Problem 422 for an unreadable instant, or a key that the mode does not allow */
export function toClockSetting({ mode, now, rate }: ClockInput, prefix = ""): ClockSetting {
  const toField = (field: string) => (prefix === "" ? field : `${prefix}.${field}`);
  if (rate !== undefined && mode !== "scaled")
    throw unprocessable(toField("rate"), rate, `can be given only with mode scaled, not with ${mode}`);
  if (now !== undefined && mode === "real")
    throw unprocessable(
      toField("now"),
      now,
      "cannot be given with mode real, which is the wall clock; scaled with rate 1 runs at the same speed from any instant",
    );
  return { mode, now: now === undefined ? undefined : parseInstantInput(toField("now"), now), rate };
}

/** Milliseconds since 1970. @throws Problem 422 */
export function parseInstantInput(field: string, text: string): number {
  const instant = parseInstant(text);
  if (instant === undefined)
    throw unprocessable(field, text, "must be an ISO 8601 timestamp such as 2026-03-15T12:00:00Z");
  return instant;
}

export const ClockBody = ClosedObject(
  {
    mode: Mode(),
    now: Timestamp({ description: "The sandbox's current time" }),
    rate: Type.Number({ minimum: 0, description: "1 if real, 0 if frozen" }),
  },
  { $id: "Clock", examples: [{ mode: "frozen", now: "2026-03-15T12:00:00.000Z", rate: 0 }] },
);

export function renderClock(world: World): Static<typeof ClockBody> {
  const { mode, rate } = world.clock;
  return { mode, now: new Date(world.epochNow()).toISOString(), rate };
}
