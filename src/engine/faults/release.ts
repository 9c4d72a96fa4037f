import type { AnyOperation } from "../contract/operation.ts";
import type { EffectDocument, EffectPlan } from "./effects/effect.ts";
import { readInlineRule } from "./inline-rule.ts";

/** The input of a release (interfaces 20); empty: the request continues. */
export interface ReleaseDocument extends Pick<EffectDocument, "error" | "details" | "wire" | "over"> {
  answer?: Pick<EffectDocument, "status" | "headers" | "body">;
}

/**
 * Reads a release as the effect of a rule that hits only the held request or delivery. Undefined if the release is
 * empty.
 * @param operation that of the held request; undefined for a delivery
 * @throws DocumentError
 */
export function readRelease(
  { answer, ...rest }: ReleaseDocument,
  operation: AnyOperation | undefined,
): EffectPlan | undefined {
  const effect = { ...answer, ...rest };
  if (Object.keys(effect).length === 0) return undefined;
  const match = operation === undefined ? { webhook: "*" } : {};
  const api = { operations: operation === undefined ? [] : [operation], events: [] };
  return readInlineRule({ match, effect }, api, () => "release").effect;
}
