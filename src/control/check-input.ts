import type { TObject, TSchema } from "typebox";
import { fieldName, pointerTo, valueAt } from "../engine/contract/invalid-field.ts";
import { Closed } from "../engine/contract/schema.ts";
import { toValidator } from "../engine/contract/validator.ts";
import { diagnose } from "../engine/documents/check-document.ts";
import { explain } from "../engine/documents/schema-message.ts";
import { readQuery, withDefaults } from "../engine/pipeline/read-query.ts";
import { type Problem, unprocessable } from "./problem.ts";

/**
 * Checks a value of a control call against its schema.
 * @throws Problem 422 that names the first field at fault and the nearest right word
 */
export function checkInput(schema: TSchema, value: unknown, prefix = ""): void {
  const validate = toValidator(schema);
  if (!validate(value)) throw inputProblem(value, diagnose(value, validate)[0]!, prefix);
}

const NO_QUERY = Closed({});

/**
 * Typed query values with their defaults.
 * @throws Problem 422 for a key that is not known, sent twice, or of the wrong kind
 */
export function checkedQuery(search: string, schema: TObject = NO_QUERY): Record<string, unknown> {
  const sent = readQuery(schema, search, { unknown: "keep", outOfRange: "reject" });
  for (const name in sent) {
    const value = sent[name];
    if (Array.isArray(value)) throw unprocessable(name, value[1], "was sent twice");
  }
  const values = withDefaults(schema, sent, "reject");
  checkInput(schema, values);
  return values;
}

function inputProblem(value: unknown, error: Parameters<typeof explain>[0], prefix: string): Problem {
  const { message, hint, key } = explain(error);
  const missing = error.keyword === "required" ? String(error.params["missingProperty"]) : undefined;
  const step = key ?? missing;
  const pointer = step === undefined ? error.instancePath : pointerTo(error.instancePath, step);
  const field = pointer === "" ? prefix || "body" : joined(prefix, fieldName(pointer));
  if (missing !== undefined) return unprocessable(field, null, "is required");
  const found = valueAt(value, pointer);
  return unprocessable(field, found, key === undefined ? message : "is not known here", hint);
}

function joined(prefix: string, field: string): string {
  return prefix === "" ? field : `${prefix}.${field}`;
}
