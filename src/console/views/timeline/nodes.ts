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
}

/** A node and how deep it stands below what led to it. */
export interface Row extends Node {
  level: number;
}

/** Requests and changes as one sequence, oldest first. */
export function nodesOf({ requests, history }: Pick<Story, "requests" | "history">): Node[] {
  const nodes: Node[] = [];
  const entries = new Map(history.map((entry) => [entry.id, entry]));
  const lines = new Set(requests.map(({ id }) => id));
  let r = 0;
  let h = 0;
  while (r < requests.length || h < history.length) {
    const request = requests[r];
    const entry = history[h];
    const next = nextOf({ request, entry, entries, lines });
    if (next !== "entry") r += 1;
    if (next !== "request") h += 1;
    nodes.push(
      nodeOf(nodes.length, next === "entry" ? undefined : request, next === "request" ? undefined : entry),
    );
  }
  return nodes;
}

interface Heads {
  request: RequestLine | undefined;
  entry: HistoryEntry | undefined;
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

function nodeOf(order: number, request: RequestLine | undefined, entry: HistoryEntry | undefined): Node {
  const { id, at } = (request ?? entry)!;
  return { id, order, at: Date.parse(at), request, entry, outcome: outcomeOf(request, entry) };
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
export function causalRows(nodes: readonly Node[], keep: (node: Node) => boolean): Row[] {
  const places = new Map<string, number>();
  for (const [place, { entry }] of nodes.entries()) if (entry) places.set(entry.id, place);
  const causes = nodes.map((node, place) => causeOf(node, place, places));
  const kept = new Uint8Array(nodes.length);
  for (const [place, node] of nodes.entries()) {
    if (!keep(node)) continue;
    for (let at = place; at >= 0 && kept[at] === 0; at = causes[at]!) kept[at] = 1;
  }
  const effects = new Map<number, number[]>();
  const roots: number[] = [];
  for (const [place, cause] of causes.entries()) {
    if (kept[place] === 0) continue;
    if (cause < 0) roots.push(place);
    else effects.set(cause, [...(effects.get(cause) ?? []), place]);
  }
  const rows: Row[] = [];
  const add = (place: number, level: number) => {
    rows.push({ ...nodes[place]!, level });
    for (const effect of effects.get(place) ?? []) add(effect, level + 1);
  };
  for (const root of roots.reverse()) add(root, 0);
  return rows;
}

/** The place of what led to it; -1 where nothing did that is still known. A cause came before, so there is no circle. */
function causeOf({ entry }: Node, place: number, places: ReadonlyMap<string, number>): number {
  const cause = places.get(entry?.cause ?? "") ?? places.get(entry?.advanced_by ?? "") ?? -1;
  return cause < place ? cause : -1;
}
