import type { HistoryEntry, RequestLine } from "../../../../types/control-api.ts";
import { getOrAdd } from "../../../engine/maps.ts";
import { type Outcome, toStatusOutcome } from "../../components/status.tsx";
import type { Attempt, TimelineData } from "../../live/timeline-data.ts";

/** A timeline entry: a request, a change, or a request with its change. */
export interface Node {
  /** Number of the entry in the sandbox; unique, unlike request ids, which repeat after a rewind. */
  seq: number;
  /** Position in the timeline, from 0. */
  order: number;
  /** Milliseconds since 1970, sandbox time. */
  at: number;
  request: RequestLine | undefined;
  entry: HistoryEntry | undefined;
  fault: RequestLine["fault"];
  durationMs: number | undefined;
  /** The entry that a rewind went back to; undefined also after it has expired. */
  target: Node | undefined;
  outcome: Outcome;
  /** `order` of the cause; -1 if there is none, or it has expired. */
  cause: number;
  /** Depth below the root cause. */
  level: number;
}

type TimelineLists = Pick<TimelineData, "requests" | "history" | "attempts">;

/** The nodes of the previous update, most of which can be reused. */
interface TimelineCache extends TimelineLists {
  nodes: readonly Node[];
  /** Position of history entries by id. */
  positions: Map<string, number>;
}

export const EMPTY_CACHE: TimelineCache = {
  requests: [],
  history: [],
  attempts: new Map(),
  nodes: [],
  positions: new Map(),
};

/** Merges requests and history into one list, oldest first. */
export function buildNodes(lists: TimelineLists): readonly Node[] {
  return updateNodes(EMPTY_CACHE, lists).nodes;
}

/** Like `buildNodes`, but rebuilds only the nodes from the first change on: a page may have 100,000. */
export function updateNodes(cache: TimelineCache, lists: TimelineLists): TimelineCache {
  const { requests, history, attempts } = lists;
  const firstChange = findFirstChange(cache, lists);
  const reusedCount = cache.nodes.findLastIndex(({ seq }) => seq < firstChange) + 1;
  const nodes = cache.nodes.slice(0, reusedCount);
  const positions = reusedCount === 0 ? new Map<string, number>() : cache.positions;
  const known = cache.nodes.slice(reusedCount).flatMap(({ request }) => request ?? []);
  const unsorted = reusedCount === 0 ? requests : [...requests.slice(cache.requests.length), ...known];
  // A request is listed when it ends, but has the `seq` of its change, which can be smaller than those listed before it.
  const lines = unsorted.toSorted((a, b) => a.seq - b.seq);
  let r = 0;
  let h = history.findLastIndex(({ seq }) => seq < firstChange) + 1;
  while (r < lines.length || h < history.length) {
    const seq = Math.min(
      lines[r]?.seq ?? Number.POSITIVE_INFINITY,
      history[h]?.seq ?? Number.POSITIVE_INFINITY,
    );
    const request = lines[r]?.seq === seq ? lines[r++] : undefined;
    const entry = history[h]?.seq === seq ? history[h++] : undefined;
    const cause = entry === undefined ? -1 : findCause(entry, positions);
    if (entry !== undefined) positions.set(entry.id, nodes.length);
    const attempt = entry && attempts.get(entry.id);
    const target = isRewind(entry) ? nodes[positions.get(entry?.subject ?? "") ?? -1] : undefined;
    nodes.push(createNode({ seq, request, entry, cause, target }, attempt, nodes));
  }
  return { ...lists, nodes, positions };
}

/** The smallest `seq` that is new or changed; 0 if old entries were evicted. */
function findFirstChange(cache: TimelineCache, { requests, history, attempts }: TimelineLists): number {
  const oldCount = cache.requests.length;
  const lastIndex = oldCount - 1;
  if (
    oldCount === 0 ||
    requests[0] !== cache.requests[0] ||
    requests[lastIndex] !== cache.requests[lastIndex]
  )
    return 0;
  const changedIndex = cache.history.findIndex((entry, at) => entry !== history[at]);
  if (changedIndex === 0) return 0;
  const changedEntry = history[changedIndex < 0 ? cache.history.length : changedIndex];
  // An attempt may arrive in the message after its entry.
  const updatedNodes =
    attempts === cache.attempts
      ? []
      : cache.nodes.filter(({ entry }) => entry && attempts.get(entry.id) !== cache.attempts.get(entry.id));
  return [...requests.slice(oldCount), ...updatedNodes].reduce(
    (smallest, { seq }) => Math.min(smallest, seq),
    changedEntry?.seq ?? Number.POSITIVE_INFINITY,
  );
}

/** A cause is always earlier, so there are no cycles. */
function findCause({ cause, advanced_by }: HistoryEntry, positions: ReadonlyMap<string, number>): number {
  return positions.get(cause ?? "") ?? positions.get(advanced_by ?? "") ?? -1;
}

function createNode(
  parts: Pick<Node, "seq" | "request" | "entry" | "cause" | "target">,
  attempt: Attempt | undefined,
  nodes: readonly Node[],
): Node {
  const { request, entry, cause } = parts;
  const { fault, duration_ms: durationMs } = request ?? attempt ?? {};
  return {
    ...parts,
    fault,
    durationMs,
    order: nodes.length,
    at: Date.parse((request ?? entry)!.at),
    outcome: toOutcome({ request, entry, fault }),
    level: cause < 0 ? 0 : nodes[cause]!.level + 1,
  };
}

/**
 * Finds the node of an address: by `seq`, or by the id of a request or history entry, as reports and responses have it.
 * A repeated request id means the newest.
 */
export function findNode(nodes: readonly Node[], address: string): Node | undefined {
  const seq = Number(address);
  return nodes.findLast(
    (node) => node.seq === seq || node.request?.id === address || node.entry?.id === address,
  );
}

/** A fault that only delayed the answer turns `ok` into `delayed`; other outcomes of the answer stay. */
export function toOutcome({ request, entry, fault }: Pick<Node, "request" | "entry" | "fault">): Outcome {
  if (fault && fault.replaced !== "nothing") return "fault";
  const ownOutcome = request ? toStatusOutcome(request.status) : toChangeOutcome(entry!);
  return ownOutcome === "ok" && fault ? "delayed" : ownOutcome;
}

/** `delivered` is null for entries that are not delivery attempts. */
function toChangeOutcome({ kind, delivered }: HistoryEntry): Outcome {
  if (kind === "restore") return "rewind";
  if (delivered === null) return "other";
  return delivered ? "ok" : "failed";
}

/** A restore to another entry of the history, not to a snapshot. */
export function isRewind(entry: Node["entry"]): boolean {
  return entry?.operation === "history.rewind";
}

function isAdvance({ entry }: Node): boolean {
  return entry?.operation === "clock.advance";
}

/**
 * Entries by their start: the position of a slow call is that of its end. No entry passes a restore, which may set the
 * clock back. Of entries with one time, an advance is the last, since the clock is later after it.
 */
export function orderByTime(nodes: readonly Node[]): readonly Node[] {
  let restoreCount = 0;
  return nodes
    .map((node) => ({ node, era: node.entry?.kind === "restore" ? ++restoreCount : restoreCount }))
    .sort(
      (a, b) =>
        a.era - b.era || a.node.at - b.node.at || Number(isAdvance(a.node)) - Number(isAdvance(b.node)),
    )
    .map(({ node }) => node);
}

/**
 * Rows of the list: root causes newest first, effects below their cause in order of time. Causes of matching nodes are
 * kept, so that an effect never appears without them.
 */
export function listCausalRows(nodes: readonly Node[], matches: (node: Node) => boolean): Node[] {
  const isKept = new Uint8Array(nodes.length);
  for (const node of nodes) {
    if (!matches(node)) continue;
    for (let at = node.order; at >= 0 && isKept[at] === 0; at = nodes[at]!.cause) isKept[at] = 1;
  }
  const effects = new Map<number, Node[]>();
  const roots: Node[] = [];
  for (const node of nodes) {
    if (isKept[node.order] === 0) continue;
    if (node.cause < 0) roots.push(node);
    else getOrAdd(effects, node.cause, () => []).push(node);
  }
  const rows: Node[] = [];
  const add = (node: Node) => {
    rows.push(node);
    for (const effect of effects.get(node.order) ?? []) add(effect);
  };
  for (const root of roots.reverse()) add(root);
  return rows;
}
