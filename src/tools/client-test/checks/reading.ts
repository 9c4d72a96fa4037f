import type { JournalEntry } from "../../../../types/control-api.ts";
import {
  type ClientCheck,
  describeRequest,
  failed,
  findHeader,
  isRead,
  isSameCall,
  notObservable,
  passed,
} from "../client-check.ts";

const usesEtags: ClientCheck = {
  id: "uses-etags",
  title: "asks with If-None-Match for what it has read before",
  severity: "warning",
  advice: "Keep the ETag with the answer, and send it as If-None-Match; a 304 costs neither side the body.",
  read({ baseline }) {
    const { requests } = baseline;
    const repeats = requests.filter((entry) => {
      const before = requests.find((one) => one.sequence < entry.sequence && isSameCall(one, entry));
      return isRead(entry) && findHeader(before?.response.headers ?? [], "etag") !== undefined;
    });
    const [first] = repeats;
    if (first === undefined) return notObservable("the client read nothing twice that has an ETag");
    const withoutEtag = repeats.filter(
      ({ request }) => findHeader(request.headers, "if-none-match") === undefined,
    );
    return withoutEtag.length > 0
      ? failed(`it read ${describeRequest(withoutEtag[0]!)} again without If-None-Match`, withoutEtag)
      : passed("it sent If-None-Match", repeats);
  },
};

type Fields = Record<string, unknown>;

interface Page {
  entry: JournalEntry;
  offset: number;
  /** The page size that it asks for, if it asks for one. */
  limit: unknown;
  size: number;
  /** Undefined if the answer does not say. */
  hasMore: boolean | undefined;
}

const readsAllPages: ClientCheck = {
  id: "reads-all-pages",
  title: "reads a list to its end, and each page once",
  severity: "error",
  advice:
    "Go on until the answer says that there are no more items; ask for the next page by the number of items that you received, not by the number that you asked for.",
  read({ baseline }) {
    const lists = listReadings(baseline.requests).filter((pages) => pages.length > 1);
    if (lists.length === 0) return notObservable("the client read no list of several pages");
    for (const pages of lists) {
      const evidence = pages.map(({ entry }) => entry);
      // Pages that are requested together arrive in any order.
      pages.sort((a, b) => a.offset - b.offset);
      const name = describeRequest(evidence[0]!);
      for (const [at, page] of pages.entries()) {
        if (pages.slice(0, at).some(({ offset }) => offset === page.offset))
          return failed(`it read the page of ${name} at ${page.offset} twice`, evidence);
        const before = pages[at - 1];
        if (before !== undefined && page.offset !== before.offset + before.size)
          return failed(
            `after ${before.size} items at ${before.offset} of ${name} it asked for those at ${page.offset}`,
            evidence,
          );
      }
      if (pages.at(-1)!.hasMore) return failed(`it stopped before the end of ${name}`, evidence);
    }
    return passed("it read each list to its end");
  },
};

/** The pages of each reading of a list, in the order of the requests. */
function listReadings(requests: readonly JournalEntry[]): Page[][] {
  const readings: Page[][] = [];
  /** The last reading of each list, by path and filters. */
  const last = new Map<string, Page[]>();
  for (const [at, entry] of requests.entries()) {
    const { offset, limit, filters } = readQuery(entry);
    const page = toPage(entry, { offset: Number(offset ?? 0), limit });
    const asksForPage = (offset ?? limit ?? null) !== null;
    if (page === undefined || !asksForPage) continue;
    const key = `${entry.path}?${filters} ${entry.principal}`;
    let pages = last.get(key);
    if (pages === undefined || restarts(pages, page, requests[at - 1])) {
      pages = [];
      readings.push(pages);
      last.set(key, pages);
    }
    pages.push(page);
  }
  return readings;
}

/** Whether the page begins another reading: after the end, after another request, or with another page size. */
function restarts(
  pages: readonly Page[],
  { offset, limit }: Page,
  previous: JournalEntry | undefined,
): boolean {
  const [first] = pages;
  const mayRestart =
    pages.some(({ hasMore }) => !hasMore) || previous !== pages.at(-1)!.entry || limit !== first!.limit;
  return mayRestart && offset === first!.offset;
}

/** Which items a request asks for: in its query, or for the change log in its body (section 4.16). */
function readQuery({ operation, request }: JournalEntry) {
  if (operation === "change_logs.list") {
    const { skip, take, ...filters } = (request.body ?? {}) as Fields;
    return { offset: skip, limit: take, filters: JSON.stringify(filters) };
  }
  const query = new URLSearchParams(request.query);
  const [offset, limit] = [query.get("offset"), query.get("limit")];
  query.delete("offset");
  query.delete("limit");
  query.sort();
  return { offset, limit, filters: query.toString() };
}

/** Undefined unless the answer is a list. */
function toPage(entry: JournalEntry, part: Pick<Page, "offset" | "limit">): Page | undefined {
  const isList = isRead(entry) || entry.operation === "change_logs.list";
  if (!isList || entry.status !== 200) return undefined;
  const body = entry.response.body as Fields | unknown[] | undefined;
  if (typeof body !== "object" || body === null) return undefined;
  const { data, pagination, metadata } = body as Record<string, Fields | undefined>;
  // The answer itself is the list, or one of its fields, or a field of `data`.
  const items = [body, ...Object.values(body), ...Object.values(data ?? {})].find(Array.isArray);
  if (items === undefined) return undefined;
  const size = items.length;
  const { total_count, total = total_count, has_more } = { ...body, ...metadata, ...pagination } as Fields;
  const byTotal = typeof total === "number" ? part.offset + size < total : undefined;
  return { entry, ...part, size, hasMore: typeof has_more === "boolean" ? has_more : byTotal };
}

export const READING_CHECKS: readonly ClientCheck[] = [readsAllPages, usesEtags];
