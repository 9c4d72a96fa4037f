import { invalidInput } from "../../engine/contract/errors.ts";
import { parseInstant } from "../../engine/contract/instant.ts";
import { parseNumber } from "../../engine/contract/invalid-field.ts";
import type { Call } from "../../engine/contract/operation.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { getOwn, isEqual, mapValues } from "../../engine/maps.ts";
import { readMediaType } from "../../engine/pipeline/read-body.ts";
import type { BoundParts } from "./bound-access.ts";
import { addFile, type SentFile } from "./bound-files.ts";
import { chooseMedia } from "./declare-body.ts";
import { applyPatch } from "./json-patch.ts";
import type { DescribedOperation } from "./list-operations.ts";
import { KEYS_OF_OBJECTS } from "./list-records.ts";
import { coerceForm, findForm } from "./read-form.ts";
import type { Schemas } from "./schemas.ts";

/** Reads the fields of a record from the bodies of one operation. */
export class BoundBody {
  /** The described fields, with their schemas. */
  readonly fields: ReadonlyMap<string, unknown>;
  private readonly parts: BoundParts;
  private readonly schemas: Schemas;
  private readonly schema: unknown;
  /** The property of the body that has the record; undefined if the body is the record. */
  private readonly property: string | undefined;
  /** Fields that are not stored. */
  private readonly ignoredFields: ReadonlySet<string>;
  /** Whether a record has the described fields alone. */
  private readonly isClosed: boolean;

  constructor(parts: BoundParts) {
    const { described, target, context } = parts;
    this.parts = parts;
    this.schemas = context.reading.schemas;
    const { node, property } = findRecordPart(described.body, target.fieldNames, this.schemas);
    this.schema = node;
    this.property = property;
    this.fields = this.schemas.listPossibleFields(this.schema);
    this.ignoredFields = this.findIgnoredFields();
    const keywords = this.schemas.mergeKeywords(target.spec?.schema);
    const { additionalProperties, unevaluatedProperties, patternProperties } = keywords;
    this.isClosed =
      patternProperties === undefined && [additionalProperties, unevaluatedProperties].includes(false);
  }

  /**
   * Those that are `readOnly` by the body's schema, else the record's; the id always by the record's. And those that have
   * other types in a record.
   */
  private findIgnoredFields(): ReadonlySet<string> {
    const { spec } = this.parts.target;
    const ownFields = this.schemas.listPossibleFields(spec?.schema);
    const fields = new Map([...ownFields, ...this.fields]);
    if (spec !== undefined && ownFields.has(spec.idField))
      fields.set(spec.idField, ownFields.get(spec.idField));
    const isReadOnly = ([, node]: [string, unknown]) => this.schemas.has(node, "readOnly");
    const names = [...fields].filter(isReadOnly).map(([name]) => name);
    const { isInferred } = this.parts.context;
    const unstorable = listUnstorableFields(this.schema, spec?.schema, { schemas: this.schemas, isInferred });
    return new Set([...names, ...unstorable]);
  }

  /** The place of a record's field in the body. */
  toPlace(field: string): string {
    return this.property === undefined ? field : `${this.property}.${field}`;
  }

  /** The fields of the body that the client may set, and its files. */
  read(call: Call, files: readonly SentFile[] | undefined): JsonObject {
    const isForm = readMediaType(call).startsWith("multipart/");
    const form = isForm ? findForm(this.parts.described.body) : undefined;
    const whole = form ? coerceForm(call.body, form.schema?.node, this.schemas) : call.body;
    const body = this.property === undefined ? whole : (whole as JsonObject | undefined)?.[this.property];
    const fields: JsonObject = {};
    const { target, context } = this.parts;
    const { isInferred } = context;
    const ownFields = this.schemas.listPossibleFields(target.spec?.schema);
    for (const [sentName, sent] of Object.entries(isJsonObject(body) ? body : {})) {
      const name = isInferred ? target.findField(sentName) : sentName;
      if (this.ignoredFields.has(name) || (this.isClosed && !ownFields.has(name))) continue;
      const node = ownFields.get(name);
      const types = this.schemas.listTypes(node);
      const isNothing = sent === null && types.size > 0 && !types.has("null");
      if (isNothing && isInferred && !isMergePatch(call)) continue;
      const typed = toTypes(this.toObject(sent, node), types);
      // Where the body describes a number of the record as any text, other texts are left out; else the record refuses them.
      const value = this.toTime(typed === undefined && !this.fields.has(sentName) ? sent : typed, node);
      if (value !== undefined) fields[name] = value;
    }
    for (const file of files ?? []) addFile(fields, target.fieldNames, file);
    return fields;
  }

  /** With an inferred binding, a value alone as the part of the object that a record has. */
  private toObject(value: unknown, node: unknown): unknown {
    if (!this.parts.context.isInferred) return value;
    const key = findKeyOfObject(getOwn(PLAIN_TYPES, typeof value), node, this.schemas);
    return key === undefined ? value : { [key]: value };
  }

  /**
   * With an inferred binding, a text in the form of a record's times, which a request may describe as any text; undefined
   * for any other text.
   */
  private toTime(value: unknown, node: unknown): unknown {
    const { schemas } = this;
    const isTime = [node, ...schemas.listAlternatives(node)].some(
      (one) => schemas.mergeKeywords(one)["format"] === "date-time",
    );
    if (!this.parts.context.isInferred || !isTime || typeof value !== "string") return value;
    if (schemas.compileValidator(node, "answer")(value)) return value;
    const instant = parseInstant(value);
    return instant === undefined ? undefined : new Date(instant).toISOString();
  }

  /** The changes that the fields of a body mean: those of a merge patch are merged with the record's. */
  toChanges(call: Call, record: object, fields: JsonObject): JsonObject {
    const { target, action } = this.parts;
    if (isJsonApi(call) && action === "update") return mergeParts(record as JsonObject, fields);
    if (!isMergePatch(call)) return fields;
    const merged = mergeFields(target.toPublic(record, call.world), fields);
    return mapValues(merged, (value, name) => (value === null ? target.getRemovedValue(name) : value));
  }

  /** The fields that a JSON patch changes; what the server sets stays. @throws ApiError INVALID_INPUT */
  readPatch({ body, world }: Call, record: object): JsonObject {
    const { target } = this.parts;
    const patch = body as JsonObject[];
    const before = target.toPublic(record, world);
    const after = applyPatch(before, patch);
    if (!isJsonObject(after)) throw invalidInput("body", after, "the patched record must be an object");
    const changedNames = Object.keys({ ...before, ...after }).filter(
      (name) => !target.isSetByServer(name) && !isEqual(before[name], after[name]),
    );
    // Fields that a new whole record lacks become undefined, as in PUT, and not null.
    const replacesRecord = target.spec !== undefined && patch.some(({ path }) => path === "");
    const toValue = (name: string) =>
      Object.hasOwn(after, name) ? after[name] : replacesRecord ? undefined : target.getRemovedValue(name);
    return Object.fromEntries(changedNames.map((name) => [name, toValue(name)]));
  }
}

/** One schema for each type, since each that is read is remembered. */
const PLAIN_TYPES: JsonObject = { string: { type: "string" }, number: { type: "number" } };

/** A number as a text, or a text as a number, where a record has only that; undefined for any other text. */
function toTypes(value: unknown, types: ReadonlySet<string>): unknown {
  const hasNumbers = types.has("number") || types.has("integer");
  if (typeof value === "number" && types.has("string") && !hasNumbers) return String(value);
  return typeof value === "string" && hasNumbers && !types.has("string") ? parseNumber(value) : value;
}

const isMergePatch = (call: Call) => readMediaType(call) === "application/merge-patch+json";
const isJsonApi = (call: Call) => readMediaType(call) === "application/vnd.api+json";

/** In JSON:API, attributes and relationships that an update lacks stay. */
function mergeParts(before: JsonObject, fields: JsonObject): JsonObject {
  return mapValues(fields, (value, name) =>
    /^(attributes|relationships)$/.test(name) && isJsonObject(value)
      ? { ...(before[name] as JsonObject | undefined), ...value }
      : value,
  );
}

/** A merge patch (RFC 7396), applied to the fields that it names. */
function mergeFields(before: JsonObject, patch: JsonObject): JsonObject {
  return mapValues(patch, (value, name) => {
    if (!isJsonObject(value)) return value;
    const old = isJsonObject(before[name]) ? before[name] : {};
    const merged = { ...old, ...mergeFields(old, value) };
    return Object.fromEntries(Object.entries(merged).filter(([key]) => value[key] !== null));
  });
}

/** The part of a body that has the fields of a record: the whole, or the only property that has some of them. */
export function findRecordPart(
  body: DescribedOperation["body"],
  fieldNames: ReadonlySet<string>,
  schemas: Schemas,
): { node: unknown; property?: string } {
  const node = body && chooseMedia(body.media)?.schema?.node;
  const properties = [...schemas.listProperties(node)];
  if (properties.some(([name]) => fieldNames.has(name))) return { node };
  const hasFields = ([, inner]: [string, unknown]) =>
    [...schemas.listPossibleFields(inner).keys()].some((name) => fieldNames.has(name));
  const [wrapper, ...others] = properties.filter(hasFields);
  if (wrapper === undefined || others.length > 0) return { node };
  return { node: wrapper[1], property: wrapper[0] };
}

/** The property that a body sends in place of a record's object, such as its `id`; undefined if it sends no such value. */
export function findKeyOfObject(sent: unknown, field: unknown, schemas: Schemas): string | undefined {
  const [sentTypes, types] = [schemas.listTypes(sent), schemas.listTypes(field)];
  const isPlain = ["string", "number", "integer"].some((type) => sentTypes.has(type));
  if (!isPlain || !types.has("object") || schemas.doTypesOverlap(sent, field)) return undefined;
  const properties = schemas.listProperties(field);
  return KEYS_OF_OBJECTS.find(
    (key) => properties.has(key) && schemas.doTypesOverlap(sent, properties.get(key)),
  );
}

/**
 * The names of a body's fields that a record cannot store, as their types there are others. Numbers are stored as texts;
 * with an inferred binding, also a value alone as a part of an object.
 */
export function listUnstorableFields(
  body: unknown,
  record: unknown,
  { schemas, isInferred }: { schemas: Schemas; isInferred: boolean },
): string[] {
  const ownFields = schemas.listPossibleFields(record);
  const isTextOrNumber = (node: unknown) =>
    [...schemas.listTypes(node)].every((type) => ["string", "number", "integer", "null"].includes(type));
  const isUnstorable = ([name, node]: [string, unknown]) => {
    const field = ownFields.get(name);
    if (schemas.doTypesOverlap(node, field) || (isTextOrNumber(node) && isTextOrNumber(field))) return false;
    return !isInferred || findKeyOfObject(node, field, schemas) === undefined;
  };
  return [...schemas.listPossibleFields(body)].filter(isUnstorable).map(([name]) => name);
}
