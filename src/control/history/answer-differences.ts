import isEqual from "fast-deep-equal";
import { type Static, Type } from "typebox";
import { ClosedObject } from "../../engine/contract/schema.ts";
import { type JournalEntry, toBodyText } from "../../engine/sandbox/journal-entry.ts";
import { redactHeader, redactJson, redactText } from "../../tools/redact.ts";

const MAX_DIFFERENCES = 100;
/** Headers that always differ between two answers. */
const ALWAYS_DIFFERENT = /^(date|service-processing-ms|connection|keep-alive|content-length|x-ratelimit-.*)$/;

export const AnswerDifference = ClosedObject({
  what: Type.String({ description: "`status`, `header etag`, `body.data[0].name`" }),
  before: Type.Unknown({ description: "In the first answer, secrets masked; null if it had none" }),
  after: Type.Unknown({ description: "In the answer to the repeated request" }),
});
type Difference = Static<typeof AnswerDifference>;

/** The part of an exchange that is compared. */
export type ComparedAnswer = Pick<
  JournalEntry,
  "id" | "status" | "response_headers" | "response_body" | "streamed"
>;

/**
 * Differences between two answers, without those that always exist: the request's id, its duration, and the
 * rest of the rate window.
 */
export function answerDifferences(first: ComparedAnswer, second: ComparedAnswer): Difference[] {
  const differences: Difference[] = [];
  if (first.status !== second.status)
    differences.push({ what: "status", before: first.status, after: second.status });
  compareHeaders(differences, readHeaders(first, second.id), readHeaders(second, second.id));
  const [was, is] = [readBody(first, second.id), readBody(second, second.id)];
  compareValues(differences, "body", { was, is, shownWas: maskValue(was), shownIs: maskValue(is) });
  return differences.slice(0, MAX_DIFFERENCES);
}

function compareHeaders(
  differences: Difference[],
  was: ReadonlyMap<string, string>,
  is: ReadonlyMap<string, string>,
): void {
  for (const name of new Set([...was.keys(), ...is.keys()])) {
    const [before, after] = [was.get(name), is.get(name)];
    if (ALWAYS_DIFFERENT.test(name) || before === after) continue;
    const redactValue = (value: string | undefined) =>
      value === undefined ? null : redactHeader(name, value);
    differences.push({ what: `header ${name}`, before: redactValue(before), after: redactValue(after) });
  }
}

/** Headers by lower-case name; the id of this answer is replaced by that of the other. */
function readHeaders(answer: ComparedAnswer, as: string): Map<string, string> {
  const { response_headers } = answer;
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < response_headers.length; i += 2) {
    headers.set(response_headers[i]!.toLowerCase(), response_headers[i + 1]!.replaceAll(answer.id, as));
  }
  return headers;
}

/** Parsed if it is JSON, otherwise the text. */
function readBody({ id, response_body, streamed }: ComparedAnswer, as: string): unknown {
  if (typeof streamed === "object") return streamed.sha256;
  const text = toBodyText(response_body).replaceAll(id, as);
  try {
    return JSON.parse(text);
  } catch {
    return text === "" ? undefined : text;
  }
}

interface ComparedValues {
  was: unknown;
  is: unknown;
  shownWas: unknown;
  shownIs: unknown;
}

function compareValues(
  differences: Difference[],
  what: string,
  { was, is, shownWas, shownIs }: ComparedValues,
): void {
  if (differences.length >= MAX_DIFFERENCES || isEqual(was, is)) return;
  if (isParent(was) && isParent(is) && Array.isArray(was) === Array.isArray(is)) {
    for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
      const place = Array.isArray(was) ? `${what}[${name}]` : `${what}.${name}`;
      const below = { shownWas: getPart(shownWas, name), shownIs: getPart(shownIs, name) };
      compareValues(differences, place, { was: was[name], is: is[name], ...below });
    }
    return;
  }
  differences.push({ what, before: shownWas ?? null, after: shownIs ?? null });
}

function isParent(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function getPart(value: unknown, name: string): unknown {
  return isParent(value) ? value[name] : value;
}

function maskValue(value: unknown): unknown {
  return typeof value === "string" ? redactText(value) : redactJson(value);
}
