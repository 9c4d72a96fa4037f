import { References } from "../../documents/openapi/references.ts";
import type { AnyOperation } from "../../engine/contract/operation.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import type { DocumentComponents } from "./openapi-document.ts";

/** Finds the kind of a part in the place that a reference names. Any other part is a schema. */
const PART_KIND =
  /(?<!\/properties|\/schemas)\/(?:(responses|parameters|requestBodies|headers|examples|links)\/[^/]+|(requestBody))$/;

/**
 * Copies parameters, body and answers of an own operation from its OpenAPI document, and the components and other parts
 * that they refer to, under names such as `Own1.Tag` with the document's number.
 */
export function copyDescribedParts(
  { described }: AnyOperation,
  { userComponents }: DocumentComponents,
): JsonObject | undefined {
  if (described === undefined) return undefined;
  const document = described.document as JsonObject;
  const references = new References(document);
  if (!userComponents.documents.includes(document)) userComponents.documents.push(document);
  const number = userComponents.documents.indexOf(document) + 1;
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy);
    if (!isJsonObject(value)) return value;
    const ref = value["$ref"];
    if (typeof ref === "string") return { $ref: copyComponent(ref) };
    // References name components here, and an anchor may exist once only.
    const entries = Object.entries(toLatest(value)).filter(
      ([key, inner]) => !/^\$(dynamicA|a)nchor$/.test(key) || typeof inner !== "string",
    );
    return Object.fromEntries(entries.map(([key, inner]) => [key, copy(inner)]));
  };
  const copyComponent = (ref: string): string => {
    const [, named, body] = PART_KIND.exec(ref) ?? [];
    const kind = named ?? (body === undefined ? "schemas" : "requestBodies");
    // A part outside of the components gets the name of its place.
    const [, name = ref.replace(/^#\//, "")] = /^#\/components\/\w+\/([^/]+)$/.exec(ref) ?? [];
    const key = `Own${number}.${name.replace(/[^\w.-]/g, "_")}`;
    const group = (userComponents.components[kind] ?? {}) as JsonObject;
    userComponents.components[kind] = group;
    if (!Object.hasOwn(group, key)) {
      // Reserved first, since a component may refer to itself.
      group[key] = {};
      group[key] = copy(references.find(ref)?.node ?? {});
    }
    return `#/components/${kind}/${key}`;
  };
  const { parameters, requestBody, responses } = described.operation as JsonObject;
  return {
    ...(parameters !== undefined && { parameters: copy(parameters) }),
    ...(requestBody !== undefined && { requestBody: copy(requestBody) }),
    responses: copy(responses ?? {}),
  };
}

/** `nullable` of OpenAPI 3.0 as type null. */
function toLatest(value: JsonObject): JsonObject {
  const { nullable, type } = value;
  if (nullable !== true || typeof type !== "string") return value;
  const { nullable: _, ...rest } = value;
  return { ...rest, type: [type, "null"] };
}
