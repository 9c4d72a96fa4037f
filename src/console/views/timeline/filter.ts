import type { ViewParameters } from "../../address.ts";
import type { Outcome } from "../../components/mark.tsx";
import type { Node } from "./nodes.ts";
import { nodeKind, nodeTitle } from "./words.ts";

export const OUTCOMES: readonly [outcome: Outcome, word: string][] = [
  ["ok", "OK"],
  ["refused", "Rejected"],
  ["failed", "Error"],
  ["fault", "Injected"],
  ["other", "Changes"],
];

export interface Filter {
  text: string;
  outcomes: ReadonlySet<string>;
  /** `seq` of the first and last node of the zoomed range. */
  from: number | undefined;
  to: number | undefined;
}

export function readFilter({ get }: ViewParameters): Filter {
  return {
    text: get("find") ?? "",
    outcomes: new Set(get("show")?.split(" ") ?? []),
    from: toSeq(get("from")),
    to: toSeq(get("to")),
  };
}

function toSeq(text: string | undefined): number | undefined {
  return Number(text) || undefined;
}

/** A predicate for nodes; an empty filter accepts all. */
export function makeFilter({
  text,
  outcomes,
  from = 0,
  to = Number.POSITIVE_INFINITY,
}: Filter): (node: Node) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);

  return (node) =>
    node.seq >= from &&
    node.seq <= to &&
    (outcomes.size === 0 || outcomes.has(node.outcome)) &&
    (words.length === 0 || words.every((word) => isFoundBy(node, word)));
}

/** Does not build a text per node: the filter checks 100,000 nodes for every key typed. */
function isFoundBy(node: Node, word: string): boolean {
  const { request, entry } = node;
  const has = (text: string | number | null | undefined) =>
    text !== null && text !== undefined && String(text).toLowerCase().includes(word);
  return (
    has(nodeTitle(node)) ||
    has(nodeKind(node)) ||
    has(request?.status) ||
    has(request?.code) ||
    has(request?.operation) ||
    has(request?.principal) ||
    has(request?.decision) ||
    has(request?.id) ||
    has(entry?.subject) ||
    has(entry?.id)
  );
}
