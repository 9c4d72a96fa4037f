import { DANGEROUS_KEYS } from "./dangerous-keys.ts";

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
  const idKey = idKeyOf(base, step);
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
function idKeyOf(base: readonly Fields[], step: Step): string | undefined {
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

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
