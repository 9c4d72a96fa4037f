import type { Call } from "../../engine/contract/operation.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";

/** The values that placeholders stand for. */
interface PlaceholderValues {
  params: JsonObject;
  query: JsonObject;
  body: unknown;
  caller: JsonObject;
  readonly now: string;
  /** The id of a new record. */
  id?: string;
  readonly base_url: string;
}

export function toPlaceholderValues(call: Call, id?: string): PlaceholderValues {
  return {
    params: call.params as JsonObject,
    query: call.query as JsonObject,
    body: call.body,
    caller: (call.principal ?? {}) as unknown as JsonObject,
    // Read only if a placeholder needs it.
    get now() {
      return call.world.toIso(call.world.now);
    },
    ...(id !== undefined && { id }),
    get base_url() {
      return call.request.base_url;
    },
  };
}

const PLACEHOLDER = /\{([\w.-]+)\}/g;
/** Placeholders that are neither parameters (`id` is one of them) nor fields of the caller. */
const PLACEHOLDER_WORDS = ["query", "body", "now", "base_url"];
const CALLER_FIELDS = ["user_id", "organization_id", "key_id"];

/** Replaces placeholders at any depth; a text that is one placeholder becomes its value, of whatever type. */
export function fillPlaceholders(template: unknown, values: PlaceholderValues): unknown {
  if (Array.isArray(template)) return template.map((one) => fillPlaceholders(one, values));
  if (isJsonObject(template))
    return Object.fromEntries(
      Object.entries(template).map(([key, one]) => [key, fillPlaceholders(one, values)]),
    );
  if (typeof template !== "string" || !template.includes("{")) return template;
  const only = /^\{([\w.-]+)\}$/.exec(template)?.[1];
  if (only !== undefined) return findValue(only, values);
  return template.replace(PLACEHOLDER, (_, name: string) => String(findValue(name, values) ?? ""));
}

function findValue(name: string, values: PlaceholderValues): unknown {
  if (Object.hasOwn(values.params, name)) return values.params[name];
  let value: unknown = values;
  for (const step of name.split(".")) {
    if (!isJsonObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

/** The parameters that placeholders may name. */
interface AvailableParameters {
  params: readonly string[];
  queries: readonly string[];
}

/** The names, at any depth of a template, that no placeholder has. */
export function* listUnknownPlaceholders(
  template: unknown,
  available: AvailableParameters,
): Generator<string> {
  if (Array.isArray(template)) for (const one of template) yield* listUnknownPlaceholders(one, available);
  else if (isJsonObject(template))
    for (const one of Object.values(template)) yield* listUnknownPlaceholders(one, available);
  else if (typeof template === "string")
    for (const [, name] of template.matchAll(PLACEHOLDER)) {
      const [first, second] = name!.split(".");
      const parts = first === "caller" ? CALLER_FIELDS : first === "query" ? available.queries : undefined;
      const isKnown = parts && second ? parts.includes(second) : PLACEHOLDER_WORDS.includes(first!);
      if (!available.params.includes(name!) && !isKnown) yield name!;
    }
}

export function listPlaceholders({ params, queries }: AvailableParameters): string[] {
  const parts = { caller: CALLER_FIELDS, query: queries };
  const dotted = Object.entries(parts).flatMap(([word, names]) => names.map((name) => `${word}.${name}`));
  return [...params, ...dotted, ...PLACEHOLDER_WORDS];
}
