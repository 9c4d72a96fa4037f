import { DocumentError, type DocumentPath, type DocumentProblem } from "./document-error.ts";
import { DANGEROUS_KEYS } from "./document-limits.ts";
import type { Position, UserDocument } from "./read-document.ts";

type Fields = Record<string, unknown>;

export interface MergeOptions {
  /** The id by which a record of a list is known, or undefined for a record without one. `path` leads to the list. */
  idOf?: (record: Readonly<Fields>, path: readonly string[]) => string | undefined;
}

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
 * Lays a document that `extends` another over it (interfaces 5); neither is changed.
 * Maps merge key by key, lists of records by id (base order kept, new records at the end), null deletes what the
 * base gave, anything else replaces. A map laid over a list of records addresses them by id:
 * `departments: { dept_ops: null }` deletes one. Inside a record the base does not have, null is an ordinary value,
 * so that a record means the same whether its fixture extends another or stands alone.
 */
export function mergeDocuments(base: unknown, overlay: unknown, options: MergeOptions = {}): unknown {
  return merge({ base, overlay, path: [], idOf: options.idOf ?? recordId });
}

interface Step {
  base: unknown;
  overlay: unknown;
  path: readonly string[];
  idOf: NonNullable<MergeOptions["idOf"]>;
}

function merge(step: Step): unknown {
  const { base, overlay } = step;
  if (overlay === undefined) return copy(base);
  if (isFields(base) && isFields(overlay)) return mergeFields(base, overlay, step);
  if (Array.isArray(base) && isRecords(base, step)) {
    if (Array.isArray(overlay) && overlay.every(isFields)) return mergeRecords(base, overlay, step);
    if (addressesRecords(base, overlay)) return mergeById(base, overlay, step);
  }
  return copy(overlay);
}

function mergeFields(base: Fields, overlay: Fields, step: Step): Fields {
  const merged: Fields = {};
  for (const [key, value] of Object.entries(base)) {
    if (DANGEROUS_KEYS.has(key)) continue;
    if (!Object.hasOwn(overlay, key)) merged[key] = copy(value);
    else if (overlay[key] !== null)
      merged[key] = merge({ ...step, base: value, overlay: overlay[key], path: [...step.path, key] });
  }
  for (const [key, value] of Object.entries(overlay)) {
    if (DANGEROUS_KEYS.has(key) || Object.hasOwn(base, key) || value === null) continue;
    merged[key] = copy(value);
  }
  return merged;
}

function mergeRecords(base: readonly Fields[], overlay: readonly Fields[], step: Step): unknown[] {
  const merged: unknown[] = base.map(copy);
  const places = new Map<string, number>();
  for (const [place, record] of base.entries()) {
    const id = step.idOf(record, step.path);
    if (id !== undefined) places.set(id, place);
  }
  for (const record of overlay) {
    const id = step.idOf(record, step.path);
    const place = id === undefined ? undefined : places.get(id);
    if (place !== undefined) {
      merged[place] = merge({ ...step, base: merged[place], overlay: record });
      continue;
    }
    if (id !== undefined) places.set(id, merged.length);
    merged.push(copy(record));
  }
  return merged;
}

function mergeById(base: readonly Fields[], overlay: Fields, step: Step): unknown[] {
  const merged: unknown[] = [];
  const left = new Map(Object.entries(overlay));
  for (const record of base) {
    const id = step.idOf(record, step.path);
    const change = id === undefined ? undefined : left.get(id);
    if (change === null) continue;
    merged.push(merge({ ...step, base: record, overlay: isFields(change) ? change : undefined }));
    if (id !== undefined) left.delete(id);
  }
  const idKey = findIdKey(base, step);
  for (const [id, record] of left) {
    if (isFields(record)) merged.push(copy(idKey === undefined ? record : { [idKey]: id, ...record }));
  }
  return merged;
}

// A map with anything else in it, or over an empty list, replaces the list, and the schema then says what is wrong.
function addressesRecords(base: readonly Fields[], overlay: unknown): overlay is Fields {
  if (base.length === 0 || !isFields(overlay)) return false;
  return Object.values(overlay).every((value) => value === null || isFields(value));
}

// The field in which the base's records carry their id; a new record named by its key gets the same one.
function findIdKey(base: readonly Fields[], step: Step): string | undefined {
  const first = base[0];
  if (first === undefined) return undefined;
  const id = step.idOf(first, step.path);
  return Object.keys(first).find((key) => first[key] === id && !DANGEROUS_KEYS.has(key));
}

function isRecords(list: readonly unknown[], step: Step): list is Fields[] {
  return (
    list.every(isFields) &&
    (list.length === 0 || list.some((record) => step.idOf(record, step.path) !== undefined))
  );
}

function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  if (!isFields(value)) return value;
  const copied: Fields = {};
  for (const [key, inner] of Object.entries(value)) {
    if (!DANGEROUS_KEYS.has(key)) copied[key] = copy(inner);
  }
  return copied;
}

/** A fixture with everything it extends: one value, and for each part of it the file that it comes from. */
export interface LayeredDocument extends UserDocument {
  /** The fixture itself first, then what it extends. */
  readonly layers: readonly UserDocument[];
}

export function layeredDocument(layers: readonly [UserDocument, ...UserDocument[]]): LayeredDocument {
  const [top] = layers;
  if (layers.length === 1) return { ...top, layers };
  const merged = layers
    .map((layer) => layer.value)
    .reduceRight((base, overlay) => mergeDocuments(base, overlay));
  // It contains everything now; read again as a value of its own, it must not be merged over its base a second time.
  const { extends: _done, ...value } = merged as Fields;
  // Positions carry their own file: the problem that takes them names the layer's instead of the fixture's.
  const place = (path: DocumentPath, find: "locate" | "locateKey"): Position & { file: string } => {
    const { layer, inside } = origin(layers, value, path);
    return { ...layer[find](inside), file: layer.file };
  };
  return {
    file: top.file,
    ...(top.text === undefined ? {} : { text: top.text }),
    value,
    layers,
    locate: (path) => place(path, "locate"),
    locateKey: (path) => place(path, "locateKey"),
  };
}

/** @throws DocumentError when there are problems; frames are shown where one text holds them all */
export function refuse(document: LayeredDocument, problems: readonly DocumentProblem[]): void {
  if (problems.length === 0) return;
  const file = problems[0]!.file;
  const layer = document.layers.find((one) => one.file === file);
  const together = problems.every((problem) => problem.file === file);
  throw new DocumentError(problems, together ? layer?.text : undefined);
}

/** The layer that gave the value at a path: the topmost of those that lead furthest towards it. */
function origin(layers: readonly UserDocument[], merged: unknown, path: DocumentPath) {
  let best: { layer: UserDocument; inside: DocumentPath } = { layer: layers[0]!, inside: [] };
  for (const layer of layers) {
    const inside = pathWithin(layer.value, merged, path);
    if (inside.length > best.inside.length) best = { layer, inside };
  }
  return best;
}

/** As much of a path through the merged value as a layer holds, in the layer's own positions. */
function pathWithin(layer: unknown, merged: unknown, path: DocumentPath): (string | number)[] {
  const inside: (string | number)[] = [];
  let own = layer;
  let whole = merged;
  for (const step of path) {
    const key = stepWithin(own, whole, step);
    if (key === undefined) break;
    inside.push(key);
    own = (own as Record<string | number, unknown>)[key];
    whole = (whole as Record<string | number, unknown> | undefined)?.[step];
  }
  return inside;
}

function stepWithin(own: unknown, whole: unknown, step: string | number): string | number | undefined {
  if (typeof own !== "object" || own === null) return undefined;
  if (typeof step === "string") return Object.hasOwn(own, step) ? step : undefined;
  const record = Array.isArray(whole) ? whole[step] : undefined;
  const id = isFields(record) ? recordId(record) : undefined;
  if (!Array.isArray(own)) return id !== undefined && Object.hasOwn(own, id) ? id : undefined;
  if (id === undefined) return step in own ? step : undefined;
  const place = own.findIndex((one) => isFields(one) && recordId(one) === id);
  return place === -1 ? undefined : place;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
