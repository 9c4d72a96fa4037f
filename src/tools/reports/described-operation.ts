import { isEmptyList } from "../../documents/openapi/check-schema.ts";
import { References } from "../../documents/openapi/references.ts";
import { allowNull, convertExclusiveBounds, replaceNullType } from "../../documents/openapi/schemas.ts";
import type { AnyOperation } from "../../engine/contract/operation.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { mapValues } from "../../engine/maps.ts";
import type { DocumentComponents } from "./openapi-document.ts";

/** Finds the kind of a part in the place that a reference names. Any other part is a schema. */
const PART_KIND =
  /(?<!\/properties|\/schemas)\/(?:(?<kind>responses|parameters|requestBodies|headers|examples|links)\/[^/]+|(?<body>requestBody))$/;

/** Data is copied as it is; the keys of names are not keywords; the values of a mapping name schemas. */
type Content = "keywords" | "names" | "data" | "mapping";

function getContent(key: string, outer: Content): Content {
  if (outer === "data") return "data";
  if (outer === "names") return "keywords";
  if (/^(const|default|enum|examples?|value)$/.test(key)) return "data";
  if (key === "mapping") return "mapping";
  return /^(properties|patternProperties|\$defs|responses|headers)$/.test(key) ? "names" : "keywords";
}

/** Adds a mapping for the schemas that a discriminator names by themselves, since the copy gives them other names. */
function completeMapping(schema: JsonObject): JsonObject {
  const { discriminator, oneOf, anyOf } = schema;
  if (!isJsonObject(discriminator)) return schema;
  const mapping = mapValues((discriminator["mapping"] ?? {}) as Record<string, string>, (target) =>
    /[#/]/.test(target) ? target : `#/components/schemas/${target}`,
  );
  const mapped = new Set(Object.values(mapping));
  const branches = [oneOf ?? anyOf ?? []].flat().filter(isJsonObject);
  const refs = branches.flatMap(({ $ref }) => (typeof $ref === "string" && !mapped.has($ref) ? [$ref] : []));
  const others = refs.map((ref) => [ref.slice(ref.lastIndexOf("/") + 1), ref]);
  const completed = { ...Object.fromEntries(others), ...mapping };
  return { ...schema, discriminator: { ...discriminator, mapping: completed } };
}

/**
 * Copies parameters, body and answers of an own operation from its OpenAPI document, and the components and other parts
 * that they refer to, under names such as `Own1.Tag` with the document's number.
 */
export function copyDescribedParts(
  { openapi }: AnyOperation,
  { userComponents }: DocumentComponents,
): JsonObject | undefined {
  if (openapi === undefined) return undefined;
  const document = openapi.document as JsonObject;
  const references = new References(document);
  if (!userComponents.documents.includes(document)) userComponents.documents.push(document);
  // In OpenAPI 3.0 a reference hides what is beside it, except `nullable`, which is often meant.
  const hidesSiblings = String(document["openapi"]).startsWith("3.0");
  const number = userComponents.documents.indexOf(document) + 1;
  const copy = (part: unknown, content: Content = "keywords"): unknown => {
    if (Array.isArray(part)) return part.map((one) => copy(one, content));
    if (!isJsonObject(part)) return part;
    const value = content === "keywords" ? completeMapping(part) : part;
    const { $ref } = value;
    // The server's document is OpenAPI 3.1, which has no components of this kind.
    if (/^#\/components\/mediaTypes\/[^/]+$/.test(String($ref)))
      return copy(references.find(String($ref))?.node);
    const copied: JsonObject = {};
    for (const [key, inner] of Object.entries(hidesSiblings && typeof $ref === "string" ? { $ref } : value)) {
      // No reference of the copy names an anchor, and one that exists twice is invalid.
      const isLeftOut = isEmptyList(inner) ? /^(all|any|one)Of$/ : /^(nullable|\$(dynamicA|a)nchor)$/;
      if (content === "keywords" && isLeftOut.test(key)) continue;
      copied[key] =
        typeof inner === "string" && (key === "$ref" || content === "mapping")
          ? copyComponent(inner)
          : copy(inner, getContent(key, content));
    }
    if (content !== "keywords") return copied;
    convertExclusiveBounds(copied);
    replaceNullType(copied);
    return value["nullable"] === true ? allowNull(copied) : copied;
  };
  const copyComponent = (ref: string): string => {
    const { body, kind = body === undefined ? "schemas" : "requestBodies" } =
      PART_KIND.exec(ref)?.groups ?? {};
    // A part outside of the components gets the name of its place.
    const [, name = ref.replace(/^#\//, "")] = /^#\/components\/\w+\/([^/]+)$/.exec(ref) ?? [];
    const group = (userComponents.components[kind] ?? {}) as JsonObject;
    userComponents.components[kind] = group;
    const place = `${number} ${kind} ${ref}`;
    let key = userComponents.names.get(place);
    if (key === undefined) {
      key = `Own${number}.${name.replace(/[^\w.-]/g, "_")}`;
      // Names that differ in odd characters only.
      while (Object.hasOwn(group, key)) key += "_";
      userComponents.names.set(place, key);
      // Reserved first, since a component may refer to itself.
      group[key] = {};
      group[key] = copy(references.find(ref)?.node ?? {});
    }
    return `#/components/${kind}/${key}`;
  };
  const { parameters, requestBody, responses } = openapi.operation as JsonObject;
  return {
    ...(parameters !== undefined && { parameters: copy(parameters) }),
    ...(requestBody !== undefined && { requestBody: copy(requestBody) }),
    responses: copy(responses ?? {}, "names"),
  };
}
