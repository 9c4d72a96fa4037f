import { Type } from "typebox";
import { normalizePath } from "../contract/http-url.ts";
import type { AnyOperation } from "../contract/operation.ts";
import { glob, isGlob, pathGlob } from "../documents/glob.ts";
import type { FaultFacts } from "../sandbox/fault-injector.ts";
import { type MatchDocument, type RuleDocument, toEntryEffect } from "./rule-document.ts";

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
    const fits = pathGlob(path);
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
