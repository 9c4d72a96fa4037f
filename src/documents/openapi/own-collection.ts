import type { TObject, TSchema } from "typebox";
import { belongsTo } from "../../engine/contract/references.ts";
import {
  getPrefix,
  Id,
  Instant,
  internal,
  isJsonObject,
  type JsonObject,
  NullableInstant,
} from "../../engine/contract/schema.ts";
import { type AnyCollection, collection, type IndexSpec } from "../../engine/state/collection.ts";
import { hasUselessEnum } from "./check-schema.ts";
import { isNumeric } from "./generate-value.ts";
import { FORMATS, type Schemas } from "./schemas.ts";

/** Names of times that the server sets. They are stored as instants, so that a fixture's records fit any start of a sandbox. */
export const CREATED_NAMES = /^(created|created_?at|creation_?(date|time)|inserted_?at|date_?created)$/i;
export const UPDATED_NAMES =
  /^(updated|updated_?at|modified|modified_?at|last_?(updated|modified)(_?at)?|date_?updated)$/i;

/** The field with the bytes of a file, in base64. */
export const CONTENT_FIELD = "content_base64";

export interface CollectionSpec {
  name: string;
  prefix?: string | undefined;
  idField: string;
  /** The schema of the path parameter with the id, which may say more than the record's: ids of requests must fit both. */
  idParameter?: unknown;
  schema: unknown;
  /** By field: the collection of the record that it names. */
  belongs_to: Record<string, string>;
  /** The field that marks a softly deleted record. */
  soft?: string | undefined;
  /** Whether the collection's records have files. */
  hasFiles?: boolean;
  /** Path parameters that the described record has no field for. They are stored; state calls show them, answers do not. */
  outerIdFields?: ReadonlySet<string>;
}

/** The index of all records that are not softly deleted. */
export const ALL_RECORDS = "all";

/** A collection that a document declares. Its schema has no references, so that any reader understands it. */
export function toCollection(spec: CollectionSpec, schemas: Schemas): AnyCollection {
  const { name, idField, belongs_to, soft, hasFiles, outerIdFields = [] } = spec;
  const properties: Record<string, TSchema> = {};
  for (const [field, schema] of schemas.listPossibleFields(spec.schema))
    properties[field] = toField(field, schema, schemas) as TSchema;
  properties[idField] = toIdSchema(spec, schemas) as TSchema;
  for (const field of outerIdFields) properties[field] = { type: "string", "x-number": true } as TSchema;
  for (const [field, owner] of Object.entries(belongs_to))
    properties[field] = { ...(properties[field] ?? { type: "string" }), ...belongsTo(owner) } as TSchema;
  if (soft !== undefined) properties[soft] = NullableInstant();
  if (hasFiles) properties[CONTENT_FIELD] = internal({ type: "string" } as unknown as TSchema);
  const serverFields = new Set([soft, hasFiles ? CONTENT_FIELD : undefined]);
  // Some documents require what they do not describe.
  const required = [...schemas.listRequired(spec.schema)].filter(
    (field) =>
      Object.hasOwn(properties, field) &&
      !serverFields.has(field) &&
      !schemas.has(schemas.listProperties(spec.schema).get(field), "writeOnly"),
  );
  const createdField = Object.keys(properties).find(
    (field) => CREATED_NAMES.test(field) && isStoredInstant(properties[field]!),
  );
  const isLive = (record: object) => soft === undefined || (record as JsonObject)[soft] == null;
  const isNumbered = usesNumericIds(spec, schemas);
  // Newest first. Records of one instant: the largest numeric id first.
  const order = (record: object) => {
    const at =
      createdField === undefined ? 0 : (((record as JsonObject)[createdField] as number | null) ?? 0);
    return isNumbered ? [at, Number((record as JsonObject)[idField])].map(toDescending).join() : -at;
  };
  const indexes: Record<string, IndexSpec<object>> = {
    [ALL_RECORDS]: { groups: (record) => (isLive(record) ? [""] : []), order },
  };
  for (const field of Object.keys(belongs_to)) {
    // An index that names its field is used for filters by the field, so it must have all records.
    const groupsAllRecords = soft === undefined && !schemas.listTypes(properties[field]).has("array");
    indexes[`by_${field}`] = {
      ...(groupsAllRecords && { field }),
      groups: (record) =>
        isLive(record) && (record as JsonObject)[field] != null
          ? [String((record as JsonObject)[field])]
          : [],
      order,
    };
  }
  return collection<object>({
    name,
    prefix: findPrefix(spec, schemas),
    idField: idField as never,
    schema: {
      type: "object",
      properties,
      required: [...new Set([idField, ...required])],
    } as unknown as TObject,
    indexes,
  } as never) as AnyCollection;
}

/** A text that sorts before that of any smaller number. */
const toDescending = (number: number) => String(Number.MAX_SAFE_INTEGER - number).padStart(17, "0");

export function isStoredInstant(field: object): boolean {
  return (field as JsonObject)["x-instant"] === true;
}

function toField(name: string, node: unknown, schemas: Schemas): unknown {
  const { format } = schemas.mergeKeywords(node);
  const isSetByServer = CREATED_NAMES.test(name) || UPDATED_NAMES.test(name) || schemas.has(node, "readOnly");
  if (format === "date-time" && isSetByServer && !isNumeric(node, schemas))
    return schemas.listTypes(node).has("null") ? NullableInstant() : Instant();
  const inlined = inlineSchema(node, schemas, 0);
  return schemas.has(node, "writeOnly") ? internal(inlined as TSchema) : inlined;
}

/** Ids are stored as texts, also where the API shows numbers. */
function toIdSchema({ idField, schema, prefix }: CollectionSpec, schemas: Schemas): unknown {
  const node = schemas.listPossibleFields(schema).get(idField);
  if (isNumeric(node, schemas)) return { type: "string", pattern: "^-?\\d+$", "x-number": true };
  return prefix === undefined
    ? { ...schemas.mergeKeywords(inlineSchema(node ?? {}, schemas, 0)), type: "string" }
    : Id(prefix);
}

/** Whether new records get the next number as their id: it is a number, or their path takes only numbers. */
export function usesNumericIds({ idField, idParameter, schema }: CollectionSpec, schemas: Schemas): boolean {
  return [schemas.listPossibleFields(schema).get(idField), idParameter].some((one) =>
    isNumeric(one, schemas),
  );
}

function findPrefix({ prefix, idField, schema }: CollectionSpec, schemas: Schemas): string {
  if (prefix !== undefined) return prefix;
  const id = schemas.mergeKeywords(schemas.listPossibleFields(schema).get(idField));
  const example = [id["example"], ...(Array.isArray(id["examples"]) ? id["examples"] : [])].find(
    (one) => typeof one === "string",
  );
  return getPrefix(id) ?? /^([a-z]+_)\w/.exec(String(example ?? ""))?.[1] ?? "";
}

/** Deeper parts are rare, and any value fits there. */
const MAX_DEPTH = 2;
const KEYWORDS = [
  "type",
  "enum",
  "const",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "format",
  "required",
  "description",
  "additionalProperties",
];

/** Replaces references by their schemas; deep parts, and those with `anyOf`, `oneOf` or `not`, take any value. */
function inlineSchema(node: unknown, schemas: Schemas, depth: number): unknown {
  if (!isJsonObject(node)) return node === false ? false : {};
  if (depth > MAX_DEPTH) return {};
  const properties = schemas.listProperties(node);
  const keywords = schemas.mergeKeywords(node);
  if (["anyOf", "oneOf", "not"].some((key) => keywords[key] !== undefined)) return {};
  const inlined: JsonObject = {};
  for (const key of KEYWORDS)
    if (keywords[key] !== undefined && !isJsonObject(keywords[key])) inlined[key] = keywords[key];
  if (!FORMATS.has(inlined["format"])) delete inlined["format"];
  if (hasUselessEnum(keywords)) delete inlined["enum"];
  const types = schemas.listTypes(node);
  if (types.size > 0) inlined["type"] = types.size === 1 ? [...types][0] : [...types];
  if (types.has("null") && Array.isArray(inlined["enum"]))
    inlined["enum"] = [...new Set([...inlined["enum"], null])];
  if (keywords["items"] !== undefined) inlined["items"] = inlineSchema(keywords["items"], schemas, depth + 1);
  if (properties.size > 0)
    inlined["properties"] = Object.fromEntries(
      [...properties].map(([name, one]) => [name, inlineSchema(one, schemas, depth + 1)]),
    );
  return inlined;
}
