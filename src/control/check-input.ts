import type { TSchema } from "typebox";
import { diagnose } from "../documents/diagnose.ts";
import { explain } from "../documents/schema-message.ts";
import { fieldName, validatorOf } from "../http/validate.ts";
import { type Problem, unprocessable } from "./problem.ts";

/**
 * Checks a value of a control call against its schema.
 * @throws Problem 422 that names the first field at fault and the nearest right word
 */
export function checkInput(schema: TSchema, value: unknown, prefix = ""): void {
  const validate = validatorOf(schema);
  if (!validate(value)) throw inputProblem(value, diagnose(value, validate)[0]!, prefix);
}

function inputProblem(value: unknown, error: Parameters<typeof explain>[0], prefix: string): Problem {
  const { message, hint, key } = explain(error);
  const missing = error.keyword === "required" ? `/${error.params["missingProperty"]}` : "";
  const pointer = `${error.instancePath}${key === undefined ? missing : `/${key.replaceAll("/", "~1")}`}`;
  const found = valueAt(value, pointer);
  const field = pointer === "" ? prefix || "body" : joined(prefix, fieldName(pointer));
  if (missing !== "") return unprocessable(field, null, "is required");
  return unprocessable(field, found, key === undefined ? message : "is not known here", hint);
}

function joined(prefix: string, field: string): string {
  return prefix === "" ? field : `${prefix}.${field}`;
}

function valueAt(value: unknown, pointer: string): unknown {
  let current = value;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, name)) return null;
    current = (current as Record<string, unknown>)[name];
  }
  return current;
}
