import { type Static, Type } from "typebox";
import type { Api } from "../../engine/contract/api.ts";
import { CATALOGUE } from "../../engine/contract/errors.ts";
import { ClosedObject, withLibraryType } from "../../engine/contract/schema.ts";
import { clip } from "../../engine/contract/text.ts";
import { compileGlob, compilePathGlob, GlobError, isGlob } from "../../engine/documents/glob.ts";
import { findNearestPath, findParameterProblem } from "../../engine/faults/check-rule.ts";
import { findNearestCode, isJournalCode } from "../../engine/faults/effects/error.ts";
import { compileIdGlob, listMatchingOperations } from "../../engine/faults/rule.ts";
import { StatusPattern } from "../../engine/faults/rule-document.ts";
import { isEqual } from "../../engine/maps.ts";
import type { JournalEntry } from "../../engine/sandbox/journal-entry.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { redactJson, redactText } from "../../tools/redact.ts";
import { unknownWord, unprocessable } from "../problem.ts";
import { parseRequestBody } from "./render-journal-entry.ts";

const Status = withLibraryType("StatusPattern", {
  ...StatusPattern,
  description: "A status such as 404, or a class such as `4xx`",
});
export const OptionalWord = (description: string, libraryType = "string") =>
  Type.Optional(withLibraryType(libraryType, Type.String({ minLength: 1, description })));

export const CONDITION_FIELDS = {
  operation: OptionalWord("An operation id, or a glob of ids", "OperationPattern"),
  status: Type.Optional(Status),
  code: OptionalWord("A code of the catalogue", "ErrorCode"),
  method: OptionalWord("In upper or lower case"),
  path: OptionalWord("A glob of paths, without sandbox prefix and query"),
  stage: OptionalWord("The stage of a scenario in which the request arrived, as `scenario/stage`"),
};

/** Criteria for attempts to deliver (interfaces.md 14). */
export const DELIVERY_FIELDS = {
  event: OptionalWord("Only deliveries of this event: a name, or a glob of names", "EventPattern"),
  webhook: OptionalWord("Only deliveries to this webhook, by id"),
};

export const EntryMatch = ClosedObject({
  ...CONDITION_FIELDS,
  principal: OptionalWord("The id of the user who called"),
  body: Type.Optional(Type.Unknown({ description: "Fields that the JSON body must contain" })),
  ...DELIVERY_FIELDS,
  attempt: Type.Optional(
    Type.Integer({ minimum: 1, description: "Only this attempt of a delivery, by its number" }),
  ),
});
export type EntryMatch = Static<typeof EntryMatch>;

/** Other methods are possible, but in an expectation they are probably typing errors. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** The words that can match. Others are refused, since with them `count: 0` would always be true. */
export interface MatchableWords {
  api: Pick<Api, "operations" | "events">;
  /** Ids and paths in the sandbox's state and journal; undefined to accept any, for example after entries were lost. */
  sandboxWords:
    | Readonly<Record<"users" | "webhooks" | "paths" | "methods" | "stages", ReadonlySet<string>>>
    | undefined;
  /** The operations of requests in the journal: own operations may have been removed since. */
  pastOperations?: readonly string[];
  /** The paths in rules: a rule may answer a path that the API lacks. */
  rulePaths?: readonly string[];
}

/** For `pastOperations`: the operations in the journal that the sandbox no longer has. */
export function listPastOperations({ api, journal }: Pick<Sandbox, "api" | "journal">): string[] {
  const present = new Set<string | null>(api.operations.map(({ id }) => id));
  return journal.entries().flatMap(({ operation }) => (present.has(operation) ? [] : (operation ?? [])));
}

/** One condition of a match: undefined if an entry meets it, otherwise the reason. */
type Condition = (entry: JournalEntry) => string | undefined;

/** Whether a match is about delivery attempts rather than about requests. */
export function isDeliveryMatch({ event, webhook, attempt }: EntryMatch): boolean {
  return event !== undefined || webhook !== undefined || attempt !== undefined;
}

/** @throws Problem 422 for an invalid pattern, and for a word that nothing can match */
export function createConditions(match: EntryMatch, words: MatchableWords, prefix = ""): Condition[] {
  const { operation, status, code, method, path, principal, body, stage } = match;
  const { api, sandboxWords, pastOperations = [] } = words;
  const conditions: Condition[] = isDeliveryMatch(match) ? listDeliveryConditions(match, words, prefix) : [];
  if (operation !== undefined) {
    const ids = [...api.operations.map(({ id }) => id), ...pastOperations];
    const matches = compileIdGlob(operation, ids);
    if (!ids.some(matches)) {
      // Its error says why a text cannot be a pattern.
      compilePattern(`${prefix}operation`, operation);
      throw unknownWord("operation pattern", `${prefix}operation`, operation, ids);
    }
    conditions.push(({ operation: id }) =>
      describeFailure(id !== null && matches(id), "operation", id, operation),
    );
  }
  if (path !== undefined) {
    const matches = compilePattern(`${prefix}path`, path, compilePathGlob);
    // Nothing but the form of a delivery's path is known.
    const knownWords = isDeliveryMatch(match) ? { api, sandboxWords: undefined } : words;
    requirePossiblePath(path, matches, knownWords, prefix);
    conditions.push((entry) => describeFailure(matches(entry.path), "path", redactText(entry.path), path));
  }
  if (
    operation !== undefined &&
    !pastOperations.some(compileIdGlob(operation, pastOperations)) &&
    listMatchingOperations({ operation, path, method: method?.toUpperCase() }, api.operations).length === 0
  )
    throw unprocessable(`${prefix}operation`, operation, "fits no operation together with method and path");
  if (method !== undefined) {
    const name = method.toUpperCase();
    if (!METHODS.includes(name) && sandboxWords?.methods.has(name) === false)
      throw unknownWord("method", `${prefix}method`, method, METHODS);
    conditions.push(createEqualCondition("method", name, (entry) => entry.method));
  }
  if (status !== undefined)
    conditions.push((entry) => describeFailure(hasStatus(entry, status), "status", entry.status, status));
  if (code !== undefined) {
    if (!isJournalCode(code)) {
      const hint = findNearestCode(code, api.operations);
      throw unknownWord("code", `${prefix}code`, code, Object.keys(CATALOGUE), hint);
    }
    conditions.push(createEqualCondition("code", code, (entry) => entry.code));
  }
  if (stage !== undefined) {
    requireSandboxWord("stage", `${prefix}stage`, stage, sandboxWords?.stages);
    conditions.push(({ stages = [] }) =>
      describeFailure(stages.includes(stage), "stage", stages.join(" and ") || undefined, stage),
    );
  }
  if (principal !== undefined) {
    requireSandboxWord("user", `${prefix}principal`, principal, sandboxWords?.users);
    conditions.push(createEqualCondition("principal", principal, (entry) => entry.principal));
  }
  if (body !== undefined) conditions.push((entry) => findBodyDifference(body, parseRequestBody(entry)));
  return conditions;
}

/** @throws Problem 422 */
function listDeliveryConditions(
  match: EntryMatch,
  { api, sandboxWords }: MatchableWords,
  prefix: string,
): Condition[] {
  const { event, webhook, attempt } = match;
  for (const name of ["operation", "code", "principal", "stage"] as const) {
    if (match[name] !== undefined)
      throw unprocessable(
        `${prefix}${name}`,
        match[name],
        "matches requests, and cannot be combined with a field that matches deliveries",
      );
  }
  if (match.method !== undefined && match.method.toUpperCase() !== "POST")
    throw unprocessable(`${prefix}method`, match.method, "must be POST, the method of every delivery");
  const conditions: Condition[] = [];
  if (event !== undefined) {
    const matches = compilePattern(`${prefix}event`, event);
    const names = api.events.map(({ name }) => name);
    if (!names.some(matches)) throw unknownWord("event pattern", `${prefix}event`, event, names);
    conditions.push(({ delivery }) => {
      const name = delivery?.event;
      return describeFailure(name !== undefined && matches(name), "event", name, event);
    });
  }
  if (webhook !== undefined) {
    requireSandboxWord("webhook", `${prefix}webhook`, webhook, sandboxWords?.webhooks);
    conditions.push(createEqualCondition("webhook", webhook, ({ delivery }) => delivery?.webhook_id));
  }
  if (attempt !== undefined)
    conditions.push(createEqualCondition("attempt", attempt, ({ delivery }) => delivery?.attempt));
  return conditions;
}

function createEqualCondition(
  name: string,
  expected: string | number,
  read: (entry: JournalEntry) => unknown,
): Condition {
  return (entry) => describeFailure(read(entry) === expected, name, read(entry), expected);
}

/** @throws Problem 422 */
function requireSandboxWord(
  kind: "stage" | "user" | "webhook",
  field: string,
  word: string,
  known: ReadonlySet<string> | undefined,
): void {
  if (known !== undefined && !known.has(word)) throw unknownWord(kind, field, word, [...known]);
}

/** A path must be that of an operation, of a rule, or of a request in the journal. @throws Problem 422 */
function requirePossiblePath(
  path: string,
  matches: (path: string) => boolean,
  { api, sandboxWords, rulePaths = [] }: MatchableWords,
  prefix: string,
): void {
  const { operations } = api;
  const field = `${prefix}path`;
  if (/\?[\w.%-]+=/.test(path)) throw unprocessable(field, path, "must not have a query");
  if (!/^[/*?{]/.test(path) || path.startsWith("/_s/"))
    throw unprocessable(field, path, "must begin with a slash, without host, prefix and query");
  const parameterProblem = findParameterProblem(path);
  if (parameterProblem !== undefined && !sandboxWords?.paths.has(path))
    throw unprocessable(field, path, `is for no request: ${parameterProblem}`);
  if (sandboxWords === undefined || listMatchingOperations({ path }, operations).length > 0) return;
  if ([...sandboxWords.paths].some(matches)) return;
  if (rulePaths.some((rulePath) => matches(rulePath) || compilePathGlob(rulePath)(path))) return;
  throw unprocessable(
    field,
    path,
    `${isGlob(path) ? "matches no" : "is not a"} path of an operation, a rule or a request in the journal`,
    findNearestPath(path, operations),
  );
}

function compilePattern(field: string, text: string, compile = compileGlob): (text: string) => boolean {
  try {
    return compile(text);
  } catch (error) {
    if (error instanceof GlobError)
      throw unprocessable(field, text, `is not a valid pattern: ${error.message}`);
    throw error;
  }
}

function hasStatus({ status }: JournalEntry, expected: number | string): boolean {
  const text = String(expected).toLowerCase();
  return text.endsWith("xx") ? Math.floor(status / 100) === Number(text[0]) : status === Number(text);
}

function describeFailure(
  isMet: boolean,
  what: string,
  actual: unknown,
  expected: unknown,
): string | undefined {
  return isMet ? undefined : `${what} is ${actual ?? "none"}, not ${redactText(String(expected))}`;
}

/** Describes where a body lacks the expected content; undefined if it has all of it. */
export function findBodyDifference(expected: unknown, actual: unknown, path = "body"): string | undefined {
  if (typeof expected !== "object" || expected === null || Array.isArray(expected)) {
    return isEqual(expected, actual)
      ? undefined
      : `${path} is ${formatMasked(path, actual)}, not ${formatMasked(path, expected)}`;
  }
  if (typeof actual !== "object" || actual === null || Array.isArray(actual))
    return `${path} is ${formatMasked(path, actual)}, not an object`;
  for (const [name, value] of Object.entries(expected)) {
    const inner = Object.hasOwn(actual, name) ? (actual as Record<string, unknown>)[name] : undefined;
    const difference = findBodyDifference(value, inner, `${path}.${name}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function formatMasked(path: string, value: unknown): string {
  if (value === undefined) return "missing";
  const name = path.split(".").at(-1)!;
  const [masked] = Object.values(redactJson({ [name]: value }) as object);
  return clip(JSON.stringify(masked), 80);
}
