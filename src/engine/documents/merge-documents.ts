import { isJsonObject } from "../contract/schema.ts";
import { DocumentError, type DocumentPath, type DocumentProblem, type Position } from "./document-error.ts";
import type { UserDocument } from "./user-document.ts";

type Fields = Record<string, unknown>;

/** A record's own id comes before the ids of what it refers to, so the order matters. */
export const ID_KEYS = ["id", "file_id", "job_id", "link_id", "delivery_id", "invoice_id", "key"] as const;

/** The id of a record of the reference world's lists, by the first of the usual id fields that it has. */
export function recordId(record: Readonly<Fields>): string | undefined {
  for (const key of ID_KEYS) {
    const id = record[key];
    if (typeof id === "string" && Object.hasOwn(record, key)) return id;
  }
  return undefined;
}

/**
 * Merges a document over the one that it `extends` (interfaces 5); neither is changed, and the result shares parts of
 * both. Maps merge key by key, lists of records by id (base order kept, new records at the end), null deletes a value
 * of the base, anything else replaces it. A map laid over a list of records addresses them by id: `departments: {
 * dept_ops: null }` deletes one. In a new record, null is an ordinary value, so that the record means the same in a
 * fixture without `extends`.
 */
export function mergeDocuments(base: unknown, overlay: unknown): unknown {
  if (overlay === undefined) return base;
  if (isJsonObject(base) && isJsonObject(overlay)) return mergeFields(base, overlay);
  if (Array.isArray(base) && isRecords(base)) {
    if (Array.isArray(overlay) && overlay.every(isJsonObject)) return mergeRecords(base, overlay);
    if (addressesRecords(base, overlay)) return mergeById(base, overlay);
  }
  return overlay;
}

function mergeFields(base: Fields, overlay: Fields): Fields {
  const merged: Fields = { ...base };
  for (const [key, value] of Object.entries(overlay)) {
    if (value === null) delete merged[key];
    else merged[key] = Object.hasOwn(base, key) ? mergeDocuments(base[key], value) : value;
  }
  return merged;
}

function mergeRecords(base: readonly Fields[], overlay: readonly Fields[]): Fields[] {
  const merged = [...base];
  const places = new Map(base.map((record, place) => [recordId(record), place]));
  for (const record of overlay) {
    const id = recordId(record);
    const place = id === undefined ? undefined : places.get(id);
    if (place !== undefined) merged[place] = mergeFields(merged[place]!, record);
    else places.set(id, merged.push(record) - 1);
  }
  return merged;
}

function mergeById(base: readonly Fields[], overlay: Fields): Fields[] {
  const merged: Fields[] = [];
  const left = new Map(Object.entries(overlay) as [string, Fields | null][]);
  for (const record of base) {
    const id = recordId(record) ?? "";
    const change = left.get(id);
    left.delete(id);
    if (change !== null) merged.push(change === undefined ? record : mergeFields(record, change));
  }
  // A new record under its id as key gets the id in the same field as the others.
  const idKey = ID_KEYS.find((key) => base[0]![key] === recordId(base[0]!)) ?? "id";
  for (const [id, record] of left) if (record !== null) merged.push({ [idKey]: id, ...record });
  return merged;
}

// Any other map, or a map over an empty list, replaces the list, and the schema then refuses it.
function addressesRecords(base: readonly Fields[], overlay: unknown): overlay is Fields {
  return (
    base.length > 0 &&
    isJsonObject(overlay) &&
    Object.values(overlay).every((value) => value === null || isJsonObject(value))
  );
}

function isRecords(list: readonly unknown[]): list is Fields[] {
  return (
    list.every(isJsonObject) && (list.length === 0 || list.some((record) => recordId(record) !== undefined))
  );
}

/** A fixture with everything it extends: one value, and for each part of it the file that it comes from. */
export interface LayeredDocument extends UserDocument {
  /** The fixture itself first, then what it extends. */
  readonly layers: readonly UserDocument[];
}

export function mergeLayers(layers: readonly [UserDocument, ...UserDocument[]]): LayeredDocument {
  const [top] = layers;
  if (layers.length === 1) return { ...top, layers };
  const merged = layers
    .map((layer) => layer.value)
    .reduceRight((base, overlay) => mergeDocuments(base, overlay));
  // `extends` is removed: the document contains everything, and must not be merged over its base again.
  const { extends: _done, ...value } = merged as Fields;
  // Positions carry their own file: the problem that takes them names the layer's instead of the fixture's.
  const place = (path: DocumentPath, find: "locate" | "locateKey"): Position & { file: string } => {
    const { layer, inside } = findOrigin(layers, value, path);
    return { ...layer[find](inside), file: layer.file };
  };
  return {
    ...top,
    value,
    layers,
    locate: (path) => place(path, "locate"),
    locateKey: (path) => place(path, "locateKey"),
  };
}

/** @throws DocumentError if there are problems; frames are shown if all problems are in one text */
export function refuse(document: LayeredDocument, problems: readonly DocumentProblem[]): void {
  if (problems.length === 0) return;
  const file = problems[0]!.file;
  const layer = document.layers.find((one) => one.file === file);
  const together = problems.every((problem) => problem.file === file);
  throw new DocumentError(problems, together ? layer?.text : undefined);
}

/** The layer with the value at a path: the topmost of those that contain most of the path. */
function findOrigin(layers: readonly UserDocument[], merged: unknown, path: DocumentPath) {
  let best: { layer: UserDocument; inside: DocumentPath } = { layer: layers[0]!, inside: [] };
  for (const layer of layers) {
    const inside = findPathWithin(layer.value, merged, path);
    if (inside.length > best.inside.length) best = { layer, inside };
  }
  return best;
}

/** The part of a path that a layer contains, with the layer's own positions. */
function findPathWithin(layer: unknown, merged: unknown, path: DocumentPath): (string | number)[] {
  const inside: (string | number)[] = [];
  let own = layer;
  let whole = merged;
  for (const step of path) {
    const key = findStepWithin(own, whole, step);
    if (key === undefined) break;
    inside.push(key);
    own = (own as Record<string | number, unknown>)[key];
    whole = (whole as Record<string | number, unknown> | undefined)?.[step];
  }
  return inside;
}

function findStepWithin(own: unknown, whole: unknown, step: string | number): string | number | undefined {
  if (typeof own !== "object" || own === null) return undefined;
  if (typeof step === "string") return Object.hasOwn(own, step) ? step : undefined;
  const record = Array.isArray(whole) ? whole[step] : undefined;
  const id = isJsonObject(record) ? recordId(record) : undefined;
  if (!Array.isArray(own)) return id !== undefined && Object.hasOwn(own, id) ? id : undefined;
  if (id === undefined) return step in own ? step : undefined;
  const place = own.findIndex((one) => isJsonObject(one) && recordId(one) === id);
  return place === -1 ? undefined : place;
}
