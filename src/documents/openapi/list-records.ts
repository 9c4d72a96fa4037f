import { fromBase64Url, fromUtf8, toBase64Url, toUtf8 } from "../../engine/bytes.ts";
import { invalidInput } from "../../engine/contract/errors.ts";
import { parseNumber } from "../../engine/contract/invalid-field.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { compareFields } from "../../engine/own/own-records.ts";
import { type Order, View } from "../../engine/state/view.ts";
import type { OperationBinding } from "./binding-schema.ts";
import type { DescribedOperation } from "./list-operations.ts";
import type { Schemas } from "./schemas.ts";

/** Names of parameters and of places in answers, as the pages of a list use them. */
export type PageNames = NonNullable<OperationBinding["page"]>;

const PAGE_NAME = /^(page|page_?number|page_?no|page\[number\])$/i;
export const PAGE_PARAMETERS: readonly (readonly [keyof PageNames, RegExp])[] = [
  ["limit", /^(limit|per_?page|page_?size|size|count|first|max_?results|top|page\[size\]|page\[limit\])$/i],
  ["offset", /^(offset|skip|start|from|start_?index|page\[offset\])$/i],
  [
    "cursor",
    /^(cursor|after|starting_?after|page_?token|next_?token|continuation(_?token)?|page\[(after|cursor)\])$/i,
  ],
  ["page", PAGE_NAME],
];
const TOTAL_NAME = /^total(_?(count|items|results|size|elements|records|entries|hits|docs))?$/i;
const COUNT_NAME = /^(count|item_?count|number_?of_?elements)$/i;
const MORE_NAME = /^(has_?(more|next(_?page)?)|more)$/i;
const PLACE_NAMES: readonly (readonly [keyof PageNames, RegExp])[] = [
  ["next", /^(next_?(cursor|(page_?)?(token|url|link)|page|offset)?|end_?cursor|cursor|after|page_?token)$/i],
  ["total", TOTAL_NAME],
  // Else the number of records on the page.
  ["total", COUNT_NAME],
  ["more", MORE_NAME],
];
/** Names by which an answer may state facts of its page. */
const FACT_NAMES: readonly (readonly [Fact, RegExp])[] = [
  ["next", /^next_?(cursor|(page_?)?(token|url|link)|page|offset)?$/i],
  ["total", TOTAL_NAME],
  ["count", COUNT_NAME],
  ["more", MORE_NAME],
  ["previous", /^prev(ious)?_?((page_?)?(url|link)|page|offset)?$/i],
  ["hasPrevious", /^has_?prev(ious)?(_?page)?$/i],
  ["pages", /^(total_?pages|page_?count|num_?pages|pages|last_?page)$/i],
  ["page", /^(page|page_?(number|no)|current_?page|number)$/i],
  ["limit", /^(limit|(items_?)?per_?page|page_?size|size|take)$/i],
  ["start", /^(offset|skip)$/i],
  ["from", /^(from|paging_?counter)$/i],
  ["to", /^to$/i],
  ["isFirst", /^(is_?)?first_?((page_?)?(url|link)|page)?$/i],
  ["isLast", /^(is_?)?last_?((page_?)?(url|link)|page)?$/i],
  ["isEmpty", /^(is_?)?empty$/i],
  ["firstId", /^first_?id$/i],
  ["lastId", /^last_?id$/i],
];

export type Fact = keyof PageFacts | "previous" | "next";

/** The facts that an answer may state of its page. */
interface PageFacts {
  total: number;
  /** The number of records on the page. */
  count: number;
  more: boolean;
  page: number;
  pages: number;
  limit: number;
  start: number;
  /** The positions of the first and the last record, from 1 on; null on an empty page. */
  from: number | null;
  to: number | null;
  isFirst: boolean;
  isLast: boolean;
  isEmpty: boolean;
  hasPrevious: boolean;
  firstId: string | null;
  lastId: string | null;
}

/** The places of an answer, or the names of its headers, that state facts of its page, each with its fact. */
export function findFactPlaces(
  places: readonly string[],
  usedPlaces: readonly unknown[],
): (readonly [place: string, fact: Fact])[] {
  return places.flatMap((place) => {
    const name = getName(place);
    const [fact] = FACT_NAMES.find(([, pattern]) => pattern.test(name)) ?? [];
    return fact === undefined || usedPlaces.includes(place) ? [] : [[place, fact] as const];
  });
}

export function toFacts(
  { records, total, start, limit, firstPage, next }: RecordPage,
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
    page: limit === 0 ? firstPage : Math.floor(start / limit) + firstPage,
    pages: limit === 0 ? 0 : Math.ceil(total / limit),
    limit,
    start,
    hasPrevious: start > 0,
    firstId: first === undefined ? null : getId(first),
    lastId: last === undefined ? null : getId(last),
  };
}

/** The query parameters that lead to the next page of a list, or to the one before; undefined if there is none. */
export function toPageQuery(
  { next, start, limit, firstPage }: RecordPage,
  names: PageNames,
  direction: 1 | -1,
): Record<string, string | number> | undefined {
  if (direction > 0 ? next === undefined : start === 0) return undefined;
  if (names.page !== undefined) {
    const page = { [names.page]: Math.floor(start / limit) + firstPage + direction };
    return names.offset === undefined ? page : { ...page, [names.offset]: 0 };
  }
  if (names.offset !== undefined) return { [names.offset]: Math.max(0, start + direction * limit) };
  return names.cursor !== undefined && direction > 0 ? { [names.cursor]: next! } : undefined;
}

/** The names that the binding gives, completed by usual names in the document. */
export function findPageNames(
  operation: DescribedOperation,
  answer: unknown,
  { schemas, boundNames }: { schemas: Schemas; boundNames: PageNames | undefined },
): PageNames {
  const names: PageNames = { ...boundNames };
  const queries = listQueryNames(operation, schemas);
  for (const [key, pattern] of PAGE_PARAMETERS) {
    if (names[key] !== undefined || (key === "page" && names.cursor !== undefined)) continue;
    const parameter =
      queries.find((name) => pattern.test(name)) ??
      queries.find((name) => hasPlainParts(operation, name) && pattern.test(splitName(name).part));
    if (parameter === undefined) continue;
    const { schema } = operation.parameters.find(({ name }) => name === parameter) ?? {};
    const isCursor = key === "page" && schemas.listTypes(schema?.node).has("string");
    names[isCursor ? "cursor" : key] ??= parameter;
  }
  const places = listPlaces(answer, schemas);
  const lists = [...schemas.listProperties(answer)].filter(([, node]) =>
    schemas.listTypes(node).has("array"),
  );
  const countNames = lists.flatMap(([name]) => [`${name}count`, `total${name}`, `${name}total`]);
  for (const [key, pattern] of PLACE_NAMES) {
    if (key === "next" && (names.cursor ?? names.page ?? names.offset) === undefined) continue;
    names[key] ??= places.find((place) => pattern.test(getName(place)));
  }
  names.total ??= places.find((place) => countNames.some((name) => isSameName(name, getName(place))));
  return names;
}

/** Properties of an answer, and of the objects in it, but not of its lists; links as in `_links.next.href` too. */
export function listPlaces(node: unknown, schemas: Schemas, depth = 0): string[] {
  const places = [...schemas.listProperties(node)].map(([name, schema]) => {
    const inner = depth < 2 ? listPlaces(schema, schemas, depth + 1) : [];
    const parts = depth === 0 ? inner : inner.filter((one) => one === LINK);
    return parts.length > 0 ? parts.map((one) => `${name}.${one}`) : [name];
  });
  // Outer ones first.
  return places.flat().sort((a, b) => a.split(".").length - b.split(".").length);
}

export const isSameName = (one: string, other: string) =>
  one.replaceAll("_", "").toLowerCase() === other.replaceAll("_", "").toLowerCase();

/** The property of a link, as in `_links.next.href`. */
const LINK = "href";

/** The part of a place that names it: `next` of `_links.next.href`. */
function getName(place: string): string {
  const steps = place.split(".");
  return steps.at(-1) === LINK && steps.length > 1 ? steps.at(-2)! : steps.at(-1)!;
}

/** Names of query parameters; those of a map's parts as in `page[size]`. */
export function listQueryNames({ parameters }: DescribedOperation, schemas: Schemas): string[] {
  return parameters
    .filter((one) => one.in === "query")
    .flatMap(({ name, schema }) => {
      const parts = [...schemas.listProperties(schema?.node).keys()];
      return parts.length === 0 ? [name] : parts.map((part) => `${name}[${part}]`);
    });
}

export interface RecordPage {
  records: readonly object[];
  total: number;
  /** The cursor of the next page; undefined on the last. */
  next: string | undefined;
  start: number;
  limit: number;
  /** The number of the first page. */
  firstPage: number;
}

/** How the records of a list are ordered. */
interface RecordOrder extends Pick<RecordPage, "firstPage"> {
  order: (record: object) => Order;
  getId: (record: object) => string;
  getValue: (record: object, field: string) => unknown;
  find: (id: string) => object | undefined;
  /** The field by which the list is sorted before `order` and id; `-field` for descending. */
  sort: string | undefined;
  /** Whether the list is sorted by `order` and id. */
  isByOrderAndId: boolean;
}

const DEFAULT_LIMIT = 50;

/** One page of an ordered list, as the query asks for it. @throws ApiError for an invalid cursor */
export function readPage(
  rows: View<object>,
  query: JsonObject,
  names: PageNames,
  order: RecordOrder,
): RecordPage {
  const total = rows.size;
  const limit = readCount(query, names.limit) ?? (isPaged(names) ? DEFAULT_LIMIT : total);
  const cursor = readQuery(query, names.cursor);
  let start = readCount(query, names.offset) ?? 0;
  const { firstPage } = order;
  const pageName = names.page ?? (PAGE_NAME.test(names.cursor ?? "") ? names.cursor : undefined);
  const page = readCount(query, pageName);
  const pagesBefore = (page ?? firstPage) - firstPage;
  // The first page may be the document's default beside a sent offset.
  if (pagesBefore > 0) start = pagesBefore * limit;
  // A `page` that is a text may be either.
  const isNumber = pageName === names.cursor && page !== undefined;
  if (cursor !== undefined && cursor !== null && cursor !== "" && !isNumber)
    start = findAfter(rows, readCursor(String(cursor), names, order), order);
  const records = rows.page(start, limit);
  const last = records.at(-1);
  const hasMore = start + records.length < total && last !== undefined;
  return { records, total, start, limit, firstPage, next: hasMore ? writeCursor(last, order) : undefined };
}

/** The number of the first page: 0 if the document allows that, as Spring's do. */
export function findFirstPage(
  { parameters }: DescribedOperation,
  { page }: PageNames,
  schemas: Schemas,
): 0 | 1 {
  if (page === undefined) return 1;
  const { map, part } = splitName(page);
  const schema = parameters.find((one) => one.in === "query" && one.name === (map ?? page))?.schema?.node;
  const node = map === undefined ? schema : schemas.listProperties(schema).get(part);
  const { minimum, default: defaultPage } = schemas.mergeKeywords(node);
  return minimum === 0 || defaultPage === 0 ? 0 : 1;
}

/** Whether the parts of a map are sent under their own names, as those of Spring's `pageable`. */
function hasPlainParts({ parameters }: DescribedOperation, name: string): boolean {
  const { node } = parameters.find((one) => one.in === "query" && one.name === splitName(name).map) ?? {};
  return (node?.["style"] ?? "form") === "form" && node?.["explode"] !== false;
}

/** The parts of a name such as `page[size]`. */
export function splitName(name: string): { map: string | undefined; part: string } {
  const [, map, part = name] = /^(\w+)\[(\w+)\]$/.exec(name) ?? [];
  return { map, part };
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

function toRank(record: object, { order, getId, getValue, sort }: RecordOrder): Rank {
  const rank = [order(record), getId(record)] as const;
  return sort === undefined ? rank : [...rank, sort, readSorting(sort, getValue).getValue(record) ?? null];
}

function writeCursor(record: object, order: RecordOrder): string {
  return toBase64Url(toUtf8(JSON.stringify(toRank(record, order))));
}

/** @throws ApiError INVALID_INPUT for what is neither a cursor of an earlier answer nor the id of a record */
function readCursor(cursor: string, names: PageNames, order: RecordOrder): Rank {
  const rank = parseRank(cursor);
  if (rank !== undefined && rank[2] === order.sort) return rank;
  const record = order.find(rank?.[1] ?? cursor);
  if (record !== undefined) return toRank(record, order);
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
  { order, getId, getValue, sort, isByOrderAndId }: RecordOrder,
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
  getField: RecordOrder["getValue"],
): View<object> {
  const { getValue, compare } = readSorting(sort, getField);
  return View.ofList<object>([...rows].sort((a, b) => compare(getValue(a), getValue(b))));
}

function readSorting(sort: string, getField: RecordOrder["getValue"]) {
  const field = sort.replace(/^[-+]/, "");
  const sign = sort.startsWith("-") ? -1 : 1;
  return {
    getValue: (record: object) => getField(record, field),
    compare: (a: unknown, b: unknown) => sign * compareFields(a, b),
  };
}

/** The parts of an object by which a request names it. */
export const KEYS_OF_OBJECTS = ["id", "value", "name", "slug", "key", "code"];

/** Whether a field's value, or an item of it, is the expected one or one of several; an empty list matches all. */
export function matches(value: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) return expected.length === 0 || expected.some((one) => matches(value, one));
  if (Array.isArray(value)) return value.some((one) => matches(one, expected));
  if (value === expected) return true;
  if (isJsonObject(value) && !isJsonObject(expected))
    return KEYS_OF_OBJECTS.some((key) => value[key] != null && matches(value[key], expected));
  return (
    !isJsonObject(value) && !isJsonObject(expected) && String(value ?? null) === String(expected ?? null)
  );
}
