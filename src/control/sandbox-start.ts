import { Type } from "typebox";
import { ClosedObject } from "../engine/contract/schema.ts";
import type { Settings } from "../engine/contract/settings.ts";
import type { ClockSetting } from "../engine/sandbox/sandbox-value.ts";
import { checkInput, checkSettings } from "./check-input.ts";
import { ClockInput, toClockSetting } from "./clock-input.ts";

export const Seed = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "Seeds ids, texts and all other random values",
});

const Start = ClosedObject({ seed: Type.Optional(Seed), clock: Type.Optional(ClockInput) });

interface SandboxStart {
  seed: number | undefined;
  clock: ClockSetting | undefined;
  settings: Partial<Settings>;
}

/** Options of the library, checked as the control API checks them. @throws Problem 422 */
export function readSandboxStart({
  seed,
  clock,
  settings,
}: Partial<Record<keyof SandboxStart, unknown>>): SandboxStart {
  checkInput(Start, { seed, clock });
  return {
    seed: seed as number | undefined,
    clock: clock === undefined ? undefined : toClockSetting(clock as ClockInput, "clock"),
    settings: checkSettings(settings ?? {}),
  };
}
