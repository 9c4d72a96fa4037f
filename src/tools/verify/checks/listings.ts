import { parseDateOrInstant } from "../../../engine/contract/instant.ts";
import type { AnyOperation } from "../../../engine/contract/operation.ts";
import { pluralize } from "../../../engine/contract/text.ts";
import type { Check, Context } from "../check.ts";
import { getSentFields, toExcerpt } from "../check-answer.ts";
import { type Item, LISTINGS, type Listing } from "../listing.ts";
import { listMalformedFields } from "../malformed-fields.ts";
import { isHarmless } from "../own-operation.ts";
import type { Exchange } from "../target.ts";
import type { Verdict } from "../verdict.ts";

export const listingChecks: readonly Check[] = LISTINGS.flatMap((listing) => {
  const { operation, section, size, offset, extraCheck } = listing;
  const about = { family: "answers", section } as const;
  const pages: Check = {
    ...about,
    id: `${operation}/pages`,
    title: `${operation} applies ${size} and ${offset}`,
    observe: { operation, successes: true, begin: () => observePages(listing) },
    run: (context) => tryPages(context, listing),
  };
  if (extraCheck === undefined) return [pages];
  return [
    pages,
    {
      ...about,
      id: `${operation}/${extraCheck.name}`,
      title: `${operation} ${extraCheck.title}`,
      observe: {
        operation,
        successes: true,
        begin: () => (verdict, exchange) => checkItems(verdict, listing, exchange),
      },
      run: (context) => tryFilters(context, listing),
    },
  ];
});

/** Whether only the bounds of a field decide whether its value is allowed. A change may have other reasons to refuse it. */
export function isRefusedOnlyOutOfBounds(operation: AnyOperation, field: unknown): boolean {
  if (!isHarmless(operation) || (operation.query === undefined && operation.body?.kind !== "json"))
    return false;
  const limits = typeof field === "string" ? getDeclaredLimits(operation)?.[field] : undefined;
  return limits?.maximum !== undefined;
}

/** If an answer is a page of a listing, checks that its size is the stated one, and allowed. */
export function checkAnyPage(verdict: Verdict, exchange: Exchange): void {
  const listing = LISTINGS.find(({ operation }) => operation === exchange.operation!.id);
  if (listing !== undefined) checkPage(verdict, listing, exchange);
}

type DeclaredLimits = Record<string, { minimum?: number; maximum?: number; enum?: readonly unknown[] }>;

function getDeclaredLimits({ query, body }: AnyOperation): DeclaredLimits {
  return (query ?? (body as { schema: { properties: DeclaredLimits } }).schema).properties;
}

/** Checks one page: the size and offset that it states, and the resulting number of items. */
function checkPage(verdict: Verdict, listing: Listing, exchange: Exchange): void {
  const { operation, defaultSize, getTotal, getApplied, appliedAssumption } = listing;
  const { json, path } = exchange;
  const { length } = listing.getItems(json);
  const sent = getSentFields(exchange);
  const malformed = listMalformedFields(exchange);
  const { maximum = Number.POSITIVE_INFINITY } = getDeclaredLimits(exchange.operation!)[listing.size]!;
  const stated = getApplied?.(json);
  // How a service replaces malformed values is an assumption (G08), so these are the values that its answer states.
  const size = malformed.includes(listing.size)
    ? stated && Math.min(maximum, Math.max(1, Number(stated.size)))
    : Number(sent[listing.size] ?? defaultSize ?? Number.POSITIVE_INFINITY);
  const offset = malformed.includes(listing.offset)
    ? stated && Math.max(0, Number(stated.offset))
    : Number(sent[listing.offset] ?? 0);
  if (stated !== undefined)
    verdict.expect(
      stated.size === size && stated.offset === offset,
      `${operation} states the size and offset ${stated.size} and ${stated.offset}, not ${size} and ${offset}`,
      appliedAssumption,
    );
  // Without a stated size, a value above the maximum at least gets no more items than that.
  const largest = size ?? (Number(sent[listing.size]) > maximum ? maximum : Number.POSITIVE_INFINITY);
  verdict.expect(
    length <= largest,
    `${path} answers ${length} items; a page has at most ${largest}`,
    appliedAssumption,
  );
  const total = getTotal?.(json);
  if (typeof total !== "number" || size === undefined || offset === undefined) return;
  const expectedLength = Math.min(size, Math.max(0, total - offset));
  verdict.expect(
    length === expectedLength,
    `${path} answers ${length} items; a page from offset ${offset} of ${total} items has ${expectedLength}`,
    appliedAssumption,
  );
  if (stated !== undefined && "has_more" in stated)
    verdict.expect(
      stated.has_more === offset + length < total,
      `${path} answers has_more: ${stated.has_more} after ${offset + length} of ${total} items`,
    );
}

/** Maximum number of compared lists of one recording, and of compared items of one list. */
const MAX_LISTS = 500;
const MAX_ITEMS = 10_000;

/** Pages of one list must not overlap: each item has one position. */
function observePages(listing: Listing): (verdict: Verdict, exchange: Exchange) => void {
  const lists = new Map<string, { total: unknown; positions: Map<unknown, number> }>();
  return (verdict, exchange) => {
    checkPage(verdict, listing, exchange);
    const sent = getSentFields(exchange);
    const { [listing.size]: _, [listing.offset]: offset = 0, ...filters } = sent;
    if (listing.mayChange?.(sent) || listMalformedFields(exchange).length > 0) return;
    const key = JSON.stringify([exchange.sent.params, filters]);
    const total = listing.getTotal?.(exchange.json);
    let list = lists.get(key);
    // In a list that has grown, the items have other positions.
    if (list === undefined || list.total !== total) list = { total, positions: new Map() };
    if (lists.size < MAX_LISTS) lists.set(key, list);
    const moved: unknown[] = [];
    for (const [i, item] of listing.getItems(exchange.json).entries()) {
      const [id, position] = [listing.getId(item), Number(offset) + i];
      if ((list.positions.get(id) ?? position) !== position) moved.push(id);
      else if (list.positions.size < MAX_ITEMS) list.positions.set(id, position);
    }
    const problem = `${exchange.path} answers ${moved[0]}, which has another position in the list`;
    verdict.expect(moved.length === 0, problem);
    if (moved.length > 0) lists.delete(key);
  };
}

/** Checks that a short page that begins at the second item equals that part of the whole list, and the last page. */
async function tryPages(context: Context, listing: Listing): Promise<void> {
  const { verdict } = context;
  const first = context.requireSuccess(listing.operation);
  if (!isReadable(listing, first.exchange)) return;
  const whole = listing.getItems(first.exchange.json).map(listing.getId);
  // Leaves items after the page, so that a page with one item too many is noticed.
  const size = Math.max(1, Math.min(2, whole.length - 2));
  const page = await requestPage(context, listing, { [listing.size]: size, [listing.offset]: 1 });
  if (page === undefined) return;
  checkPage(verdict, listing, first.exchange);
  checkPage(verdict, listing, page);
  const part = listing.getItems(page.json).map(listing.getId);
  const getTotal = ({ json }: Exchange) => listing.getTotal?.(json);
  if (getTotal(page) !== getTotal(first.exchange)) {
    const again = await requestPage(context, listing, {});
    if (again === undefined) return;
    if (getTotal(again) !== getTotal(first.exchange))
      return verdict.note("the list has changed meanwhile; its pages were not compared");
    const problem = `${page.path} states a total of ${getTotal(page)}, the whole list one of ${getTotal(again)}`;
    verdict.expect(false, problem, listing.appliedAssumption);
  }
  const expected = whole.slice(1, 1 + size);
  const fits = JSON.stringify(part) === JSON.stringify(expected);
  verdict.expect(
    fits,
    `${page.path} answers ${part.join(", ")}; this part of the list is ${expected.join(", ")}`,
  );
  const total = getTotal(page);
  if (typeof total === "number" && total > 1) {
    const last = await requestPage(context, listing, { [listing.size]: 2, [listing.offset]: total - 1 });
    if (last !== undefined) checkPage(verdict, listing, last);
  }
  const { maximum } = getDeclaredLimits(first.exchange.operation!)[listing.size]!;
  // The reference states the maximum, unless what the answer applies is an assumption too.
  if (maximum !== undefined && listing.appliedAssumption === undefined) {
    const largest = await requestPage(context, listing, { [listing.size]: maximum });
    if (largest !== undefined) checkPage(verdict, listing, largest);
  }
  if (whole.length < 3) verdict.note(`the list has ${pluralize(whole.length, "item")}, so this shows little`);
}

/** Whether the body is usable; an unusable one has failed another check. */
function isReadable(listing: Listing, { json }: Exchange): boolean {
  try {
    return Array.isArray(listing.getItems(json));
  } catch {
    return false;
  }
}

function requestPage(
  context: Context,
  { operation, size }: Listing,
  sent: Record<string, string | number>,
): Promise<Exchange | undefined> {
  const { params } = context.successes.get(operation)!;
  return context.sendAndCheck(operation, { params, ...(size === "take" ? { body: sent } : { query: sent }) });
}

/** Checks the order, and each filter of the request. */
function checkItems(verdict: Verdict, listing: Listing, exchange: Exchange): void {
  const items = listing.getItems(exchange.json);
  const sent = getSentFields(exchange);
  checkOrder(verdict, listing, { items, sent });
  for (const item of items) listing.checkItem?.(verdict, item, sent);
  const filteredFields = Object.keys(items[0] ?? {}).filter((name) => sent[name] !== undefined);
  checkFilters(verdict, exchange, items, {
    same: Object.fromEntries(filteredFields.map((name) => [name, (item) => item[name]])),
    ...(listing.time && { time: (item) => item[listing.time!], from: "start_date", to: "end_date" }),
  });
}

interface Filters {
  /** By name of the filter: the value of an item that must equal it. */
  same?: Readonly<Record<string, (item: Item) => unknown>>;
  /** The time of an item, for filters by a range of time. */
  time?: (item: Item) => string;
  from?: string;
  to?: string;
}

/** Checks that every item fits the filters. A date is a whole day (G28). */
export function checkFilters(
  verdict: Verdict,
  exchange: Exchange,
  items: readonly Item[],
  { same = {}, time, from = "", to = "" }: Filters,
): void {
  const sent = getSentFields(exchange);
  const malformed = listMalformedFields(exchange);
  const checkFilter = (name: string, isExcluded: (item: Item) => boolean) => {
    if (sent[name] === undefined || sent[name] === "" || malformed.includes(name)) return;
    const wrong = items.find(isExcluded);
    verdict.expect(
      wrong === undefined,
      `${exchange.operation!.id} with ${name}=${sent[name]} answers ${toExcerpt(wrong)}`,
    );
  };
  for (const [name, read] of Object.entries(same))
    checkFilter(name, (item) => String(read(item)) !== String(sent[name]));
  if (time === undefined) return;
  checkFilter(from, (item) => Date.parse(time(item)) < (parseDateOrInstant(sent[from])?.from ?? 0));
  checkFilter(
    to,
    (item) => Date.parse(time(item)) > (parseDateOrInstant(sent[to])?.to ?? Number.POSITIVE_INFINITY),
  );
}

function checkOrder(
  verdict: Verdict,
  { operation, order: defaultOrder, orderAssumption }: Listing,
  { items, sent }: { items: Item[]; sent: Record<string, unknown> },
): void {
  const order = String(sent["order_by"] ?? defaultOrder);
  const field = order.replace(/^-/, "");
  const isDescending = order !== field;
  const getRank = (item: Item) => {
    const value = item[field];
    // Null comes last in both directions.
    if (value === null) return isDescending ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    return typeof value === "string" ? Date.parse(value) : value;
  };
  const wrong = items.findIndex((item, i) => {
    if (i === 0) return false;
    const step = isDescending ? getRank(items[i - 1]) - getRank(item) : getRank(item) - getRank(items[i - 1]);
    return step < 0 || (step === 0 && (field === "position" || items[i - 1].id > item.id));
  });
  verdict.expect(
    wrong === -1,
    `${operation}: item ${wrong} is out of order by ${field}: ${toExcerpt(items[wrong])}`,
    orderAssumption,
  );
  if (field !== "position") return;
  if (items.length === 0) verdict.note("a collection or page is empty, so its order was not checked");
  const offset = Number(sent["offset"] ?? 0);
  if (offset === 0 && items.length > 0)
    verdict.expect(items[0].position === 0, `the first position is ${items[0].position}`);
  const early = items.find(({ position }, i) => position < offset + i);
  verdict.expect(
    early === undefined,
    `${operation} from offset ${offset} answers the position ${early?.position}`,
  );
}

/** Tries each filter with the value of one item, which the answer must then contain. */
async function tryFilters(context: Context, listing: Listing): Promise<void> {
  const { verdict, contract } = context;
  const first = context.requireSuccess(listing.operation);
  if (!isReadable(listing, first.exchange)) return;
  checkItems(verdict, listing, first.exchange);
  const items = listing.getItems(first.exchange.json);
  const [newest] = items;
  const limits = getDeclaredLimits(contract.getOperation(listing.operation));
  if (newest === undefined) return verdict.note("the list is empty, so its filters were not checked");
  const trials: [name: string, value: string, item: Item][] = [];
  for (const [name, { enum: words }] of Object.entries(limits)) {
    if (name === "order_by") for (const word of words ?? []) trials.push([name, String(word), undefined]);
    // Prefers a value that not all items have.
    const item = items.find((one) => one[name] !== newest[name]) ?? newest;
    if (Object.hasOwn(item, name) && words?.includes(item[name]) !== false)
      trials.push([name, String(item[name]), item]);
  }
  const middle = items[Math.floor(items.length / 2)];
  for (const name of listing.time === undefined ? [] : ["start_date", "end_date"])
    trials.push([name, middle[listing.time!], middle]);
  for (const [name, value, item] of trials) {
    const exchange = await requestPage(context, listing, { [name]: value });
    if (exchange === undefined) continue;
    checkItems(verdict, listing, exchange);
    const isContained =
      item === undefined ||
      listing.getItems(exchange.json).some((one) => listing.getId(one) === listing.getId(item));
    verdict.expect(
      isContained,
      `${listing.operation} with ${name}=${value} leaves out ${toExcerpt(item)}`,
      "G28",
    );
  }
}
