import type { ViewParameters } from "../../address.ts";
import type { Outcome } from "../../parts/mark.tsx";
import type { Node } from "./nodes.ts";
import { kindOf, titleOf } from "./words.ts";

export const OUTCOMES: readonly [outcome: Outcome, word: string][] = [
  ["ok", "fine"],
  ["refused", "refused"],
  ["failed", "failed"],
  ["fault", "by a fault"],
  ["other", "other changes"],
];

export interface Filter {
  text: string;
  outcomes: ReadonlySet<string>;
  /** Ids of the first and the last node, as brushed. */
  from: string | undefined;
  to: string | undefined;
}

export function filterOf({ get }: ViewParameters): Filter {
  return {
    text: get("find") ?? "",
    outcomes: new Set(get("show")?.split(" ") ?? []),
    from: get("from"),
    to: get("to"),
  };
}

/** Whether a node is to be seen; everything is where the filter is empty. */
export function keeperOf(filter: Filter, nodes: readonly Node[]): (node: Node) => boolean {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const orderOf = (id: string | undefined, otherwise: number) =>
    (id === undefined ? undefined : nodes.find((node) => node.id === id)?.order) ?? otherwise;
  const first = orderOf(filter.from, 0);
  const last = orderOf(filter.to, Number.POSITIVE_INFINITY);
  return (node) =>
    node.order >= first &&
    node.order <= last &&
    (filter.outcomes.size === 0 || filter.outcomes.has(node.outcome)) &&
    (words.length === 0 || words.every((word) => isFoundBy(node, word)));
}

/** Without making a text of each: a hundred thousand are looked at for every letter that is typed. */
function isFoundBy(node: Node, word: string): boolean {
  const { request, entry } = node;
  const has = (text: string | number | null | undefined) =>
    text !== null && text !== undefined && String(text).toLowerCase().includes(word);
  return (
    has(titleOf(node)) ||
    has(kindOf(node)) ||
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
