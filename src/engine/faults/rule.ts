import { Type } from "typebox";
import { parseDuration } from "../contract/duration.ts";
import { normalizePath } from "../contract/http-url.ts";
import type { AnyOperation } from "../contract/operation.ts";
import { compilePathGlob, glob, isGlob } from "../documents/glob.ts";
import type { FaultFacts } from "../sandbox/fault-types.ts";
import type { AnswerPlan, EffectPlan } from "./effects/effect.ts";
import { listDocumentedCodes } from "./effects/error.ts";
import { readEffect } from "./effects/index.ts";
import { type MatchDocument, type RuleDocument, toEntryEffect } from "./rule-document.ts";

/** When a matching rule is triggered; a sequence's `undefined` is `pass`. */
type Schedule =
  | { kind: "always" }
  | { kind: "times"; times: number }
  | { kind: "every"; every: number }
  | { kind: "probability"; probability: number }
  | { kind: "sequence"; entries: readonly (AnswerPlan | undefined)[]; words: readonly string[] };

/** A checked rule, read once and shared by all sandboxes in which it is armed. */
export interface Rule {
  id: string;
  /** The rule as it was written. */
  document: RuleDocument;
  phase: "before" | "after";
  schedule: Schedule;
  effect: EffectPlan;
  lease: { ttl_ms: number | undefined; hits: number | undefined };
  /** The ids of the operations that it can hit. Undefined: a rule about deliveries. */
  operations: ReadonlySet<string> | undefined;
  principal: string | undefined;
  criteria: readonly Criterion[];
  /** The part that the body must contain; undefined: any body. */
  body: object | undefined;
  delivers: (event: string, webhook_id: string) => boolean;
}

/** A rule that can never trigger is off; it costs a request nothing (interfaces 6: probability 0). */
export function canNeverTrigger({ schedule }: Rule): boolean {
  return schedule.kind === "probability" && schedule.probability === 0;
}

/** Reads a rule that `checkRule` found nothing wrong with. */
export function readRule(document: RuleDocument, id: string, all: readonly AnyOperation[]): Rule {
  const { match = {}, effect: written = {}, lease = {}, phase = "before" } = document;
  const effect = readEffect(written);
  const delivery = isDeliveryMatch(match);
  const asksForCaller = findServedKind(document) === "content" && !document.public;
  return {
    id,
    document,
    phase,
    schedule: toSchedule(document),
    effect,
    lease: { ttl_ms: lease.ttl === undefined ? undefined : parseDuration(lease.ttl)!, hits: lease.hits },
    operations: delivery
      ? undefined
      : new Set([
          ...listMatchingOperations(match, all).flatMap((one) => (answers(one, effect.answer) ? one.id : [])),
          ...(reachesUndeclared(document, all) ? [UNDECLARED_OPERATION.id] : []),
        ]),
    principal: match.principal,
    criteria: delivery ? [] : [...toCriteria(match), ...(asksForCaller ? [NOT_ADMITTED] : [])],
    body: match.body,
    delivers: delivery ? matchDeliveries(match.event, match.webhook) : () => false,
  };
}

/** interfaces 6: if the operation never answers the code, the rule does not apply, unless it is forced. */
export function answers(operation: AnyOperation, answer: AnswerPlan | undefined): boolean {
  if (answer?.kind !== "code" || answer.forced || operation === UNDECLARED_OPERATION) return true;
  return listDocumentedCodes(operation).has(answer.code);
}

function toSchedule({ sequence, times, every, probability }: RuleDocument): Schedule {
  if (times !== undefined) return { kind: "times", times };
  if (every !== undefined) return { kind: "every", every };
  if (probability !== undefined) return { kind: "probability", probability };
  if (sequence === undefined) return { kind: "always" };
  const entries = sequence.map((entry) => readEffect(toEntryEffect(entry) ?? {}).answer);
  const words = sequence.map((entry) =>
    String(typeof entry === "object" ? (entry.error ?? entry.status ?? 200) : entry),
  );
  return { kind: "sequence", words, entries };
}

function matchDeliveries(event: string | undefined, webhook: string | undefined): Rule["delivers"] {
  const fits = event === undefined ? () => true : glob(event);
  return (name, id) => fits(name) && (webhook === undefined || webhook === id);
}

/** One condition of a rule other than the operation, by which rules are indexed. */
export interface Criterion {
  /** Why a request does not meet it. */
  miss: string;
  fits: (facts: FaultFacts) => boolean;
}

/**
 * The conditions of a match, cheap ones first. Without the body, which must be awaited, and the principal, by which
 * rules are indexed.
 */
export function toCriteria(match: MatchDocument): Criterion[] {
  const criteria: Criterion[] = [];
  const add = (miss: string, fits: Criterion["fits"]) => criteria.push({ miss, fits });
  const { method, api_key, organization, path, header = {}, query = {} } = match;
  // Rules are indexed by operation, which has one method; a path outside the contract has every method.
  if (method !== undefined) add(`method is not ${method}`, (facts) => facts.method === method);
  if (api_key !== undefined)
    add(`api_key is not ${api_key}`, ({ principal }) => principal?.key_id === api_key);
  if (organization !== undefined)
    add(`organization is not ${organization}`, (facts) => facts.organization === organization);
  if (path !== undefined) {
    const fits = compilePathGlob(path);
    add(`path does not match ${path}`, (facts) => fits(facts.path));
  }
  for (const [name, wanted] of Object.entries(header)) {
    const key = name.toLowerCase();
    add(explainMiss("header", name, wanted), ({ headers }) => isText(headers[key], wanted));
  }
  for (const [name, wanted] of Object.entries(query)) {
    const fits = (sent: URLSearchParams) =>
      wanted === null ? !sent.has(name) : sent.getAll(name).includes(String(wanted));
    add(explainMiss("query", name, wanted), (facts) => fits(facts.query));
  }
  return criteria;
}

function isText(sent: string | string[] | undefined, wanted: string | number | boolean | null): boolean {
  return wanted === null ? sent === undefined : sent !== undefined && String(sent) === String(wanted);
}

function explainMiss(part: string, name: string, wanted: unknown): string {
  return wanted === null ? `${part} ${name} is there` : `${part} ${name} is not ${JSON.stringify(wanted)}`;
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
    ([key, wanted]) =>
      Object.hasOwn(value, key) && containsValue((value as Record<string, unknown>)[key], wanted),
  );
}

/**
 * The operations that a match can hit. A path without wildcards narrows them to those whose template it
 * fits; one with wildcards does not, since comparing two patterns is not cheap.
 * @throws GlobError
 */
export function listMatchingOperations(
  { operation, method, path }: MatchDocument,
  operations: readonly AnyOperation[],
): AnyOperation[] {
  const named = operation === undefined ? undefined : glob(operation);
  const literal = path === undefined || isGlob(path) ? undefined : normalizePath(path);
  return operations.filter(
    (one) =>
      (named === undefined || named(one.id)) &&
      (method === undefined || one.method === method) &&
      (literal === undefined || fitsTemplate(one.path, literal)),
  );
}

/**
 * Represents paths that no operation has: rules with a path and an answer can add endpoints that the emulated API lacks
 * (interfaces 11).
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

/** The effect of a rule on a path that no operation has: `content` serves it, `failure` breaks it; undefined: none. */
export type Serves = "content" | "failure" | undefined;

export function findServedKind({ match = {}, effect = {}, sequence, phase }: RuleDocument): Serves {
  if (match.path === undefined || match.operation !== undefined || phase === "after") return undefined;
  const serves = [effect, ...(sequence ?? []).map(toEntryEffect)].some(
    (one) => one?.body !== undefined || (one?.status ?? 400) < 400,
  );
  return serves ? "content" : "failure";
}

/** Whether a rule with that match applies to paths that no operation has. */
export function reachesUndeclared(rule: RuleDocument, operations: readonly AnyOperation[]): boolean {
  const path = rule.match?.path;
  const serves = findServedKind(rule);
  if (serves !== "failure") return serves === "content";
  return isGlob(path!) || listMatchingOperations({ path }, operations).length === 0;
}

/** A rule that serves a path of its own refuses callers as an operation does, unless it is `public`. */
export const NOT_ADMITTED: Criterion = {
  miss: "the caller has no valid credentials, or no membership of the path's organization",
  fits: ({ operation, refusal }) => operation !== UNDECLARED_OPERATION || refusal === undefined,
};

function fitsTemplate(template: string, path: string): boolean {
  const parts = path.split("/");
  const wanted = template.split("/");
  return (
    parts.length === wanted.length &&
    wanted.every((part, index) => (part.startsWith("{") ? parts[index] !== "" : part === parts[index]))
  );
}

/** Whether a match is about deliveries of events rather than about requests. */
export function isDeliveryMatch({ event, webhook }: MatchDocument): boolean {
  return event !== undefined || webhook !== undefined;
}
