import type { JsonObject } from "../../engine/contract/schema.ts";
import type { OperationBinding } from "./binding-schema.ts";
import type { DescribedOperation } from "./list-operations.ts";
import type { Schemas } from "./schemas.ts";

/** Names of parameters and of places in answers, as the pages of a list use them. */
export type PageNames = NonNullable<OperationBinding["page"]>;

/** Names of the parameter with a page's number, which may also be its cursor. */
export const PAGE_NAME = /^(page|page_?number|page_?no|page\[number\])$/i;
export const PAGE_PARAMETERS: readonly (readonly [keyof PageNames, RegExp])[] = [
  ["limit", /^(limit|per_?page|page_?size|size|count|first|max_?results|top|page\[size\]|page\[limit\])$/i],
  ["offset", /^(offset|skip|start|from|start_?index|page\[offset\])$/i],
  [
    "cursor",
    /^(cursor|after|starting_?after|page_?token|next_?token|continuation(_?token)?|page\[(after|cursor)\])$/i,
  ],
  ["page", PAGE_NAME],
];
/** Whether a parameter with such a name filters instead: `from` may be a date, and `size` a word. */
export const isFilter = ({ format, enum: values }: JsonObject) =>
  /^date/.test(String(format)) || (Array.isArray(values) && values.every((one) => Number.isNaN(Number(one))));
const NEXT_NAME =
  /^(next_?(cursor|(page_?)?(token|url|link)|page|offset)?|end_?cursor|cursor|after|page_?token)$/i;

/** Names by which an answer may state facts of its page. */
const FACT_NAMES: readonly (readonly [Fact, RegExp])[] = [
  ["next", /^next_?(cursor|(page_?)?(token|url|link)|page|offset)?$/i],
  ["total", /^total(_?(count|items|results|size|elements|records|entries|hits|docs))?$/i],
  ["count", /^(count|item_?count|number_?of_?elements)$/i],
  ["more", /^(has_?(more|next(_?page)?)|more)$/i],
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
export interface PageFacts {
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

/** The names that the binding gives, completed by usual names in the document. */
export function findPageNames(
  operation: DescribedOperation,
  answer: unknown,
  { schemas, boundNames }: { schemas: Schemas; boundNames: PageNames | undefined },
): PageNames {
  const names: PageNames = { ...boundNames };
  const findSchema = (name: string | undefined) =>
    operation.parameters.find((one) => one.name === name)?.schema?.node;
  const queries = listQueryNames(operation, schemas).filter(
    (name) => !isFilter(schemas.mergeKeywords(findSchema(name))),
  );
  for (const [key, pattern] of PAGE_PARAMETERS) {
    if (names[key] !== undefined || (key === "page" && names.cursor !== undefined)) continue;
    const parameter =
      queries.find((name) => pattern.test(name)) ??
      queries.find((name) => hasPlainParts(operation, name) && pattern.test(splitName(name).part));
    if (parameter === undefined) continue;
    const isCursor = key === "page" && schemas.listTypes(findSchema(parameter)).has("string");
    names[isCursor ? "cursor" : key] ??= parameter;
  }
  const places = listPlaces(answer, schemas);
  const lists = [...schemas.listProperties(answer)].filter(([, node]) =>
    schemas.listTypes(node).has("array"),
  );
  const countNames = lists.flatMap(([name]) => [`${name}count`, `total${name}`, `${name}total`]);
  const facts = findFactPlaces(places, []);
  const findPlace = (fact: Fact) => facts.find(([, one]) => one === fact)?.[0];
  if ((names.cursor ?? names.page ?? names.offset) !== undefined)
    names.next ??= places.find((place) => NEXT_NAME.test(getName(place)));
  names.total ??= findPlace("total") ?? findPlace("count");
  names.more ??= findPlace("more");
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

/** The number of the first page: 0 if the document allows that, as Spring's do. */
export function findFirstPageNumber(
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
