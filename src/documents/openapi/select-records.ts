import type { JsonObject } from "../../engine/contract/schema.ts";
import { compareFields } from "../../engine/own/own-records.ts";
import type { WorldReader } from "../../engine/state/transaction.ts";
import { type Order, View } from "../../engine/state/view.ts";
import { getAction, type OperationBinding } from "./binding-schema.ts";
import type { BoundCollection } from "./bound-collection.ts";
import type { DescribedOperation } from "./list-operations.ts";
import { ALL_RECORDS } from "./own-collection.ts";

/** Which records of its target an operation works on. */
export interface Selector {
  /** Fields that must be equal, with the templates of their values. */
  where: readonly (readonly [field: string, template: unknown])[];
  /** The template of the record's id; undefined if the record is found by `where` alone. */
  id: string | undefined;
}

/** Reads `where` and `id` from the binding; path parameters complete them by their names. */
export function toSelector(
  { path }: Pick<DescribedOperation, "path">,
  binding: OperationBinding,
  target: Pick<BoundCollection, "fieldNames">,
): Selector {
  const names = listPathNames(path);
  const where = new Map<string, unknown>();
  for (const name of names)
    if (target.fieldNames.has(name) && binding.id !== `{${name}}`) where.set(name, `{${name}}`);
  for (const [field, template] of Object.entries(binding.where ?? {})) where.set(field, template);
  const action = getAction(binding)?.action;
  if (action === "list") return { where: [...where], id: undefined };
  const usedTemplates = JSON.stringify([...where.values()]);
  const lastUnused = names.filter((name) => !usedTemplates.includes(`{${name}}`)).at(-1);
  const defaultId = lastUnused === undefined || action === "create" ? undefined : `{${lastUnused}}`;
  return { where: [...where], id: binding.id ?? defaultId };
}

export function listPathNames(path: string): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name!);
}

/**
 * Returns functions that list a target's records by the values of fields, and give the order of each. With `deleted`,
 * softly deleted records are among them.
 */
export function createRecordSource(target: BoundCollection, { deleted = false }: { deleted?: boolean }) {
  // A collection of the reference has no `spec`, and its indexes have orders of their own.
  const { collection, spec } = target;
  const findIndex = (field: string): string | undefined => {
    if (spec !== undefined) return Object.hasOwn(spec.belongs_to, field) ? `by_${field}` : undefined;
    return Object.entries(collection.indexes).find(([, index]) => index.field === field)?.[0];
  };
  const getOrder = (record: object): Order => {
    const index = spec === undefined ? undefined : collection.indexes[ALL_RECORDS];
    if (index !== undefined) return index.order(record) as Order;
    const createdAt = (record as JsonObject)["created_at"];
    return typeof createdAt === "number" ? -createdAt : 0;
  };
  /** Lists records newest first, by an index as far as there is one. */
  const list = (world: WorldReader, conditions: JsonObject): View<object> => {
    const fields = Object.keys(conditions);
    // Softly deleted records are in no index.
    const areIndexed = !(deleted && spec?.soft !== undefined);
    // An index has a group for each owner, and none for records without one.
    const isIndexed = (field: string) => isOneOwner(conditions[field]) && findIndex(field) !== undefined;
    const indexedField = areIndexed ? fields.find(isIndexed) : undefined;
    const rest = Object.fromEntries(
      fields.filter((field) => field !== indexedField).map((field) => [field, conditions[field]]),
    );
    let base: View<object> = world.all(collection);
    if (indexedField !== undefined)
      base = world.index(collection, findIndex(indexedField)!, String(conditions[indexedField]));
    else if (spec !== undefined && !deleted) base = world.index(collection, ALL_RECORDS, "");
    const isOrdered = spec !== undefined && (indexedField !== undefined || !deleted);
    if (Object.keys(rest).length === 0 && isOrdered) return base;
    const rows = [...base].filter((record) => target.hasValues(record, rest, world));
    if (!isOrdered) rows.sort((a, b) => compareFields(getOrder(a), getOrder(b)));
    return View.ofList(rows);
  };
  return { list, getOrder };
}

export type RecordSource = ReturnType<typeof createRecordSource>;

const isOneOwner = (value: unknown) => value != null && !Array.isArray(value);

/** Query parameters by which a list is searched and sorted, unless a field has the name. */
export const SEARCH_NAME = /^(search|q)$/i;
export const ORDER_NAME = /^(ordering|sort|sort_?by|order_?by)$/i;
export const DIRECTION_NAME = /^(order|direction|(sort|order)_?(order|dir|direction))$/i;

/** The records of which a text field contains each word, in any case. */
export function search(
  records: Iterable<object>,
  words: string,
  toPublic: (record: object) => JsonObject,
): View<object> {
  const terms = words.toLowerCase().split(/[\s,]+/);
  const hasAll = (record: object) => {
    // As they are stored, where instants are no texts.
    const values = Object.keys(toPublic(record)).map((name) => (record as JsonObject)[name]);
    const texts = values.filter((value) => typeof value === "string");
    return terms.every((term) => texts.some((text) => text.toLowerCase().includes(term)));
  };
  return View.ofList([...records].filter(hasAll));
}

/** The fields of `name`, `-name`, `name:desc` or `name,desc`, in the form `-name`; others are ignored. */
export function readOrdering(order: unknown, direction: unknown, fieldNames: ReadonlySet<string>): string[] {
  const isDescending = (one: unknown) => /^desc(end(ing)?)?(?![a-z])/i.test(String(one));
  const sorts: string[] = [];
  for (const part of [order ?? []]
    .flat()
    .join(",")
    .split(/[,:\s]+/)) {
    const [, sign, name = ""] = /^([-+]?)(.*)$/.exec(part)!;
    const field = [name, `${name}_at`].find((one) => fieldNames.has(one));
    if (field !== undefined) sorts.push((sign === "-" || isDescending(direction) ? "-" : "") + field);
    else if (isDescending(part) && sorts.length > 0) sorts.push(`-${sorts.pop()!.replace(/^-/, "")}`);
  }
  return sorts;
}
