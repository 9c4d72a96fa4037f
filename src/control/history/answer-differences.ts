import { type Static, Type } from "typebox";
import { ClosedObject } from "../../engine/contract/schema.ts";
import { tryParseJson } from "../../engine/contract/text.ts";
import { getOrAdd, getOwn, isEqual, toPairs } from "../../engine/maps.ts";
import { type JournalEntry, toBodyText } from "../../engine/sandbox/journal-entry.ts";
import { decodeBody } from "../../tools/har/har-entry.ts";
import { redactBrokenJson, redactHeader, redactJson } from "../../tools/redact.ts";

const MAX_DIFFERENCES = 100;
/** Headers that always differ between two answers. */
const ALWAYS_DIFFERENT = /^(date|service-processing-ms|connection|keep-alive|content-length|x-ratelimit-.*)$/;

export const AnswerDifference = ClosedObject({
  what: Type.String({ description: "`status`, `header etag`, `body.data[0].name`" }),
  before: Type.Unknown({
    description: "In the first answer, with secrets masked. Null if the first answer had no such value",
  }),
  after: Type.Unknown({ description: "In the answer to the repeated request" }),
});
type Difference = Static<typeof AnswerDifference>;

/** The part of an exchange that is compared. */
export type ComparedAnswer = Pick<
  JournalEntry,
  "id" | "status" | "response_headers" | "response_body" | "streamed"
>;

/**
 * Differences between two answers, without those that always exist, such as the request's id, its duration, the
 * answer's own timestamp, and the rest of the rate window; at most `MAX_DIFFERENCES`.
 */
export function compareAnswers(first: ComparedAnswer, second: ComparedAnswer): Difference[] {
  const differences: Difference[] = [];
  if (first.status !== second.status)
    differences.push({ what: "status", before: first.status, after: second.status });
  compareHeaders(differences, readHeaders(first, second.id), readHeaders(second, second.id));
  const [before, after] = [readBody(first, second.id), readBody(second, second.id)];
  compareValues(differences, "body", mask(before), mask(after));
  // The time that an answer states for itself (sections 7.1 and 4.11).
  const statedTime = first.status >= 400 ? "body.error.timestamp" : "body.metadata.timestamp";
  return differences.filter(({ what }) => what !== statedTime).slice(0, MAX_DIFFERENCES);
}

type AnswerHeaders = ReadonlyMap<string, readonly string[]>;

function compareHeaders(differences: Difference[], before: AnswerHeaders, after: AnswerHeaders): void {
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [oldValue, newValue] = [before.get(name)?.join(", "), after.get(name)?.join(", ")];
    if (ALWAYS_DIFFERENT.test(name) || oldValue === newValue) continue;
    const redactValue = (value: string | undefined) =>
      value === undefined ? null : redactHeader(name, value);
    differences.push({ what: `header ${name}`, before: redactValue(oldValue), after: redactValue(newValue) });
  }
}

/** Values by lower-case name; the id of this answer is replaced by that of the other. */
function readHeaders({ id, response_headers }: ComparedAnswer, replacementId: string): AnswerHeaders {
  const headers = new Map<string, string[]>();
  for (const [name, value] of toPairs(response_headers))
    getOrAdd(headers, name.toLowerCase(), (): string[] => []).push(value.replaceAll(id, replacementId));
  return headers;
}

/** The parsed JSON, or the text if it is not JSON; the digest of a streamed body. */
function readBody(answer: ComparedAnswer, replacementId: string): unknown {
  const { id, response_headers, response_body, streamed } = answer;
  if (typeof streamed === "object") return streamed.sha256;
  const text = toBodyText(decodeBody(response_headers, response_body)).replaceAll(id, replacementId);
  const value = tryParseJson(text);
  return value === undefined ? text || undefined : value;
}

interface MaskedValue {
  raw: unknown;
  masked: unknown;
}

function compareValues(
  differences: Difference[],
  what: string,
  before: MaskedValue,
  after: MaskedValue,
): void {
  const [first, second] = [before.raw, after.raw];
  if (differences.length >= MAX_DIFFERENCES || isEqual(first, second)) return;
  if (isParent(first) && isParent(second) && Array.isArray(first) === Array.isArray(second)) {
    for (const name of new Set([...Object.keys(first), ...Object.keys(second)])) {
      const place = Array.isArray(first) ? `${what}[${name}]` : `${what}.${name}`;
      compareValues(differences, place, getPart(before, name), getPart(after, name));
    }
    return;
  }
  differences.push({ what, before: before.masked ?? null, after: after.masked ?? null });
}

function isParent(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function getPart({ raw, masked }: MaskedValue, name: string): MaskedValue {
  const getValue = (from: unknown) => (isParent(from) ? getOwn(from, name) : from);
  return { raw: getValue(raw), masked: getValue(masked) };
}

function mask(raw: unknown): MaskedValue {
  return { raw, masked: typeof raw === "string" ? redactBrokenJson(raw) : redactJson(raw) };
}
