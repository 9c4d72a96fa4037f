import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { TSchema } from "typebox";
import { parseDateOrInstant } from "../contract/instant.ts";
import type { AnyOperation } from "../contract/operation.ts";
import { assumedPlace } from "../contract/provenance.ts";
import type { Verdict } from "./verdict.ts";

const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, verbose: true });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addFormat("date-or-instant", (text) => parseDateOrInstant(text) !== undefined);
const compiled = new WeakMap<object, ValidateFunction>();

/** Prefixes of section 2.1; those of other ids are ours. */
const SPECIFIED_PREFIXES =
  /^(org|dept|usr|uid|file|vs|mbsess|mbtrans|trans|mcoll|mtrack|dsh|slink|asst|log|thread|wh|del|apikey|conn|whsec|\(usr\|uid\))_/;
/** Bounds that the declarations add to a field's type. */
const OWN_BOUNDS = new Set(["minLength", "maxLength", "minItems", "maxItems", "uniqueItems"]);
const MOST_PROBLEMS = 5;

/** Judges a success's JSON by the declared schema, what is specified apart from what is assumed. */
export function judgeBody(
  verdict: Verdict,
  operation: AnyOperation,
  schema: TSchema,
  body: unknown,
): boolean {
  const validate = validatorOf(schema);
  const own = assumedPlace(operation, "");
  if (validate(body)) {
    noteUnknownFields(verdict, schema, body);
    return verdict.expect(true, "", own);
  }
  const errors = validate.errors!.filter(({ keyword }) => !["anyOf", "oneOf", "if"].includes(keyword));
  let ok = true;
  for (const error of (errors.length > 0 ? errors : validate.errors!).slice(0, MOST_PROBLEMS)) {
    const gap = assumptionOf(operation, error);
    ok = verdict.expect(false, problemOf(operation, error), gap) && ok;
  }
  return ok;
}

function assumptionOf(operation: AnyOperation, error: ErrorObject): string | undefined {
  const missing = error.keyword === "required";
  const place = missing ? `${error.instancePath}/${error.params["missingProperty"]}` : error.instancePath;
  const assumed = assumedPlace(operation, place, { missing });
  if (assumed !== undefined) return assumed;
  // Beyond types and prefixes, what the declarations ask of values is ours.
  const gap = operation.assumptions?.[0] ?? "G08";
  if (OWN_BOUNDS.has(error.keyword)) return gap;
  if (error.keyword !== "pattern") return undefined;
  const pattern = String(error.schema).replace(/^\^/, "");
  const [prefix] = SPECIFIED_PREFIXES.exec(pattern) ?? [];
  if (prefix === undefined) return gap;
  const prefixes = prefix.startsWith("(") ? ["usr_", "uid_"] : [prefix];
  return prefixes.some((one) => String(error.data).startsWith(one)) ? "G08" : undefined;
}

function problemOf(
  { id }: AnyOperation,
  { instancePath, keyword, message, params, data }: ErrorObject,
): string {
  const place = instancePath === "" ? "the body" : instancePath;
  if (keyword === "required") return `${id}: ${place} has no "${params["missingProperty"]}"`;
  const allowed = keyword === "enum" ? ` (${(params["allowedValues"] as unknown[]).join(", ")})` : "";
  return `${id}: ${place} ${message}${allowed}, but is ${excerpt(data)}`;
}

export function excerpt(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : (JSON.stringify(value) ?? "absent");
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

type Shape = { properties?: Record<string, Shape>; items?: Shape; anyOf?: Shape[] };

/** Fields that a service answers and we do not declare are no fault, and worth knowing. */
function noteUnknownFields(verdict: Verdict, schema: TSchema, body: unknown): void {
  const unknown = [...unknownFields(schema as Shape, body, "")];
  if (unknown.length > 0) verdict.note(`also answers ${unknown.slice(0, 12).join(", ")}`);
}

function unknownFields(shape: Shape, value: unknown, place: string, found = new Set<string>()): Set<string> {
  if (typeof value !== "object" || value === null) return found;
  if (Array.isArray(value)) {
    for (const item of shape.items ? value.slice(0, 20) : [])
      unknownFields(shape.items!, item, `${place}/*`, found);
    return found;
  }
  const properties = shape.properties ?? shape.anyOf?.find((one) => one.properties)?.properties;
  if (properties === undefined) return found;
  for (const [name, inner] of Object.entries(value)) {
    if (Object.hasOwn(properties, name)) unknownFields(properties[name]!, inner, `${place}/${name}`, found);
    else found.add(`${place}/${name}`);
  }
  return found;
}

function validatorOf(schema: TSchema): ValidateFunction {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    // `$id` would be an address that only one schema may have; the same body is declared by several operations.
    const plain = JSON.parse(JSON.stringify(schema, (key, value) => (key === "$id" ? undefined : value)));
    validate = ajv.compile(plain as object);
    compiled.set(schema, validate);
  }
  return validate;
}
