import { type Check, type Context, seenIn } from "../check.ts";
import type { Exchange } from "../target.ts";
import type { Verdict } from "../verdict.ts";

// biome-ignore lint/suspicious/noExplicitAny: items of every shape
type Item = any;

interface Listing {
  operation: string;
  section: string;
  /** Names of the page size and the offset; `take` and `skip` are in the body of a POST. */
  size: "limit" | "take";
  offset: "offset" | "skip";
  /** Page size and offset as the first answer must have applied them, null where none is shown. */
  defaults: readonly [number | null, number];
  items: (body: Item) => Item[];
  total: (body: Item) => unknown;
  /** Where the answer says what was applied. */
  applied?: (body: Item) => { size: unknown; offset: unknown };
  appliedGap?: string;
  /** Identifies an item. */
  id: (item: Item) => unknown;
}

const LISTINGS: readonly Listing[] = [
  {
    operation: "music_collections.list_tracks",
    section: "4.4",
    size: "limit",
    offset: "offset",
    defaults: [200, 0],
    items: ({ items }) => items,
    total: () => undefined,
    applied: ({ limit, offset }) => ({ size: limit, offset }),
    id: ({ track_id }) => track_id,
  },
  {
    operation: "assistants.list_history",
    section: "4.8",
    size: "limit",
    offset: "offset",
    defaults: [50, 0],
    items: ({ audit_logs }) => audit_logs,
    total: ({ pagination }) => pagination.total,
    applied: ({ pagination: { limit, offset } }) => ({ size: limit, offset }),
    id: ({ id }) => id,
  },
  {
    operation: "transcriptions.list_sentences",
    section: "4.11",
    size: "limit",
    offset: "offset",
    defaults: [null, 0],
    items: ({ data }) => data.sentences,
    total: ({ metadata }) => metadata.total_count,
    id: ({ start, text }) => `${start} ${text}`,
  },
  {
    operation: "connector_jobs.list",
    section: "4.13",
    size: "limit",
    offset: "offset",
    defaults: [50, 0],
    items: ({ jobs }) => jobs,
    total: ({ total }) => total,
    applied: ({ limit, offset }) => ({ size: limit, offset }),
    appliedGap: "G14",
    id: ({ job_id }) => job_id,
  },
  {
    operation: "change_logs.list",
    section: "4.16",
    size: "take",
    offset: "skip",
    defaults: [50, 0],
    items: ({ logs }) => logs,
    total: ({ total_count }) => total_count,
    applied: ({ take, skip }) => ({ size: take, offset: skip }),
    id: ({ id }) => id,
  },
];

/** A short page from the second item on is what the whole list has there. */
export const pageChecks: readonly Check[] = LISTINGS.map((listing) => ({
  id: `${listing.operation}/pages`,
  family: "answers",
  section: listing.section,
  title: `${listing.operation} applies ${listing.size} and ${listing.offset}`,
  observe: seenIn(listing.operation, (verdict, exchange) => judgePage(verdict, listing, exchange)),
  run: (context) => judgePages(context, listing),
}));

/** One page by itself: what it says that it applied, and as many items as it then must have. */
function judgePage(verdict: Verdict, listing: Listing, exchange: Exchange): void {
  const { asked, json, path } = exchange;
  const sent = { ...(asked.body as object | undefined), ...asked.query } as Record<string, unknown>;
  const [usualSize, usualOffset] = listing.defaults;
  const size = Number(sent[listing.size] ?? usualSize ?? Number.NaN);
  const offset = Number(sent[listing.offset] ?? usualOffset);
  const bounded = !Number.isNaN(size);
  judgeApplied(verdict, listing, { exchange, wanted: [bounded ? size : null, offset] });
  const { length } = listing.items(json);
  if (bounded) verdict.expect(length <= size, `${path} answers ${length} items, ${size} are a page`);
  const total = listing.total(json);
  if (typeof total !== "number") return;
  const left = Math.max(0, total - offset);
  const wanted = bounded ? Math.min(size, left) : left;
  verdict.expect(
    length === wanted,
    `${path} answers ${length} items; of ${total} it is ${wanted} from ${offset}`,
  );
}

async function judgePages(context: Context, listing: Listing): Promise<void> {
  const { verdict } = context;
  const first = context.first(listing.operation);
  if (first === undefined || !isReadable(listing, first.exchange)) return;
  const whole = listing.items(first.exchange.json).map(listing.id);
  // With something left behind it, so that a page of one too many shows.
  const size = Math.max(1, Math.min(2, whole.length - 2));
  const window = { [listing.size]: size, [listing.offset]: 1 };
  const sent = listing.size === "take" ? { body: window } : { query: window };
  const page = await context.sendAndJudge(listing.operation, { params: first.params, ...sent });
  if (page === undefined) return;
  judgePage(verdict, listing, first.exchange);
  judgePage(verdict, listing, page);
  const part = listing.items(page.json).map(listing.id);
  const { path } = page;
  if (listing.total(page.json) !== listing.total(first.exchange.json)) {
    verdict.note("the list has changed meanwhile; its pages were not compared");
    return;
  }
  const expected = whole.slice(1, 1 + size);
  const fits = JSON.stringify(part) === JSON.stringify(expected);
  verdict.expect(fits, `${path} answers ${part.join(", ")}; the list has there ${expected.join(", ")}`);
  if (whole.length < 3) verdict.note(`the list has ${whole.length} items, so this shows little`);
}

/** A body that its own check has refused is not looked into. */
function isReadable(listing: Listing, { json }: Exchange): boolean {
  try {
    return Array.isArray(listing.items(json));
  } catch {
    return false;
  }
}

function judgeApplied(
  verdict: Verdict,
  { applied, appliedGap, operation }: Listing,
  { exchange, wanted }: { exchange: Exchange; wanted: readonly [number | null, number] },
): void {
  if (applied === undefined) return;
  const { size, offset } = applied(exchange.json);
  const [wantedSize, wantedOffset] = wanted;
  const fits = (wantedSize === null || size === wantedSize) && offset === wantedOffset;
  verdict.expect(
    fits,
    `${operation} says that it applied ${size} and ${offset}, not ${wantedSize} and ${wantedOffset}`,
    appliedGap,
  );
}
