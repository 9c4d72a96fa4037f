import type { AnyOperation } from "../../engine/contract/operation.ts";
import { getPrefix } from "../../engine/contract/schema.ts";
import type { Binding, KnownObjects } from "./known-objects.ts";
import { madeUpId } from "./safety.ts";
import { USABLE } from "./usable.ts";

export function parameterNames({ params }: AnyOperation): string[] {
  return Object.keys(params?.properties ?? {});
}

/** Ids that nobody has for all path parameters but those given. */
export function madeUpParams({ params }: AnyOperation, given: Binding = {}): Binding {
  const schemas = (params?.properties ?? {}) as Record<string, object>;
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, given[name] ?? madeUpId(getPrefix(schema) ?? "")]),
  );
}

/** Why an operation cannot be asked, and what the user may do about it. */
export function whatIsMissing(known: KnownObjects, names: readonly string[]): string {
  const missing = names.filter((name) => known.candidates(name).length === 0);
  const wanted = missing.map((name) =>
    Object.hasOwn(USABLE, name) ? `--use ${name}=… (${USABLE[name]})` : name,
  );
  return `not known: ${wanted.join(", ")}`;
}
