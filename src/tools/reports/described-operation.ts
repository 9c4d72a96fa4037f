import type { AnyOperation } from "../../engine/contract/operation.ts";
import { type DocumentComponents, isObject, type Json } from "./openapi-document.ts";

const KINDS = ["schemas", "responses", "parameters", "requestBodies", "headers", "examples", "links"];

/**
 * The part of a document that an own operation has in common with its OpenAPI document: parameters, body and answers as
 * they are there. The components that they refer to get the document's number in front of their names.
 */
export function takeDescribedParts(
  { described }: AnyOperation,
  { foreign }: DocumentComponents,
): Json | undefined {
  if (described === undefined) return undefined;
  const document = described.document as Json;
  const number = foreign.documents.indexOf(document) + 1 || foreign.documents.push(document);
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy);
    if (!isObject(value)) return value;
    const ref = value["$ref"];
    if (typeof ref === "string") return { $ref: place(ref) };
    return Object.fromEntries(Object.entries(toLatest(value)).map(([key, inner]) => [key, copy(inner)]));
  };
  const place = (ref: string): string => {
    const [, kind, name] = /^#\/components\/(\w+)\/([^/]+)$/.exec(ref) ?? [];
    // A reference to any other place is rare: its target accepts everything here.
    if (kind === undefined || !KINDS.includes(kind)) return `#/components/schemas/${ANYTHING}`;
    const key = `Own${number}.${name!.replace(/[^\w.-]/g, "_")}`;
    const group = (foreign.components[kind] ?? {}) as Json;
    foreign.components[kind] = group;
    if (!Object.hasOwn(group, key)) {
      group[key] = {};
      group[key] = copy(((document["components"] as Json)[kind] as Json)[decodeURIComponent(name!)] ?? {});
    }
    return `#/components/${kind}/${key}`;
  };
  const { parameters, requestBody, responses } = described.operation as Json;
  return {
    ...(parameters !== undefined && { parameters: copy(parameters) }),
    ...(requestBody !== undefined && { requestBody: copy(requestBody) }),
    responses: copy(responses ?? {}),
  };
}

/** The component for references that cannot be copied. */
export const ANYTHING = "Anything";

/** `nullable` of OpenAPI 3.0 as type null. */
function toLatest(value: Json): Json {
  const { nullable, type } = value;
  if (nullable !== true || typeof type !== "string") return value;
  const { nullable: _, ...rest } = value;
  return { ...rest, type: [type, "null"] };
}
