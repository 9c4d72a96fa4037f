import type { ViewParameters } from "../../address.ts";
import { makeMatcher, parseFilter, toText } from "../../components/filter-language.ts";
import type { Outcome } from "../../components/mark.tsx";
import type { Node } from "./nodes.ts";
import { describeKind, describeNode } from "./words.ts";

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

/** Fields of the filter language. `body` is searched by the server. */
const FIELDS: Readonly<Record<string, (node: Node) => unknown>> = {
  status: ({ request }) => request?.status ?? "",
  code: ({ request }) => request?.code,
  op: ({ request }) => request?.operation,
  method: ({ request }) => request?.method,
  path: ({ request }) => request?.path,
  user: ({ request }) => request && (request.principal ?? "anonymous"),
  by: ({ request, fault }) => [fault?.by, request?.decision],
  ms: ({ wait }) => wait,
  kind: describeKind,
  about: ({ entry }) => entry?.subject,
  changes: ({ entry }) => Object.keys(entry?.changes ?? {}),
  id: ({ request, entry, seq }) => [request?.id, entry?.id, seq],
};
export const FIELD_NAMES = [...Object.keys(FIELDS), "body"];

/** A predicate for nodes; an empty filter accepts all. `withBody` has the entries whose bodies contain the wanted text. */
export function makeFilter(
  { text, outcomes, from = 0, to = Number.POSITIVE_INFINITY }: Filter,
  withBody?: ReadonlySet<number>,
): (node: Node) => boolean {
  const terms = parseFilter(text);
  const isFound = makeMatcher<Node>(
    terms.filter(({ field }) => field !== "body"),
    // A field without a value differs from an unknown field.
    (node, field) => (field in FIELDS ? (FIELDS[field]!(node) ?? "") : undefined),
    joinText,
  );
  const body = terms.find(({ field }) => field === "body");
  return (node) =>
    node.seq >= from &&
    node.seq <= to &&
    (outcomes.size === 0 || [...outcomes].some((outcome) => matchesOutcome(node, outcome))) &&
    isFound(node) &&
    (body === undefined || withBody?.has(node.seq) !== body.isExcluded);
}

/** A delayed request also has the outcome of its answer. */
export function matchesOutcome({ outcome, fault }: Node, wanted: string): boolean {
  if (wanted === "delayed") return fault !== undefined && fault.delay_ms > 0;
  return outcome === wanted || ALSO[outcome] === wanted;
}

const ALSO: Partial<Record<Outcome, string>> = { delayed: "ok", rewind: "other" };

const TEXTS = new WeakMap<Node, string>();

function joinText(node: Node): string {
  let text = TEXTS.get(node);
  if (text === undefined) {
    const { status, code, operation, principal, decision, id } = node.request ?? {};
    const own = [describeNode(node), describeKind(node), status, code, operation, principal, decision, id];
    text = [...own, node.entry?.subject, node.entry?.id].map(toText).join("\n");
    TEXTS.set(node, text);
  }
  return text;
}
