import type { Call } from "../../engine/contract/operation.ts";
import { Reply } from "../../engine/contract/reply.ts";
import type { JsonObject } from "../../engine/contract/schema.ts";
import { View } from "../../engine/state/view.ts";
import type { BoundAccess, BoundParts } from "./bound-access.ts";
import type { BoundCollection } from "./bound-collection.ts";
import { type RecordPage, readPage, readQuery, sortBy, toFacts, toPageQuery } from "./list-records.ts";
import {
  type Fact,
  findFactPlaces,
  findFirstPageNumber,
  findPageNames,
  listPlaces,
  listQueryNames,
  PAGE_PARAMETERS,
  type PageNames,
  splitName,
} from "./page-names.ts";
import { createBodyPresenter, createRecordPresenter, findSchema } from "./present-record.ts";
import type { Schemas } from "./schemas.ts";
import { DIRECTION_NAME, ORDER_NAME, readOrdering, SEARCH_NAME, search } from "./select-records.ts";
import { fillPlaceholders, toPlaceholderValues } from "./templates.ts";

/** Answers a page of a target's records in the form that the document describes. */
export function createLister(
  parts: BoundParts,
  access: BoundAccess,
  schemas: Schemas,
): (call: Call) => unknown {
  const { described, binding, target, success, status } = parts;
  const answer = success.json?.schema?.node;
  const itemsAt = binding.items_at ?? findItems(answer, target, schemas);
  const list = itemsAt === "" ? answer : findSchema(answer, itemsAt, schemas);
  const presentRecord = createRecordPresenter(target, schemas.mergeKeywords(list)["items"] ?? {}, schemas);
  const presentBody = itemsAt === "" ? undefined : createBodyPresenter(answer, schemas);
  const headers = Object.keys((success.node["headers"] ?? {}) as JsonObject);
  const names = findPageNames(described, answer, { schemas, boundNames: binding.page });
  const firstPageNumber = findFirstPageNumber(described, names, schemas);
  const selectRecords = createSelection(parts, access, { names, schemas });
  const links = createPageLinks(names, answer, schemas);
  const factPlaces = findFactPlaces(listPlaces(answer, schemas), [names.total, names.next, names.more]);
  const getId = (record: object) => target.getId(record);
  /** The fact that a place states; undefined if the place has another type: `first` may be a link. */
  const getFact = (place: string, fact: Fact, facts: ReturnType<typeof toFacts>): unknown => {
    const value = fact === "previous" || fact === "next" ? undefined : facts[fact];
    const types = schemas.listTypes(findSchema(answer, place, schemas));
    const valueTypes = typeof value === "number" ? ["number", "integer"] : [typeof value];
    return types.size === 0 || valueTypes.some((one) => types.has(one)) ? value : undefined;
  };
  return (call) => {
    const { rows, sort } = selectRecords(call);
    const page = readPage(rows, call.query as JsonObject, names, {
      order: access.records.getOrder,
      getId,
      getValue: (record, field) => target.getValue(record, field),
      sort,
      // So that a cursor is found by binary search. Built-in collections may be sorted otherwise.
      isByOrderAndId: sort === undefined && target.spec !== undefined,
      firstPageNumber,
      find: (id) => target.find(call.world, id),
    });
    const items = page.records.map((record) => presentRecord(record, call.world));
    const facts = toFacts(page, getId);
    const sentHeaders = Object.fromEntries(links.listHeaders(headers, call, page));
    if (presentBody === undefined) return new Reply(status, items, sentHeaders);
    const places: [string, unknown][] = [[itemsAt, items]];
    if (names.total !== undefined) places.push([names.total, page.total]);
    if (names.next !== undefined) places.push([names.next, links.find(names.next, call, page, 1)]);
    if (names.more !== undefined) places.push([names.more, page.next !== undefined]);
    for (const [place, fact] of factPlaces)
      places.push([place, getFact(place, fact, facts) ?? links.findFactLink(place, call, page, fact)]);
    const filledPlaces = places.filter(([, value]) => value !== undefined);
    return new Reply(status, presentBody(filledPlaces, call.world), sentHeaders);
  };
}

/** Returns a function that finds the records that a call asks for, and sorts them by its query. */
function createSelection(
  { described, binding, target }: BoundParts,
  access: BoundAccess,
  { names, schemas }: { names: PageNames; schemas: Schemas },
) {
  const paging = new Set(PAGE_PARAMETERS.map(([key]) => names[key]));
  const filters = described.parameters
    .filter(({ in: place, name }) => place === "query" && !paging.has(name))
    .map(({ name }) => [name, target.findField(name)] as const)
    .filter(([, field]) => target.fieldNames.has(field));
  const others = listQueryNames(described, schemas).filter((name) => !target.fieldNames.has(name));
  const [searchName, orderName, directionName] = [SEARCH_NAME, ORDER_NAME, DIRECTION_NAME].map((pattern) =>
    others.find((name) => pattern.test(splitName(name).part)),
  );
  const findRecords = (call: Call) => {
    const query = call.query as JsonObject;
    const conditions = access.toConditions(call);
    for (const [name, field] of filters) if (query[name] !== undefined) conditions[field] = query[name];
    const found = access.records.list(call.world, conditions);
    const records =
      access.parentFields.length === 0
        ? found
        : View.ofList([...found].filter((one) => access.hasParents(call, one)));
    const words = readQuery(query, searchName);
    return typeof words === "string"
      ? search(records, words, (one) => target.toPublic(one, call.world))
      : records;
  };
  /** The fields to sort by, the most important first; `-field` for descending. */
  const readSorts = (call: Call): string[] => {
    const query = call.query as JsonObject;
    if (binding.sort === undefined)
      return readOrdering(readQuery(query, orderName), readQuery(query, directionName), target.fieldNames);
    const sort = fillPlaceholders(binding.sort, toPlaceholderValues(call));
    return typeof sort === "string" && sort !== "" ? [sort] : [];
  };
  const getValue = (record: object, field: string) => target.getValue(record, field);
  return (call: Call) => {
    const sorts = readSorts(call);
    const rows = sorts.reduceRight((sorted, sort) => sortBy(sorted, sort, getValue), findRecords(call));
    return { rows, sort: sorts[0] };
  };
}

/** The place of an answer's list: the only one, the one with a usual name, or the first; "" for the answer itself. */
function findItems(answer: unknown, target: Pick<BoundCollection, "collection">, schemas: Schemas): string {
  if (schemas.listTypes(answer).has("array")) return "";
  const lists = [...schemas.listProperties(answer)]
    .filter(([, node]) => schemas.listTypes(node).has("array"))
    .map(([name]) => name);
  if (lists.length === 1) return lists[0]!;
  return (
    [target.collection.name, "data", "items", "results", "records"].find((name) => lists.includes(name)) ??
    lists[0] ??
    ""
  );
}

/** Links a page to the next and the previous one, in the form that each place of an answer has. */
function createPageLinks(names: PageNames, answer: unknown, schemas: Schemas) {
  /** Null or "", as the document has it at a place without a value; undefined to leave the place out. */
  const getEmptyValue = (place: string) => {
    const node = findSchema(answer, place, schemas);
    const types = schemas.listTypes(node);
    if (types.has("null")) return null;
    // Not undefined: a required text would be invented, and a client that follows it would never end.
    return types.has("string") && !isUrl(place, schemas.mergeKeywords(node)) ? "" : undefined;
  };
  /** A number, a cursor or a URL; the empty value if there is no such page. */
  const find = (place: string, call: Call, page: RecordPage, direction: 1 | -1): unknown => {
    const node = findSchema(answer, place, schemas);
    const types = schemas.listTypes(node);
    const pageQuery = toPageQuery(page, names, direction);
    if (pageQuery === undefined) return getEmptyValue(place);
    const [value] = Object.values(pageQuery);
    const isNumber = types.has("integer") || types.has("number");
    if (isNumber) return typeof value === "number" ? value : undefined;
    const isCursor =
      names.cursor !== undefined && direction > 0 && !isUrl(place, schemas.mergeKeywords(node));
    return isCursor ? page.next : toUrl(call, pageQuery);
  };

  /** The link of a place that is named like a fact: to the next, previous, first or last page, else the empty value. */
  const findFactLink = (place: string, call: Call, page: RecordPage, fact: Fact): unknown => {
    if (fact === "next") return find(place, call, page, 1);
    if (fact === "previous") return find(place, call, page, -1);
    const { limit, total } = page;
    if (limit === 0 || (fact !== "isFirst" && fact !== "isLast")) return getEmptyValue(place);
    const start = fact === "isFirst" ? 0 : Math.floor(Math.max(0, total - 1) / limit) * limit;
    // The page is the previous one of the page after it.
    return find(place, call, { ...page, start: start + limit }, -1);
  };

  /** `Link`, and headers such as `X-Total-Count` and `X-Next-Page`, where the document has them. */
  const listHeaders = (headers: readonly string[], call: Call, page: RecordPage): [string, string][] => {
    const [next, previous] = [toPageQuery(page, names, 1), toPageQuery(page, names, -1)];
    // Ids are empty here, which leaves out their headers.
    const facts = toFacts(page, () => "");
    const links = Object.entries({ next, prev: previous }).flatMap(([rel, pageQuery]) =>
      pageQuery ? [`<${toUrl(call, pageQuery)}>; rel="${rel}"`] : [],
    );
    const toValue = (name: string) => {
      if (name === "link") return links.length > 0 ? links.join(", ") : undefined;
      if (/^total(_count)?$/.test(name)) return page.total;
      const fact = findFactPlaces([name], [])[0]?.[1];
      const firstValue = (pageQuery: typeof next) => pageQuery && Object.values(pageQuery)[0];
      if (fact === "previous") return firstValue(previous);
      if (fact === "next" || name.startsWith("next")) return firstValue(next);
      return fact && facts[fact];
    };
    return headers.flatMap((header) => {
      const value = toValue(header.toLowerCase().replace(/^x-/, "").replaceAll("-", "_"));
      return value === undefined || value === "" ? [] : [[header, String(value)]];
    });
  };
  return { find, findFactLink, listHeaders };
}

/** Whether a place has a URL rather than a cursor. */
const isUrl = (place: string, { format }: JsonObject) =>
  /^uri/.test(String(format)) || /(^|\.)_?links?\.|_?(url|link|href)$/i.test(place);

function toUrl({ request }: Call, pageQuery: Readonly<Record<string, string | number>>): string {
  const [path = ""] = request.target.split("?", 1);
  const query = new URLSearchParams(request.target.slice(path.length));
  for (const [name, value] of Object.entries(pageQuery)) query.set(name, String(value));
  return `${request.base_url}${path}?${query}`;
}
