import { createMatcher, parseFilter, toSearchText } from "../../components/filter-language.ts";
import type { Outcome } from "../../components/status.tsx";
import type { Node } from "./nodes.ts";
import { describeCaller, describeKind, describeNode } from "./words.ts";

export const OUTCOMES: readonly [outcome: Outcome, word: string][] = [
  ["ok", "OK"],
  ["delayed", "Delayed"],
  ["refused", "Rejected"],
  ["failed", "Error"],
  ["fault", "Injected"],
  ["other", "Control and timers"],
];

export interface Filter {
  text: string;
  outcomes: ReadonlySet<string>;
  /** `seq` of the first and last node of the zoomed range. */
  from: number | undefined;
  to: number | undefined;
}

/** By text, the `seq` of each entry whose bodies contain it. */
export type BodyMatches = ReadonlyMap<string, ReadonlySet<number>>;

/** Fields of the filter language. `body` is searched by the server. */
const FIELDS: Readonly<Record<string, (node: Node) => unknown>> = {
  status: ({ request }) => request?.status,
  code: ({ request }) => [request?.sent_code, request?.code],
  op: ({ request }) => request?.operation,
  method: ({ request }) => request?.method,
  path: ({ request }) => request?.path,
  user: ({ request }) => request && describeCaller(request),
  by: ({ request, fault }) => [fault?.by, request?.decision],
  ms: ({ durationMs }) => durationMs,
  kind: describeKind,
  about: ({ entry }) => entry?.subject,
  changes: ({ entry }) => Object.keys(entry?.changes ?? {}),
  id: ({ request, entry, seq }) => [request?.id, entry?.id, seq],
};
export const FIELD_NAMES = [...Object.keys(FIELDS), "body"];

/**
 * A predicate for nodes. `bodyMatches` has, by the text of each `body:` term, the `seq` of the entries whose bodies contain
 * it; undefined while loading.
 */
export function createFilter(
  { text, outcomes, from = 0, to = Number.POSITIVE_INFINITY }: Filter,
  bodyMatches?: BodyMatches,
): (node: Node) => boolean {
  const terms = parseFilter(text);
  const matchesTerms = createMatcher<Node>(
    terms.filter(({ field }) => field !== "body"),
    // Undefined means an unknown field, so a known field without a value is empty.
    (node, field) => (Object.hasOwn(FIELDS, field) ? (FIELDS[field]!(node) ?? "") : undefined),
    joinText,
  );
  const bodyTerms = terms.filter(({ field }) => field === "body");
  const matchesBody = (node: Node) =>
    bodyTerms.every(({ value, isExcluded }) => {
      const seqs = bodyMatches?.get(value);
      return seqs === undefined || seqs.has(node.seq) !== isExcluded;
    });
  return (node) =>
    node.seq >= from &&
    node.seq <= to &&
    (outcomes.size === 0 || [...outcomes].some((outcome) => matchesOutcome(node, outcome))) &&
    matchesTerms(node) &&
    matchesBody(node);
}

/** A delayed request also has the outcome of its answer. */
export function matchesOutcome({ outcome, fault }: Node, expected: string): boolean {
  if (expected === "delayed") return fault !== undefined && fault.delay_ms > 0;
  return outcome === expected || BROADER_OUTCOME[outcome] === expected;
}

const BROADER_OUTCOME: Partial<Record<Outcome, string>> = { delayed: "ok", rewind: "other" };

const TEXT_CACHE = new WeakMap<Node, string>();

function joinText(node: Node): string {
  let text = TEXT_CACHE.get(node);
  if (text === undefined) {
    const { status, code, sent_code, operation, principal, decision, id } = node.request ?? {};
    const requestParts = [
      describeNode(node),
      describeKind(node),
      status,
      sent_code,
      code,
      operation,
      principal,
      decision,
      id,
    ];
    text = [...requestParts, node.entry?.subject, node.entry?.id].map(toSearchText).join("\n");
    TEXT_CACHE.set(node, text);
  }
  return text;
}
