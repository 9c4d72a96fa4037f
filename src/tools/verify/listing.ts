import type { Verdict } from "./verdict.ts";

// biome-ignore lint/suspicious/noExplicitAny: items of every shape
export type Item = any;

export interface Listing {
  operation: string;
  section: string;
  /** Names of the page size and the offset; `take` and `skip` are in the body of a POST. */
  size: "limit" | "take";
  offset: "offset" | "skip";
  /** Default page size; null: all items. */
  defaultSize: number | null;
  getItems: (body: Item) => Item[];
  getTotal?: (body: Item) => unknown;
  /** The fields of the answer that show the applied size and offset. */
  getApplied?: (body: Item) => { size: unknown; offset: unknown; has_more?: unknown };
  appliedAssumption?: string;
  /** Identifies an item. */
  getId: (item: Item) => unknown;
  /** A second check, of order and filters. */
  extraCheck?: { name: "filters" | "order"; title: string };
  /** The field by which items are sorted, with "-" for descending, and the assumption behind that. */
  order?: string;
  orderAssumption?: string | undefined;
  /** The field that start_date and end_date filter. */
  time?: string;
  /** Whether items may change their positions while their number stays the same, so that pages cannot be compared. */
  mayChange?: (sent: Record<string, unknown>) => boolean;
  checkItem?: (verdict: Verdict, item: Item, sent: Record<string, unknown>) => void;
}

/** The common parts of both logs of section 2.6. */
const logEntries = {
  getId: ({ id }: Item) => id,
  order: "-timestamp",
  orderAssumption: "G28",
  time: "timestamp",
  defaultSize: 50,
  checkItem(verdict: Verdict, { id, action, changes, resource_type, resource_id }: Item, sent: Item) {
    const { assistant_id = resource_id } = sent;
    const isAbout = resource_type !== "assistant" || resource_id === assistant_id;
    verdict.expect(isAbout, `${id} in the history of ${assistant_id} is about ${resource_id}`);
    if (action === "created") verdict.expect(changes?.length === 0, `${id} is a creation with changes`);
  },
};

export const LISTINGS: readonly Listing[] = [
  {
    operation: "music_collections.list_tracks",
    section: "4.4",
    size: "limit",
    offset: "offset",
    defaultSize: 200,
    getItems: ({ items }) => items,
    getApplied: ({ limit, offset }) => ({ size: limit, offset }),
    getId: ({ track_id, position }) => `${track_id} at ${position}`,
    extraCheck: { name: "order", title: "is sorted by position, from zero" },
    order: "position",
  },
  {
    operation: "assistants.list_history",
    section: "4.8",
    size: "limit",
    offset: "offset",
    ...logEntries,
    getItems: ({ audit_logs }) => audit_logs,
    getTotal: ({ pagination }) => pagination.total,
    getApplied: ({ pagination: { limit, ...pagination } }) => ({ size: limit, ...pagination }),
    extraCheck: { name: "filters", title: "filters, newest first" },
  },
  {
    operation: "transcriptions.list_sentences",
    section: "4.11",
    size: "limit",
    offset: "offset",
    defaultSize: null,
    getItems: ({ data }) => data.sentences,
    getTotal: ({ metadata }) => metadata.total_count,
    getId: ({ start, end, text }) => `${start} ${end} ${text}`,
  },
  {
    operation: "connector_jobs.list",
    section: "4.13",
    size: "limit",
    offset: "offset",
    defaultSize: 50,
    getItems: ({ jobs }) => jobs,
    getTotal: ({ total }) => total,
    getApplied: ({ limit, offset }) => ({ size: limit, offset }),
    appliedAssumption: "G14",
    getId: ({ job_id }) => job_id,
    mayChange: ({ status, order_by = "start_time" }) =>
      status !== undefined || !/^-?start_time$/.test(String(order_by)),
    extraCheck: { name: "filters", title: "filters and orders its jobs" },
    order: "-start_time",
    orderAssumption: "G14",
    time: "start_time",
  },
  {
    operation: "change_logs.list",
    section: "4.16",
    size: "take",
    offset: "skip",
    ...logEntries,
    getItems: ({ logs }) => logs,
    getTotal: ({ total_count }) => total_count,
    getApplied: ({ take, skip }) => ({ size: take, offset: skip }),
    extraCheck: { name: "filters", title: "filters, newest first" },
  },
];
