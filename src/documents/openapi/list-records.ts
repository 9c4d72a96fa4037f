import { fromBase64Url, fromUtf8, toBase64Url, toUtf8 } from "../../engine/bytes.ts";
import { invalidInput } from "../../engine/contract/errors.ts";
import { parseNumber } from "../../engine/contract/invalid-field.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { getOwn } from "../../engine/maps.ts";
import { compareFields } from "../../engine/own/own-records.ts";
import { type Order, View } from "../../engine/state/view.ts";
import { PAGE_NAME, type PageFacts, type PageNames, splitName } from "./page-names.ts";

export function toFacts(
  { records, total, start, limit, firstPageNumber, next }: RecordPage,
  getId: (record: object) => string,
): PageFacts {
  const [first, last] = [records[0], records.at(-1)];
  const isEmpty = records.length === 0;
  return {
    total,
    count: records.length,
    more: next !== undefined,
    from: isEmpty ? null : start + 1,
    to: isEmpty ? null : start + records.length,
    isFirst: start === 0,
    isLast: next === undefined,
    isEmpty,
    page: limit === 0 ? firstPageNumber : Math.floor(start / limit) + firstPageNumber,
    pages: limit === 0 ? 0 : Math.ceil(total / limit),
    limit,
    start,
    hasPrevious: start > 0,
    firstId: first === undefined ? null : getId(first),
    lastId: last === undefined ? null : getId(last),
  };
}

/**
 * The query parameters that lead to the next page of a list, or to the one before. Undefined if there is no such page, or no
 * parameter that leads to it: a cursor only leads on.
 */
export function toPageQuery(
  { next, start, limit, firstPageNumber }: RecordPage,
  names: PageNames,
  direction: 1 | -1,
): Record<string, string | number> | undefined {
  if (direction > 0 ? next === undefined : start === 0) return undefined;
  if (names.page !== undefined) {
    const page = { [names.page]: Math.floor(start / limit) + firstPageNumber + direction };
    // The link repeats the other parameters of the request, whose offset would contradict the page.
    return names.offset === undefined ? page : { ...page, [names.offset]: 0 };
  }
  if (names.offset !== undefined) return { [names.offset]: Math.max(0, start + direction * limit) };
  return names.cursor !== undefined && direction > 0 ? { [names.cursor]: next! } : undefined;
}

export interface RecordPage {
  records: readonly object[];
  total: number;
  /** The cursor of the next page; undefined on the last. */
  next: string | undefined;
  start: number;
  limit: number;
  /** 0 or 1. */
  firstPageNumber: number;
}

/** How the records of a list are ordered and found, and its pages numbered. */
interface ListContext extends Pick<RecordPage, "firstPageNumber"> {
  order: (record: object) => Order;
  getId: (record: object) => string;
  getValue: (record: object, field: string) => unknown;
  find: (id: string) => object | undefined;
  /** The field by which the list is sorted, `-field` for descending; `order` and id only decide between equal values. */
  sort: string | undefined;
  /** Whether the list is sorted by `order` and id alone, for a binary search. One without `sort` may have its own order. */
  isByOrderAndId: boolean;
}

const DEFAULT_LIMIT = 50;

/** One page of an ordered list, as the query asks for it. @throws ApiError for an invalid cursor */
export function readPage(
  rows: View<object>,
  query: JsonObject,
  names: PageNames,
  context: ListContext,
): RecordPage {
  const total = rows.size;
  const limit = readCount(query, names.limit) ?? (isPaged(names) ? DEFAULT_LIMIT : total);
  const cursor = readQuery(query, names.cursor);
  let start = readCount(query, names.offset) ?? 0;
  const { firstPageNumber } = context;
  // A cursor may be called `page`; then its text is a number or a cursor.
  const pageName = names.page ?? (PAGE_NAME.test(names.cursor ?? "") ? names.cursor : undefined);
  const page = readCount(query, pageName);
  const pagesBefore = (page ?? firstPageNumber) - firstPageNumber;
  // The first page may be a default, which does not replace a sent offset.
  if (pagesBefore > 0) start = pagesBefore * limit;
  const isNumber = pageName === names.cursor && page !== undefined;
  if (cursor !== undefined && cursor !== null && cursor !== "" && !isNumber)
    start = findAfter(rows, readCursor(String(cursor), names, context), context);
  const records = rows.page(start, limit);
  const last = records.at(-1);
  const hasMore = start + records.length < total && last !== undefined;
  const next = hasMore ? toBase64Url(toUtf8(JSON.stringify(toRank(last, context)))) : undefined;
  return { records, total, start, limit, firstPageNumber, next };
}

const isPaged = ({ offset, page, cursor, limit }: PageNames) =>
  (offset ?? page ?? cursor ?? limit) !== undefined;

export function readQuery(query: JsonObject, name: string | undefined): unknown {
  if (name === undefined) return undefined;
  const { map, part } = splitName(name);
  return query[name] ?? (map && (query[map] as JsonObject | undefined)?.[part]);
}

function readCount(query: JsonObject, name: string | undefined): number | undefined {
  const value = readQuery(query, name);
  // Some documents describe numbers as texts.
  const count = typeof value === "string" ? parseNumber(value) : value;
  return typeof count === "number" ? Math.max(0, Math.floor(count)) : undefined;
}

/** The place of a record in a list; in a sorted list also its `sort` and the field's value. */
type Rank = readonly [order: Order, id: string, sort?: string, value?: unknown];

function toRank(record: object, { order, getId, getValue, sort }: ListContext): Rank {
  const rank = [order(record), getId(record)] as const;
  return sort === undefined ? rank : [...rank, sort, readSorting(sort, getValue).getValue(record) ?? null];
}

/** @throws ApiError INVALID_INPUT for what is neither a cursor of an earlier answer nor the id of a record */
function readCursor(cursor: string, names: PageNames, context: ListContext): Rank {
  const rank = parseRank(cursor);
  if (rank !== undefined && rank[2] === context.sort) return rank;
  // A cursor of a list that was sorted otherwise still has the id of its record.
  const record = context.find(rank?.[1] ?? cursor);
  if (record !== undefined) return toRank(record, context);
  throw invalidInput(names.cursor!, cursor, `${names.cursor} must be a cursor of an earlier answer`);
}

function parseRank(cursor: string): Rank | undefined {
  try {
    const rank: unknown = JSON.parse(fromUtf8(fromBase64Url(cursor)));
    return Array.isArray(rank) && typeof rank[1] === "string" ? (rank as unknown as Rank) : undefined;
  } catch {
    return undefined;
  }
}

/** The position of the first record after a rank; the record of the rank may be gone. */
function findAfter(
  rows: View<object>,
  [lastOrder, lastId, , lastValue]: Rank,
  { order, getId, getValue, sort, isByOrderAndId }: ListContext,
): number {
  const sorting = sort === undefined ? undefined : readSorting(sort, getValue);
  const compareToLast = (record: object) => sorting?.compare(sorting.getValue(record), lastValue) ?? 0;
  const isAfter = (record: object) => {
    const difference = compareToLast(record);
    if (difference !== 0) return difference > 0;
    const recordOrder = order(record);
    return recordOrder === lastOrder ? getId(record) > lastId : recordOrder > lastOrder;
  };
  if (!isByOrderAndId) {
    const all = [...rows];
    const position = all.findIndex((record) => getId(record) === lastId && compareToLast(record) === 0);
    const next = position >= 0 ? position + 1 : all.findIndex(isAfter);
    return next < 0 ? all.length : next;
  }
  let [low, high] = [0, rows.size];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAfter(rows.page(middle, 1)[0]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Orders a list by a field; ties stay as they were. */
export function sortBy(
  rows: Iterable<object>,
  sort: string,
  getField: ListContext["getValue"],
): View<object> {
  const { getValue, compare } = readSorting(sort, getField);
  return View.ofList<object>([...rows].sort((a, b) => compare(getValue(a), getValue(b))));
}

function readSorting(sort: string, getField: ListContext["getValue"]) {
  const field = sort.replace(/^[-+]/, "");
  const sign = sort.startsWith("-") ? -1 : 1;
  return {
    getValue: (record: object) => getField(record, field),
    compare: (a: unknown, b: unknown) => sign * compareFields(a, b),
  };
}

/** The parts of an object by which a request names it. */
export const KEYS_OF_OBJECTS = ["id", "value", "name", "slug", "key", "code"];

/** Whether a value is within a bound such as `gte`. */
function isWithin(value: unknown, name: string, bound: unknown): boolean {
  const difference = compareFields(value, bound);
  if (difference === 0) return /^[gl]te$/.test(name);
  return value != null && (difference > 0 ? /^gte?$/ : /^lte?$/).test(name);
}

/**
 * Whether a field's value, or an item of it, is the expected one, one of several, or within bounds such as `gte`; an empty
 * list matches all.
 */
export function matches(value: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) return expected.length === 0 || expected.some((one) => matches(value, one));
  if (Array.isArray(value)) return value.some((one) => matches(one, expected));
  if (value === expected) return true;
  if (isJsonObject(expected))
    return Object.entries(expected).every(([name, one]) =>
      isJsonObject(value) ? matches(getOwn(value, name), one) : isWithin(value, name, one),
    );
  if (isJsonObject(value))
    return KEYS_OF_OBJECTS.some((key) => value[key] != null && matches(value[key], expected));
  return String(value ?? null) === String(expected ?? null);
}
