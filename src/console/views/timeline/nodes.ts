import type { HistoryEntry, RequestLine } from "../../api/types.ts";
import type { Story } from "../../live/story.ts";
import type { Outcome } from "../../parts/mark.tsx";

/** One thing that happened: a request, a change of the world, or a request that changed it. */
export interface Node {
  /** Of the request where there is one, else of the history's entry; it is what addresses name. */
  id: string;
  /** Position among all, from 0. */
  order: number;
  /** Milliseconds since 1970, on the sandbox's clock. */
  at: number;
  request: RequestLine | undefined;
  entry: HistoryEntry | undefined;
  outcome: Outcome;
  /** The `order` of what led to it; -1 where nothing did that is still known. */
  cause: number;
  /** How deep it stands below what led to it. */
  level: number;
}

/** What is known of a story, for the next one: most of it is the same. */
export interface Told {
  requests: readonly RequestLine[];
  history: readonly HistoryEntry[];
  nodes: readonly Node[];
  /** Of entries, by their id. */
  places: Map<string, number>;
}

/** So many of the last are looked at anew: an entry may be told a little after its request, or before it. */
const UNSETTLED = 2000;

type Sequences = Pick<Story, "requests" | "history">;

/** Requests and changes as one sequence, oldest first. */
export function nodesOf(story: Sequences): readonly Node[] {
  return nodesAfter(undefined, story).nodes;
}

/** The same, at the cost of what is new: a page that follows a burst has a hundred thousand already. */
export function nodesAfter(told: Told | undefined, { requests, history }: Sequences): Told {
  const nodes = told === undefined ? [] : settledNodes(told, { requests, history });
  const places = nodes.length === 0 ? new Map<string, number>() : told!.places;
  let h = nodes.reduce((count, { entry }) => count + (entry ? 1 : 0), 0);
  let r = nodes.reduce((count, { request }) => count + (request ? 1 : 0), 0);
  const entries = new Map(history.slice(h).map((entry) => [entry.id, entry]));
  const lines = new Set(requests.slice(r).map(({ id }) => id));
  while (r < requests.length || h < history.length) {
    const next = nextOf({ request: requests[r], entry: history[h], entries, lines });
    const request = next === "entry" ? undefined : requests[r];
    const entry = next === "request" ? undefined : history[h];
    if (request) r += 1;
    if (entry) {
      places.set(entry.id, nodes.length);
      h += 1;
    }
    nodes.push(nodeOf({ request, entry }, nodes, places));
  }
  return { requests, history, nodes, places };
}

/** Those from the beginning on that a story shares with the one before, but for the last. */
function settledNodes({ nodes, ...before }: Told, after: Sequences): Node[] {
  const settled = nodes.slice(0, Math.max(0, nodes.length - UNSETTLED));
  let r = 0;
  let h = 0;
  const end = settled.findIndex(({ request, entry }) => {
    if (request && after.requests[r++] !== request) return true;
    return entry !== undefined && after.history[h++] !== entry;
  });
  // Places of what is no longer there would be taken for causes.
  if (end >= 0 || before.requests.length > after.requests.length) return [];
  return settled;
}

interface Heads {
  request: RequestLine | undefined;
  entry: HistoryEntry | undefined;
  /** Those that are still to come. */
  entries: ReadonlyMap<string, HistoryEntry>;
  lines: ReadonlySet<string>;
}

/** The two sequences are tied together by requests that changed something, and by what the journal had reached. */
function nextOf({ request, entry, entries, lines }: Heads): "request" | "entry" | "both" {
  if (request === undefined) return "entry";
  if (entry === undefined) return "request";
  if (request.history === entry.id) return "both";
  const own = request.history === null ? undefined : entries.get(request.history);
  if (own !== undefined && own.sequence > entry.sequence) return "entry";
  if (entry.request !== null && lines.has(entry.request)) return "request";
  return request.sequence <= entry.journal_position ? "request" : "entry";
}

function nodeOf(
  { request, entry }: Pick<Node, "request" | "entry">,
  nodes: readonly Node[],
  places: ReadonlyMap<string, number>,
): Node {
  const { id, at } = (request ?? entry)!;
  const order = nodes.length;
  const cause = entry === undefined ? -1 : causeOf(entry, order, places);
  return {
    id,
    order,
    at: Date.parse(at),
    request,
    entry,
    outcome: outcomeOf(request, entry),
    cause,
    level: cause < 0 ? 0 : nodes[cause]!.level + 1,
  };
}

export function outcomeOf(request: RequestLine | undefined, entry: HistoryEntry | undefined): Outcome {
  if (request === undefined) return deliveryOutcome(entry?.delivered);
  const { status, decision } = request;
  if (decision.startsWith("fault:")) return "fault";
  if (status === 0 || status >= 500) return "failed";
  return status >= 400 ? "refused" : "ok";
}

/** Null for what is no attempt to deliver. */
function deliveryOutcome(delivered: boolean | null | undefined): Outcome {
  if (typeof delivered !== "boolean") return "other";
  return delivered ? "ok" : "failed";
}

/**
 * The rows of the list: what was caused stands below its cause, in its order; what has no cause stands newest first.
 * Of what is kept by `keep`, the causes stay too, so that an effect is never seen without them.
 */
export function causalRows(nodes: readonly Node[], keep: (node: Node) => boolean): Node[] {
  const kept = new Uint8Array(nodes.length);
  for (const node of nodes) {
    if (!keep(node)) continue;
    for (let at = node.order; at >= 0 && kept[at] === 0; at = nodes[at]!.cause) kept[at] = 1;
  }
  const effects = new Map<number, Node[]>();
  const roots: Node[] = [];
  for (const node of nodes) {
    if (kept[node.order] === 0) continue;
    if (node.cause < 0) roots.push(node);
    else if (effects.has(node.cause)) effects.get(node.cause)!.push(node);
    else effects.set(node.cause, [node]);
  }
  const rows: Node[] = [];
  const add = (node: Node) => {
    rows.push(node);
    for (const effect of effects.get(node.order) ?? []) add(effect);
  };
  for (const root of roots.reverse()) add(root);
  return rows;
}

/** The place of what led to it; -1 where nothing did that is still known. A cause came before, so there is no circle. */
function causeOf(entry: HistoryEntry, order: number, places: ReadonlyMap<string, number>): number {
  const cause = places.get(entry.cause ?? "") ?? places.get(entry.advanced_by ?? "") ?? -1;
  return cause < order ? cause : -1;
}
