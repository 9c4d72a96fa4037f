import { answerEffect } from "./answer.ts";
import { delayEffect } from "./delay.ts";
import { dripWire } from "./drip.ts";
import type { Effect, WireEffect } from "./effect.ts";
import { emptyWire } from "./empty.ts";
import { errorEffect } from "./error.ts";
import { garbageWire } from "./garbage.ts";
import { hangWire } from "./hang.ts";
import { resetWire } from "./reset.ts";
import { truncateWire } from "./truncate.ts";

/** Everything that can stand under `effect:`, a line each. */
export const EFFECTS: readonly Effect[] = [errorEffect, answerEffect, delayEffect];

/** The values of `wire:`, a line each. */
export const WIRE_EFFECTS: readonly WireEffect[] = [
  resetWire,
  hangWire,
  emptyWire,
  truncateWire,
  garbageWire,
  dripWire,
];
