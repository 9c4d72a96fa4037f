import { isJsonObject } from "../contract/schema.ts";
import type { DocumentPath, Position } from "./document-error.ts";
import type { UserDocument } from "./user-document.ts";

type Fields = Record<string, unknown>;

/** A record's own id comes before the ids of what it refers to, so the order matters. */
export const ID_KEYS: readonly string[] =
  "id file_id job_id link_id delivery_id invoice_id track_id transcript_id key".split(" ");

/** The field with the id of a record of the reference world's lists: the first of the usual ones that it has. */
export function findIdKey(record: Readonly<Fields>): string | undefined {
  return ID_KEYS.find((key) => Object.hasOwn(record, key) && /string|number/.test(typeof record[key]));
}

/** The fields with the ids of users' own records, by the name of their list in a fixture. */
export type IdFields = ReadonlyMap<string, string>;

const NO_ID_FIELDS: IdFields = new Map();

/** @param idField of an own record */
function findRecordId(record: Readonly<Fields>, idField: string | undefined): string | undefined {
  const key = idField ?? findIdKey(record);
  return key === undefined || record[key] === undefined ? undefined : String(record[key]);
}

/**
 * Merges a document over the one that it `extends` (interfaces.md 5); neither is changed, and the result shares parts of
 * both. Maps merge key by key, lists of records by id (base order kept, new records at the end; so an empty list changes nothing), null deletes a value
 * of the base, anything else replaces it. A map laid over a list of records addresses them by id: `departments: {
 * dept_ops: null }` deletes one. In a new record, null is an ordinary value, so that the record means the same in a
 * fixture without `extends`.
 */
export function mergeDocuments(base: unknown, overlay: unknown, idFields = NO_ID_FIELDS): unknown {
  return isJsonObject(base) && isJsonObject(overlay)
    ? mergeFields(base, overlay, idFields)
    : mergeValues(base, overlay);
}

function mergeValues(base: unknown, overlay: unknown, idField?: string): unknown {
  if (overlay === undefined) return base;
  if (isJsonObject(base) && isJsonObject(overlay)) return mergeFields(base, overlay);
  if (Array.isArray(base) && isRecords(base, idField)) {
    if (Array.isArray(overlay) && overlay.every(isJsonObject)) return mergeRecords(base, overlay, idField);
    if (addressesRecords(base, overlay)) return mergeById(base, overlay, idField);
  }
  return overlay;
}

function mergeFields(base: Fields, overlay: Fields, idFields = NO_ID_FIELDS): Fields {
  const merged: Fields = { ...base };
  for (const [key, value] of Object.entries(overlay)) {
    if (value === null) delete merged[key];
    else merged[key] = Object.hasOwn(base, key) ? mergeValues(base[key], value, idFields.get(key)) : value;
  }
  return merged;
}

function mergeRecords(base: readonly Fields[], overlay: readonly Fields[], idField?: string): Fields[] {
  const merged = [...base];
  const positions = new Map(base.map((record, position) => [findRecordId(record, idField), position]));
  for (const record of overlay) {
    const id = findRecordId(record, idField);
    const position = id === undefined ? undefined : positions.get(id);
    if (position !== undefined) merged[position] = mergeFields(merged[position]!, record);
    else positions.set(id, merged.push(record) - 1);
  }
  return merged;
}

function mergeById(base: readonly Fields[], overlay: Fields, idField?: string): Fields[] {
  const merged: Fields[] = [];
  const remaining = new Map(Object.entries(overlay) as [string, Fields | null][]);
  for (const record of base) {
    const id = findRecordId(record, idField) ?? "";
    const change = remaining.get(id);
    remaining.delete(id);
    if (change !== null) merged.push(change === undefined ? record : mergeFields(record, change));
  }
  // A new record under its id as key gets the id in the same field as the others.
  const idKey = idField ?? findIdKey(base[0]!) ?? "id";
  const toId = typeof base[0]![idKey] === "number" ? Number : String;
  for (const [id, record] of remaining) if (record !== null) merged.push({ [idKey]: toId(id), ...record });
  return merged;
}

/** A null for a key that the base does not have, or for a record in a map over a list that does not have it. */
export interface UnknownDeletion {
  /** In the overlay; it ends with the key, or the record's id. */
  path: (string | number)[];
  name: string;
  /** The ids of the list's records; undefined for a key. */
  knownIds?: string[];
}

export function* findUnknownDeletions(
  base: unknown,
  overlay: unknown,
  idFields: IdFields,
  path: (string | number)[] = [],
): Generator<UnknownDeletion> {
  if (isJsonObject(base) && isJsonObject(overlay)) {
    for (const [key, value] of Object.entries(overlay))
      if (value !== null) yield* findUnknownDeletions(base[key], value, idFields, [...path, key]);
      else if (!Object.hasOwn(base, key)) yield { path: [...path, key], name: key };
    return;
  }
  const idField = findIdField(path, idFields);
  if (!Array.isArray(base) || !isRecords(base, idField)) return;
  const getId = (record: Fields) => findRecordId(record, idField) ?? "";
  const records = new Map(base.map((record) => [getId(record), record]));
  if (Array.isArray(overlay)) {
    for (const [index, record] of overlay.entries())
      if (isJsonObject(record))
        yield* findUnknownDeletions(records.get(getId(record)), record, idFields, [...path, index]);
  } else if (addressesRecords(base, overlay)) {
    for (const [id, change] of Object.entries(overlay))
      if (change !== null) yield* findUnknownDeletions(records.get(id), change, idFields, [...path, id]);
      else if (!records.has(id)) yield { path: [...path, id], name: id, knownIds: [...records.keys()] };
  }
}

// Any other map, or a map over an empty list, replaces the list, and the schema then refuses it.
function addressesRecords(base: readonly Fields[], overlay: unknown): overlay is Fields {
  return (
    base.length > 0 &&
    isJsonObject(overlay) &&
    Object.values(overlay).every((value) => value === null || isJsonObject(value))
  );
}

/** The field with the ids of the list at a path, if it is one of own records. */
function findIdField(path: DocumentPath, idFields: IdFields): string | undefined {
  return path.length === 1 ? idFields.get(String(path[0])) : undefined;
}

function isRecords(list: readonly unknown[], idField: string | undefined): list is Fields[] {
  return (
    list.every(isJsonObject) &&
    (list.length === 0 || list.some((record) => findRecordId(record, idField) !== undefined))
  );
}

/** A fixture with everything it extends: one value, and for each part of it the file that it comes from. */
export interface LayeredDocument extends UserDocument {
  /** The fixture itself first, then what it extends. */
  readonly layers: readonly UserDocument[];
}

export function mergeLayers(
  layers: readonly [UserDocument, ...UserDocument[]],
  idFields = NO_ID_FIELDS,
): LayeredDocument {
  const [top] = layers;
  if (layers.length === 1) return { ...top, layers };
  const merged = layers
    .map((layer) => layer.value)
    .reduceRight((base, overlay) => mergeDocuments(base, overlay, idFields));
  // `extends` is removed: the document contains everything, and must not be merged over its base again.
  const { extends: _done, ...value } = merged as Fields;
  // Each position has the file of its layer, which a problem there names instead of the fixture's.
  const locateInLayer = (path: DocumentPath, find: "locate" | "locateKey"): Position & { file: string } => {
    const { layer, innerPath } = findOrigin(layers, value, { path, idFields });
    return { ...layer[find](innerPath), file: layer.file };
  };
  return {
    ...top,
    value,
    layers,
    locate: (path) => locateInLayer(path, "locate"),
    locateKey: (path) => locateInLayer(path, "locateKey"),
  };
}

interface Place {
  path: DocumentPath;
  idFields: IdFields;
}

/** The layer with the value at a path: the topmost of those that contain most of the path. */
function findOrigin(layers: readonly UserDocument[], merged: unknown, place: Place) {
  let best: { layer: UserDocument; innerPath: DocumentPath } = { layer: layers[0]!, innerPath: [] };
  for (const layer of layers) {
    const innerPath = findPathWithin(layer.value, merged, place);
    if (innerPath.length > best.innerPath.length) best = { layer, innerPath };
  }
  return best;
}

/** The part of a path that a layer contains, with the layer's own indexes and ids. */
function findPathWithin(layer: unknown, merged: unknown, { path, idFields }: Place): (string | number)[] {
  const innerPath: (string | number)[] = [];
  let layerValue = layer;
  let mergedValue = merged;
  for (const [depth, step] of path.entries()) {
    const getId = (record: Fields) => findRecordId(record, findIdField(path.slice(0, depth), idFields));
    const key = findStepWithin(layerValue, mergedValue, { step, getId });
    if (key === undefined) break;
    innerPath.push(key);
    layerValue = (layerValue as Record<string | number, unknown>)[key];
    mergedValue = (mergedValue as Record<string | number, unknown> | undefined)?.[step];
  }
  return innerPath;
}

function findStepWithin(
  layerValue: unknown,
  mergedValue: unknown,
  { step, getId }: { step: string | number; getId: (record: Fields) => string | undefined },
): string | number | undefined {
  if (typeof layerValue !== "object" || layerValue === null) return undefined;
  if (typeof step === "string") return Object.hasOwn(layerValue, step) ? step : undefined;
  const record = Array.isArray(mergedValue) ? mergedValue[step] : undefined;
  const id = isJsonObject(record) ? getId(record) : undefined;
  if (!Array.isArray(layerValue)) return id !== undefined && Object.hasOwn(layerValue, id) ? id : undefined;
  if (id === undefined) return step in layerValue ? step : undefined;
  const index = layerValue.findIndex((one) => isJsonObject(one) && getId(one) === id);
  return index === -1 ? undefined : index;
}
