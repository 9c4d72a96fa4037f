import { Type } from "typebox";
import { toLatin1, toUtf8 } from "../bytes.ts";
import { parseDuration } from "../contract/duration.ts";
import { encodePath, normalizePath } from "../contract/http-url.ts";
import type { AnyOperation } from "../contract/operation.ts";
import { toPartPattern } from "../contract/router.ts";
import {
  compileGlob,
  compilePathGlob,
  compileTemplateGlob,
  findGlobProblem,
  isGlob,
} from "../documents/glob.ts";
import type { FaultFacts } from "../sandbox/fault-types.ts";
import type { AnswerPlan, EffectPlan } from "./effects/effect.ts";
import { listDocumentedCodes } from "./effects/error.ts";
import { readEffect } from "./effects/index.ts";
import { type MatchDocument, type RuleDocument, toEntryEffect } from "./rule-document.ts";

/** When a matching rule is triggered; `undefined` in a sequence means `pass`. */
type Schedule =
  | { kind: "always" }
  | { kind: "times"; times: number }
  | { kind: "every"; every: number }
  | { kind: "probability"; probability: number }
  | { kind: "sequence"; entries: readonly (AnswerPlan | undefined)[]; labels: readonly string[] };

/** A checked rule, read once and shared by all sandboxes in which it is armed. */
export interface Rule {
  id: string;
  /** The rule as it was written. */
  document: RuleDocument;
  phase: "before" | "after";
  schedule: Schedule;
  effect: EffectPlan;
  lease: { ttl_ms: number | undefined; hits: number | undefined };
  /** The ids of the operations that it can hit; undefined for a rule about deliveries. */
  operations: ReadonlySet<string> | undefined;
  principal: string | undefined;
  criteria: readonly Criterion[];
  /** The part that the body must contain; undefined if any body matches. */
  body: object | undefined;
  matchesDelivery: (event: string, webhook_id: string) => boolean;
}

/** A rule that can never trigger is off; it costs a request nothing (interfaces.md 6: probability 0). */
export function canNeverTrigger({ schedule }: Rule): boolean {
  return schedule.kind === "probability" && schedule.probability === 0;
}

/** Reads a rule that `checkRule` has accepted. */
export function readRule(document: RuleDocument, id: string, operations: readonly AnyOperation[]): Rule {
  const { match = {}, effect: effectDocument = {}, lease = {}, phase = "before" } = document;
  const effect = readEffect(effectDocument);
  const isDelivery = isDeliveryMatch(match);
  const needsAuthorization = findServedKind(document) === "content" && !document.public;
  return {
    id,
    document,
    phase,
    schedule: toSchedule(document),
    effect,
    lease: { ttl_ms: lease.ttl === undefined ? undefined : parseDuration(lease.ttl)!, hits: lease.hits },
    operations: isDelivery
      ? undefined
      : new Set([
          ...listMatchingOperations(match, operations)
            .filter((operation) => canAnswer(operation, effect.answer))
            .map((operation) => operation.id),
          ...(matchesUndeclaredPaths(document, operations) ? [UNDECLARED_OPERATION.id] : []),
        ]),
    principal: match.principal,
    criteria: isDelivery ? [] : [...toCriteria(match), ...(needsAuthorization ? [IS_AUTHORIZED] : [])],
    body: match.body,
    matchesDelivery: isDelivery ? createDeliveryMatcher(match.event, match.webhook) : () => false,
  };
}

/** Whether the operation may give this answer: a code that it never answers has to be forced (interfaces.md 6). */
export function canAnswer(operation: AnyOperation, answer: AnswerPlan | undefined): boolean {
  if (answer?.kind !== "code" || answer.forced || operation === UNDECLARED_OPERATION) return true;
  return listDocumentedCodes(operation).has(answer.code);
}

function toSchedule({ sequence, times, every, probability }: RuleDocument): Schedule {
  if (times !== undefined) return { kind: "times", times };
  if (every !== undefined) return { kind: "every", every };
  if (probability !== undefined) return { kind: "probability", probability };
  if (sequence === undefined) return { kind: "always" };
  const entries = sequence.map((entry) => readEffect(toEntryEffect(entry) ?? {}).answer);
  const labels = sequence.map((entry) =>
    String(typeof entry === "object" ? (entry.error ?? entry.status ?? 200) : entry),
  );
  return { kind: "sequence", labels, entries };
}

function createDeliveryMatcher(
  event: string | undefined,
  webhook: string | undefined,
): Rule["matchesDelivery"] {
  const fits = event === undefined ? () => true : compileGlob(event);
  return (name, id) => fits(name) && (webhook === undefined || webhook === id);
}

/** A condition of a rule that is checked for each request. */
interface Criterion {
  /** Why a request does not meet it. */
  miss: string;
  isMet: (facts: FaultFacts) => boolean;
}

/**
 * The conditions of a match, cheap ones first. Without operation and principal, by which rules are indexed, and without
 * the body, which must be awaited.
 */
function toCriteria(match: MatchDocument): Criterion[] {
  const criteria: Criterion[] = [];
  const add = (miss: string, isMet: Criterion["isMet"]) => criteria.push({ miss, isMet });
  const { method, api_key, organization, path, header = {}, query = {} } = match;
  // An operation has one method; a path outside the contract has every method.
  if (method !== undefined) add(`method is not ${method}`, (facts) => facts.method === method);
  if (api_key !== undefined)
    add(`api_key is not ${api_key}`, ({ principal }) => principal?.key_id === api_key);
  if (organization !== undefined)
    add(`organization is not ${organization}`, (facts) => facts.organization === organization);
  if (path !== undefined) {
    const fits = compilePathGlob(path);
    add(`path does not match ${path}`, (facts) => fits(facts.path));
  }
  for (const [name, expected] of Object.entries(header)) {
    const key = name.toLowerCase();
    const isEqual = expected === null ? undefined : toHeaderMatcher(expected);
    const fits = (sent: string | string[] | undefined) =>
      isEqual === undefined ? sent === undefined : sent !== undefined && isEqual(String(sent));
    add(describeMiss("header", name, expected), ({ headers }) => fits(headers[key]));
  }
  for (const [name, expected] of Object.entries(query)) {
    const isEqual = expected === null ? undefined : toTextMatcher(expected);
    const fits = (sent: URLSearchParams) =>
      isEqual === undefined ? !sent.has(name) : sent.getAll(name).some(isEqual);
    add(describeMiss("query", name, expected), (facts) => fits(facts.query));
  }
  return criteria;
}

type ExactValue = string | number | boolean;

/**
 * YAML reads `1.10`, `01` and `True` as a number or a boolean; a request has the text. So a number matches however it is
 * written, and a boolean in upper or lower case.
 */
export function toTextMatcher(expected: ExactValue): (sent: string) => boolean {
  if (typeof expected === "number") return (sent) => /^[-+.\w]+$/.test(sent) && Number(sent) === expected;
  if (typeof expected === "boolean") return (sent) => sent.toLowerCase() === String(expected);
  return (sent) => sent === expected;
}

/** Clients send a header in Latin-1, as browsers do, or in UTF-8, as curl does; Node decodes it as Latin-1. */
function toHeaderMatcher(expected: ExactValue): (sent: string) => boolean {
  const isEqual = toTextMatcher(expected);
  const inUtf8 = toLatin1(toUtf8(String(expected)));
  return (sent) => isEqual(sent) || sent === inUtf8;
}

function describeMiss(part: string, name: string, expected: unknown): string {
  return expected === null
    ? `${part} ${name} is there`
    : `${part} ${name} is not ${JSON.stringify(expected)}`;
}

/** Whether `value` contains `part`; lists must be equal in length and are compared item by item. */
export function containsValue(value: unknown, part: unknown): boolean {
  if (typeof part !== "object" || part === null) return Object.is(value, part);
  if (typeof value !== "object" || value === null || Array.isArray(part) !== Array.isArray(value))
    return false;
  if (Array.isArray(part)) {
    const items = value as unknown[];
    return items.length === part.length && part.every((item, index) => containsValue(items[index], item));
  }
  return Object.entries(part).every(
    ([key, expected]) =>
      Object.hasOwn(value, key) && containsValue((value as Record<string, unknown>)[key], expected),
  );
}

/** The operations that a match can hit. @throws GlobError */
export function listMatchingOperations(
  { operation, method, path }: MatchDocument,
  operations: readonly AnyOperation[],
): AnyOperation[] {
  const ids = operations.map(({ id }) => id);
  const matchesId = operation === undefined ? undefined : compileIdGlob(operation, ids);
  const fitsPath = path === undefined ? undefined : createTemplateMatcher(path);
  return operations.filter(
    (candidate) =>
      (matchesId === undefined || matchesId(candidate.id)) &&
      (method === undefined || candidate.method === method) &&
      (fitsPath === undefined || fitsPath(candidate.path)),
  );
}

/**
 * Tests ids of operations. A pattern that is one of them, or no usable glob, means itself: a user's document may give any
 * id, and the operation may be gone.
 */
export function compileIdGlob(pattern: string, ids: readonly string[]): (id: string) => boolean {
  const isId = ids.includes(pattern) || findGlobProblem(pattern) !== undefined;
  return isId ? (id) => id === pattern : compileGlob(pattern);
}

/** Tests whether the path of a rule fits an operation's path template. @throws GlobError */
function createTemplateMatcher(path: string): (template: string) => boolean {
  if (isGlob(path)) return compileTemplateGlob(path);
  const parts = normalizePath(encodePath(path)).split("/");
  return (template) => {
    const templateParts = template.split("/");
    return (
      parts.length === templateParts.length &&
      templateParts.every((part, index) =>
        part.includes("{") ? toPartPattern(part).test(parts[index]!) : part === parts[index],
      )
    );
  };
}

/**
 * Represents paths that no operation has: rules with a path and an answer can add endpoints that the emulated API lacks
 * (interfaces.md 11).
 */
export const UNDECLARED_OPERATION: AnyOperation = {
  id: "outside",
  section: "interfaces 11",
  method: "GET",
  path: "",
  summary: "A path outside the contract",
  credentials: false,
  body: { kind: "json", schema: Type.Unknown() },
  errors: [],
  success: { status: 200 },
  handle: () => undefined,
};

/** How a rule may answer paths that no operation has: with content or a failure; undefined if it never does. */
export type ServedKind = "content" | "failure" | undefined;

export function findServedKind({ match = {}, effect = {}, sequence, phase }: RuleDocument): ServedKind {
  if (match.path === undefined || match.operation !== undefined || phase === "after") return undefined;
  const hasContent = [effect, ...(sequence ?? []).map(toEntryEffect)].some(
    (one) => one?.body !== undefined || (one?.status !== undefined && one.status < 400),
  );
  return hasContent ? "content" : "failure";
}

/** Whether a rule applies to paths that no operation has; a failure of one operation's path does not. */
function matchesUndeclaredPaths(rule: RuleDocument, operations: readonly AnyOperation[]): boolean {
  const kind = findServedKind(rule);
  if (kind === undefined) return false;
  const { path, method } = rule.match!;
  return (
    kind === "content" || isGlob(path!) || listMatchingOperations({ path, method }, operations).length === 0
  );
}

/** A rule that serves a path of its own refuses callers as an operation does, unless it is `public`. */
export const IS_AUTHORIZED: Criterion = {
  miss: "the caller has no valid credentials, or no membership of the path's organization",
  isMet: ({ operation, callerRefusal }) => operation !== UNDECLARED_OPERATION || callerRefusal === undefined,
};

export function isDeliveryMatch({ event, webhook }: MatchDocument): boolean {
  return event !== undefined || webhook !== undefined;
}
