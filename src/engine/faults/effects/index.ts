import { type TSchema, Type } from "typebox";
import { parseDuration } from "../../contract/duration.ts";
import { answerEffect } from "./answer.ts";
import { delayEffect } from "./delay.ts";
import { DRIP_MS, dripWire } from "./drip.ts";
import type { Effect, EffectDocument, EffectPlan, ReportEffect, RuleTarget, WireEffect } from "./effect.ts";
import { emptyWire } from "./empty.ts";
import { errorEffect } from "./error.ts";
import { garbageWire } from "./garbage.ts";
import { hangWire } from "./hang.ts";
import { holdEffect } from "./hold.ts";
import { resetWire } from "./reset.ts";
import { truncateWire } from "./truncate.ts";

/** The kinds of `effect:` that do not break the connection; add yours here. */
const EFFECTS: readonly Effect[] = [errorEffect, answerEffect, delayEffect, holdEffect];

/** The effects that `wire:` names; add yours here. */
export const WIRE_EFFECTS = [
  resetWire,
  hangWire,
  emptyWire,
  truncateWire,
  garbageWire,
  dripWire,
] as const satisfies readonly WireEffect[];
export type WireName = (typeof WIRE_EFFECTS)[number]["name"];

const ALL_EFFECTS: readonly (Effect | WireEffect)[] = [...EFFECTS, ...WIRE_EFFECTS];

/** The schemas of all keys below `effect:`. */
export const EFFECT_KEYS: Readonly<Record<string, TSchema>> = Object.assign(
  {},
  ...ALL_EFFECTS.map(({ keys }) => keys),
  { wire: Type.Unsafe<WireName>({ type: "string", enum: WIRE_EFFECTS.map(({ name }) => name) }) },
);

/** Reports problems of an effect that fits its schema; no schema can express them. */
export function checkEffect(document: EffectDocument, report: ReportEffect, target: RuleTarget): void {
  for (const { check } of ALL_EFFECTS) check?.(document, report, target);
}

/** Reads an effect that `checkEffect` has accepted. */
export function readEffect(document: EffectDocument): EffectPlan {
  const { wire, over = DRIP_MS } = document;
  const plan: EffectPlan = Object.assign({}, ...EFFECTS.map(({ read }) => read(document)));
  const effect = WIRE_EFFECTS.find(({ name }) => name === wire);
  return effect === undefined ? plan : { ...plan, wire: { effect, over_ms: parseDuration(over)! } };
}
