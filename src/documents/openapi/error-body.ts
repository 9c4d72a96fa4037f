import type { ErrorContext, RenderedError } from "../../engine/contract/envelopes.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { inventField } from "./generate-value.ts";
import { type DescribedOperation, findJsonType, mayBeJson } from "./list-operations.ts";
import type { Schemas } from "./schemas.ts";

/** An error in the form that the document describes for its status; undefined if the document describes none. */
export function renderByDocument(
  error: RenderedError,
  context: ErrorContext,
  { operation, schemas }: { operation: DescribedOperation; schemas: Schemas },
): { body: unknown; content_type: string } | undefined {
  const media = findResponse(operation, error.status)?.media.find(({ type }) => mayBeJson(type));
  if (media?.schema === undefined) return undefined;
  const type = findJsonType(media.type);
  const isProblem = type === "application/problem+json";
  const body = fillError(media.schema.node, { error, context, schemas, isProblem });
  return { body, content_type: type };
}

export function findResponse({ responses }: DescribedOperation, status: number) {
  return responses.get(String(status)) ?? responses.get(`${String(status)[0]}XX`) ?? responses.get("default");
}

interface FillContext {
  error: RenderedError;
  context: ErrorContext;
  schemas: Schemas;
  /** Whether the answer is a problem document (RFC 9457). */
  isProblem: boolean;
}

/** Values by the names that fields have in the errors of common APIs; the first value that the schema accepts is taken. */
const FIELDS: readonly [RegExp, (filling: FillContext) => readonly unknown[]][] = [
  [
    /^(code|error_?code|error_?type|reason|name|kind)$/i,
    ({ error }) => [error.code, error.code.toLowerCase(), error.status],
  ],
  [
    /^(message|error_?message|detail|description|error_?description|msg|error|title|summary)$/i,
    ({ error }) => [error.message],
  ],
  [/^(status|status_?code|http_?status)$/i, ({ error }) => [error.status, String(error.status)]],
  [/^type$/i, ({ error, isProblem }) => [isProblem ? "about:blank" : error.type, error.type, "about:blank"]],
  [/^(trace_?id|request_?id|correlation_?id|instance)$/i, ({ context }) => [context.trace_id]],
  [/^(timestamp|time|at|date)$/i, ({ context }) => [context.timestamp]],
  [
    /^(param|parameter|field|path|location|pointer|property|target|loc)$/i,
    ({ error }) => [getFieldAtFault(error), [getFieldAtFault(error)]],
  ],
  [/^(details|data|meta|context)$/i, ({ error }) => [error.details, [], [error.message]]],
  [/^(success|ok)$/i, () => [false]],
];

/** The name of the field at fault, else of the first detail. */
function getFieldAtFault({ details }: RenderedError): unknown {
  return details["field"] ?? Object.keys(details)[0];
}

function fillError(node: unknown, filling: FillContext, depth = 0): unknown {
  const { schemas, context } = filling;
  const properties = schemas.listProperties(node);
  if (properties.size === 0) return inventField(node, { schemas, now: context.timestamp, seed: 0 });
  const required = schemas.listRequired(node);
  const body: JsonObject = {};
  for (const [name, schema] of properties) {
    const value = fillField(name, schema, filling, depth);
    if (value !== undefined) body[name] = value;
    else if (required.has(name))
      body[name] = inventField(schema, { schemas, now: context.timestamp, seed: 0 });
  }
  return body;
}

function fillField(name: string, schema: unknown, filling: FillContext, depth: number): unknown {
  const { schemas } = filling;
  const validate = schemas.compileValidator(schema, "answer");
  const fits = (value: unknown) => value !== undefined && validate(value);
  const choices = FIELDS.find(([pattern]) => pattern.test(name))?.[1](filling) ?? [];
  const accepted = choices.find(fits);
  if (accepted !== undefined || depth > 3) return accepted;
  const types = schemas.listTypes(schema);
  if (types.has("object") || schemas.listProperties(schema).size > 0) {
    const inner = fillError(schema, filling, depth + 1);
    return isJsonObject(inner) && Object.keys(inner).length > 0 && fits(inner) ? inner : undefined;
  }
  if (types.has("array")) {
    const { items } = schemas.mergeKeywords(schema);
    const inner =
      schemas.listProperties(items).size > 0 ? fillError(items, filling, depth + 1) : filling.error.message;
    return fits([inner]) ? [inner] : undefined;
  }
  return undefined;
}
