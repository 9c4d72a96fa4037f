import type { ErrorObject } from "ajv";
import type { TSchema } from "typebox";
import type { AnyOperation } from "../../../engine/contract/operation.ts";
import { toValidator } from "../../../engine/contract/validator.ts";
import { diagnose } from "../../../engine/documents/diagnose.ts";
import { isMasked } from "../judge-body.ts";
import type { Asked } from "../target.ts";

interface Property {
  type?: string;
  minimum?: number;
  maximum?: number;
  enum?: readonly string[];
  pattern?: string;
}

/** Names of what a request sends and its declaration does not allow (G08). */
export function malformedFields({ params, query, body }: AnyOperation, asked: Asked): string[] {
  const sent = body?.kind === "json" && body.judged === undefined ? asked.body : undefined;
  return [
    ...broken(params, asked.params),
    ...broken(query, asked.query),
    ...(sent === undefined ? [] : brokenInside((body as { schema: TSchema }).schema, sent)),
  ];
}

function brokenInside(schema: TSchema, sent: unknown): string[] {
  const validate = toValidator(schema);
  if (validate(sent)) return [];
  return diagnose(sent, validate)
    .filter((error) => !isMasked(error.data) && !isFilledIn(error, schema))
    .map(({ instancePath, params }) =>
      fieldOf(instancePath, params["missingProperty"] as string | undefined),
    );
}

/** What may be left out, because the service has a default for it. */
function isFilledIn({ keyword, instancePath, params }: ErrorObject, schema: TSchema): boolean {
  const { properties = {} } = schema as { properties?: Record<string, { default?: unknown }> };
  const missing = params["missingProperty"] as string;
  return keyword === "required" && instancePath === "" && properties[missing]?.default !== undefined;
}

function broken(schema: unknown, values: Readonly<Record<string, string>>): string[] {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, Property> };
  return Object.entries(values)
    .filter(([name, value]) => !isMasked(value) && !fits(properties[name] ?? {}, value))
    .map(([name]) => name);
}

function fits({ type, minimum, maximum, enum: words, pattern }: Property, value: string): boolean {
  if (type === "integer") {
    const number = Number(value);
    return /^-?\d+$/.test(value) && !(number < minimum!) && !(number > maximum!);
  }
  if (words !== undefined) return words.includes(value);
  return pattern === undefined || new RegExp(pattern, "u").test(value);
}

/** As details name it: `inputs[0].role`. */
function fieldOf(pointer: string, missing: string | undefined): string {
  const steps = pointer.split("/").slice(1);
  const path = [...steps, ...(missing === undefined ? [] : [missing])];
  return path.reduce(
    (name, step) => (/^\d+$/.test(step) ? `${name}[${step}]` : name === "" ? step : `${name}.${step}`),
    "",
  );
}
