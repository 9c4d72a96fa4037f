import type { ViewParameters } from "../../address.ts";
import type { Outcome } from "../../components/mark.tsx";
import type { Node } from "./nodes.ts";
import { nodeKind, nodeTitle } from "./words.ts";

export const OUTCOMES: readonly [outcome: Outcome, word: string][] = [
  ["ok", "OK"],
  ["delayed", "Delayed"],
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
    (outcomes.size === 0 || [...outcomes].some((outcome) => matchesOutcome(node, outcome))) &&
    (words.length === 0 || words.every((word) => isFoundBy(node, word)));
}

/** A delayed request also has the outcome of its answer. */
export function matchesOutcome({ outcome, fault }: Node, wanted: string): boolean {
  if (wanted === "delayed") return fault !== undefined && fault.delay_ms > 0;
  return outcome === wanted || ALSO[outcome] === wanted;
}

const ALSO: Partial<Record<Outcome, string>> = { delayed: "ok", rewind: "other" };

function isFoundBy(node: Node, word: string): boolean {
  const { request, entry } = node;
  const { status, code, operation, principal, decision, id } = request ?? {};
  const texts = [status, code, operation, principal, decision, id, entry?.subject, entry?.id];
  return [nodeTitle(node), nodeKind(node), ...texts].some((text) =>
    String(text ?? "")
      .toLowerCase()
      .includes(word),
  );
}
