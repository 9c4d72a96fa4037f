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
    (words.length === 0 || words.every((word) => textOf(node).includes(word)));
}

function textOf(node: Node): string {
  const { request, entry } = node;
  return [
    kindOf(node),
    titleOf(node),
    request?.status,
    request?.code,
    request?.operation,
    request?.principal,
    request?.decision,
    request?.id,
    entry?.subject,
    entry?.id,
  ]
    .join(" ")
    .toLowerCase();
}
