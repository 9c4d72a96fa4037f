import type { Api } from "../contract/api.ts";
import type { AnyOperation } from "../contract/operation.ts";
import { findNearest, isTypo } from "../contract/text.ts";
import { toValidator } from "../contract/validator.ts";
import { checkDocument } from "../documents/check-document.ts";
import type { DocumentPath } from "../documents/document-error.ts";
import { findGlobProblem, isGlob } from "../documents/glob.ts";
import {
  createInlineDocument,
  locateProblem,
  type ProblemDetails,
  throwProblems,
} from "../documents/user-document.ts";
import { findHeaderNameProblem } from "./effects/answer.ts";
import { findPeriodProblem } from "./effects/delay.ts";
import type { EffectDocument, EffectPlan, ReportEffect } from "./effects/effect.ts";
import { findNearestCode, isCatalogueCode, listDocumentedCodes, parseCode } from "./effects/error.ts";
import { checkEffect, WIRE_EFFECTS } from "./effects/index.ts";
import {
  compileIdGlob,
  findServedKind,
  isDeliveryMatch,
  listMatchingOperations,
  type Rule,
  readRule,
  type ServedKind,
  UNDECLARED_OPERATION,
} from "./rule.ts";
import { type MatchDocument, RuleDocument, toEntryEffect } from "./rule-document.ts";

export type RuleApi = Pick<Api, "operations" | "events">;

/**
 * Reads one rule that was given as a value.
 * @throws DocumentError naming the field at fault and the nearest right word
 */
export function readInlineRule(value: unknown, api: RuleApi, newId: () => string, file = "rule"): Rule {
  const rule = checkInlineRule(value, (checked) => checkRule(checked, [], api), file);
  return readRule(rule, rule.id ?? newId(), api.operations);
}

/**
 * Reads a rule that was valid once. Operations and events that it names may be gone; then it applies to none.
 * @throws DocumentError for anything else that is wrong
 */
export function readSavedRule(value: object, id: string, { operations }: RuleApi): Rule {
  const rule = checkInlineRule({ ...value, id }, (checked) =>
    checkRule(checked, [], { operations: [], events: [] }).filter(({ path }) => path[0] !== "match"),
  );
  return readRule(rule, id, operations);
}

function checkInlineRule(
  value: unknown,
  listProblems: (rule: RuleDocument) => ProblemDetails[],
  file = "rule",
): RuleDocument {
  const document = createInlineDocument(value, { file });
  throwProblems(checkDocument(document, toValidator(RuleDocument)), document);
  const rule = value as RuleDocument;
  throwProblems(
    listProblems(rule).map((problem) => locateProblem(document, problem)),
    document,
  );
  return rule;
}

/** The input of a release (interfaces.md 20); if it is empty, the request or delivery continues. */
export interface ReleaseDocument extends Pick<EffectDocument, "error" | "details" | "wire" | "over"> {
  answer?: Pick<EffectDocument, "status" | "headers" | "body">;
}

/**
 * Reads a release as the effect of a rule that hits only the held request or delivery. Undefined if the release is
 * empty.
 * @param operation that of the held request; undefined for a delivery
 * @throws DocumentError with paths of a rule, such as `effect.status`
 */
export function readRelease(
  { answer, ...rest }: ReleaseDocument,
  operation: AnyOperation | undefined,
): EffectPlan | undefined {
  const effect = { ...answer, ...rest };
  if (Object.keys(effect).length === 0) return undefined;
  const match = operation === undefined ? { webhook: "held" } : {};
  const api = { operations: operation === undefined ? [] : [operation], events: [] };
  return readInlineRule({ match, effect }, api, () => "release", "release").effect;
}

const SCHEDULES = ["sequence", "times", "every", "probability"] as const;

/** Reports a problem that no schema can express, at a path below the rule or the scenario. */
export type Report = (path: DocumentPath, message: string, more?: Partial<ProblemDetails>) => void;

/** Finds mistakes in a well-formed rule that no schema can express; `rulePath` is its place in the document. */
export function checkRule(rule: RuleDocument, rulePath: DocumentPath, api: RuleApi): ProblemDetails[] {
  const problems: ProblemDetails[] = [];
  const report: Report = (path, message, more) =>
    problems.push({ ...more, path: [...rulePath, ...path], message });
  const { match = {} } = rule;
  checkSchedule(rule, report);
  checkRuleEffect(rule, report);
  checkLease(rule, report);
  if (rule.public !== undefined && findServedKind(rule) !== "content") {
    const message =
      "`public` is for rules that serve a path of their own: `match.path`, and a `body` or a status";
    report(["public"], message, { pointsAtKey: true });
  }
  if (isDeliveryMatch(match)) checkDelivery(rule, match, { events: api.events, report });
  else checkRequests(rule, match, { operations: api.operations, report });
  return problems;
}

function checkSchedule(rule: RuleDocument, report: Report): void {
  const [first, ...others] = SCHEDULES.filter((key) => rule[key] !== undefined);
  for (const key of others) {
    const message = `\`${key}\` cannot go with \`${first}\`; a rule has one of ${SCHEDULES.join(", ")}, or none`;
    report([key], message, { pointsAtKey: true });
  }
}

function checkRuleEffect({ match = {}, effect = {}, sequence }: RuleDocument, report: Report): void {
  const target = isDeliveryMatch(match) ? "deliveries" : "requests";
  const reportBelow =
    (place: DocumentPath): ReportEffect =>
    (path, message, hint) =>
      report([...place, ...path], `\`${path.join(".")}\` ${message}`, { hint });
  for (const [index, entry] of sequence?.entries() ?? [])
    if (typeof entry === "object") checkEffect(entry, reportBelow(["sequence", index]), target);
  if (Object.keys(effect).length === 0) {
    if (sequence === undefined) report([], "the rule needs an `effect`, or a `sequence` of answers");
    return;
  }
  const reportKey = reportBelow(["effect"]);
  checkEffect(effect, reportKey, target);
  if (sequence === undefined) return;
  for (const key of ["error", "status", "body", "details"] as const) {
    if (effect[key] !== undefined)
      reportKey([key], "is already set by the entries of `sequence`; remove one of them");
  }
}

function checkLease({ lease }: RuleDocument, report: Report): void {
  const problem = lease?.ttl === undefined ? undefined : findPeriodProblem(lease.ttl);
  if (problem !== undefined) report(["lease", "ttl"], `\`lease.ttl\` ${problem.message}`, problem);
}

function checkRequests(
  rule: RuleDocument,
  match: MatchDocument,
  { operations, report }: { operations: readonly AnyOperation[]; report: Report },
): void {
  const matchedOperations = checkMatch(match, findServedKind(rule), { operations, report });
  if (match.api_key?.startsWith("ak_"))
    report(["match", "api_key"], "a rule names a key by its id, such as apikey_dan, not by the key itself");
  checkIds(match, ["principal", "api_key", "organization"], report);
  const headerNames = Object.keys(match.header ?? {});
  for (const name of headerNames) {
    const problem = findHeaderNameProblem(name, headerNames);
    if (problem !== undefined) report(["match", "header", name], `\`match.header.${name}\` ${problem}`);
  }
  const context = { operations, matchedOperations, report };
  const { effect, sequence = [] } = rule;
  if (effect?.error !== undefined) checkCode(effect.error, ["effect", "error"], context);
  for (const [index, entry] of sequence.entries()) {
    if (typeof entry === "string" && entry !== "pass")
      checkCode(entry, ["sequence", index], { ...context, otherWords: ["pass"] });
    if (typeof entry === "object" && entry.error !== undefined)
      checkCode(entry.error, ["sequence", index, "error"], context);
  }
}

function checkCode(
  text: string,
  path: DocumentPath,
  {
    operations,
    matchedOperations,
    report,
    otherWords = [],
  }: {
    operations: readonly AnyOperation[];
    /** Empty if they are unknown; then every code of the catalogue is allowed. */
    matchedOperations: readonly AnyOperation[];
    report: Report;
    /** The words that are allowed instead of a code. */
    otherWords?: readonly string[];
  },
): void {
  const { code, forced } = parseCode(text);
  if (!isCatalogueCode(code)) {
    const problem = WIRE_EFFECTS.some(({ name }) => name === text)
      ? "is a wire fault, which belongs in `effect: { wire: … }`"
      : "is not a code of the catalogue";
    const hint = findNearest(code, otherWords) ?? findNearestCode(code, operations);
    report(path, `${JSON.stringify(code.slice(0, 80))} ${problem}`, { hint });
    return;
  }
  const mayAnswer = matchedOperations.some((one) => listDocumentedCodes(one).has(code));
  // A path that no operation has may answer any code, as with X-Sandbox-Fault.
  if (forced || mayAnswer || matchedOperations.every((one) => one === UNDECLARED_OPERATION)) return;
  const subject =
    matchedOperations.length === 1
      ? `${matchedOperations[0]!.id} never answers`
      : "none of the matched operations answers";
  report(path, `${subject} ${code}; \`${code}!\` forces it anyway`);
}

/** Reports what is wrong with a rule's match. Returns the operations that it can hit; none if anything is wrong. */
function checkMatch(
  match: MatchDocument,
  servedKind: ServedKind,
  { operations, report }: { operations: readonly AnyOperation[]; report: Report },
): readonly AnyOperation[] {
  const { operation, path } = match;
  const ids = operations.map(({ id }) => id);
  const operationProblem =
    operation === undefined ? undefined : findPatternProblem(operation, "operation", ids);
  const pathProblem = path === undefined ? undefined : findPathProblem(path, { operations, servedKind });
  const matchingOperations =
    (operationProblem ?? pathProblem) ? [] : listMatchingOperations(match, operations);
  if (operationProblem !== undefined)
    report(["match", "operation"], operationProblem.message, operationProblem);
  else if (pathProblem !== undefined) report(["match", "path"], pathProblem.message, pathProblem);
  else if (matchingOperations.length === 0 && servedKind === undefined)
    report(["match"], "no operation fits `operation`, `method` and `path` together");
  return matchingOperations;
}

/** Globs are for names, events and paths; an id with a wildcard would match nothing. */
function checkIds(
  match: MatchDocument,
  keys: readonly ("principal" | "api_key" | "organization" | "webhook")[],
  report: Report,
): void {
  for (const key of keys)
    if (isGlob(match[key] ?? ""))
      report(["match", key], `\`match.${key}\` is one id, without wildcards; without it, all match`);
}

function checkDelivery(
  { effect = {}, phase, sequence = [] }: RuleDocument,
  match: MatchDocument,
  { events, report }: { events: Api["events"]; report: Report },
): void {
  for (const key of Object.keys(match)) {
    if (key === "event" || key === "webhook") continue;
    const message = `\`match.${key}\` is about requests; \`event\` and \`webhook\` hit deliveries`;
    report(["match", key], message, { pointsAtKey: true });
  }
  for (const key of ["error", "details", "headers", "body"] as const) {
    if (effect[key] !== undefined)
      report(["effect", key], `the effect on a delivery is status, delay, hold or wire, not \`${key}\``);
  }
  if (phase === "after") report(["phase"], "a delivery has one phase; `after` is about requests");
  for (const [index, entry] of sequence.entries()) {
    const isStatus = Object.keys(toEntryEffect(entry) ?? {}).every((key) => key === "status");
    if (isStatus) continue;
    const message = "a receiver answers with a status, such as 503; error codes are only for requests";
    const hint = typeof entry === "string" ? findNearest(entry, ["pass"]) : undefined;
    report(["sequence", index], message, { hint });
  }
  checkIds(match, ["webhook"], report);
  const names = events.map(({ name }) => name);
  const problem = match.event === undefined ? undefined : findPatternProblem(match.event, "event", names);
  if (problem !== undefined) report(["match", "event"], problem.message, problem);
}

type Problem = Pick<ProblemDetails, "message" | "hint">;

/** Checks a name, or a glob of names, against all known ones; undefined if it is right. */
export function findPatternProblem(
  pattern: string,
  kind: string,
  names: readonly string[],
): Problem | undefined {
  if (names.some(compileIdGlob(pattern, names))) return undefined;
  const globProblem = findGlobProblem(pattern);
  if (globProblem !== undefined) return globProblem;
  const quoted = JSON.stringify(pattern.slice(0, 80));
  if (!isGlob(pattern)) return { message: `${quoted} is not an ${kind}`, hint: findNearest(pattern, names) };
  return { message: `${quoted} matches no ${kind}`, hint: findNearest(pattern, listGlobs(names)) };
}

/** Describes a parameter in the form of Express, which no path of a request contains; undefined if there is none. */
export function findParameterProblem(path: string): string | undefined {
  const [, name] = /\/:([a-z_]\w*)(?=\/|$)/i.exec(path) ?? [];
  return name && `\`:${name}\` stands for itself in a path; for any part write {${name}} or *`;
}

/** @param servedKind how the rule answers paths that no operation has; undefined if it never does */
function findPathProblem(
  path: string,
  { operations, servedKind }: { operations: readonly AnyOperation[]; servedKind: ServedKind },
): Problem | undefined {
  const globProblem = findGlobProblem(path);
  if (globProblem !== undefined) return globProblem;
  // `?` is also a wildcard, but not before a name and an equals sign.
  if (/\?[\w.%-]+=/.test(path))
    return { message: "the path contains a query; match parameters with `match.query`" };
  const parameterProblem = findParameterProblem(path);
  if (parameterProblem !== undefined) return { message: parameterProblem };
  // Paths that begin with `/_` are Understudy's own; rules never see them.
  if (!/^[/*?{]/.test(path) || path.startsWith("/_"))
    return { message: "a path begins with a slash and has no host, sandbox prefix or query" };
  if (servedKind === "content" || listMatchingOperations({ path }, operations).length > 0) return undefined;
  const quoted = JSON.stringify(path.slice(0, 80));
  const problem = isGlob(path)
    ? `${quoted} matches no path of an operation`
    : `${quoted} is not a path of an operation`;
  const nearestPath = findNearestPath(path, operations);
  const hint = nearestPath !== undefined && differsByTypos(path, nearestPath) ? nearestPath : undefined;
  if (servedKind === undefined) {
    if (hint !== undefined) return { message: problem, hint };
    return {
      message: `${problem}; a rule for a path of your own has neither \`operation\` nor \`phase: after\``,
    };
  }
  // A failure for a path that differs from an operation's only by a typing error was meant for that operation.
  if (isGlob(path) || hint === undefined) return undefined;
  return { message: `${problem}; for a path of your own, give the answer a \`body\``, hint };
}

/** Whether two paths differ only by mistakes of typing in the letters of their parts, or by a version left out. */
function differsByTypos(path: string, other: string): boolean {
  if (other.replace(/^\/v\d+(?=\/)/, "") === path) return true;
  const parts = path.replace(/\/$/, "").split("/");
  const otherParts = other.split("/");
  return (
    parts.length === otherParts.length &&
    parts.every((part, index) => part === otherParts[index] || isTypo(part, otherParts[index]!))
  );
}

/** The operation's path that a mistyped one most likely meant. */
export function findNearestPath(path: string, operations: readonly AnyOperation[]): string | undefined {
  return findNearest(
    path,
    operations.map(({ path: template }) => fillTemplate(template, path)),
  );
}

/** A template with its parameters replaced by the parts of a path, so that only its fixed parts can differ. */
function fillTemplate(template: string, path: string): string {
  const parts = path.split("/");
  return template
    .split("/")
    .map((part, index) => (part.includes("{") ? (parts[index] ?? part) : part))
    .join("/");
}

/** Globs such as `files.*`, to suggest for a glob that matches nothing; a name without a dot stands for itself. */
function listGlobs(names: readonly string[]): Set<string> {
  const globs = names.flatMap((name) => {
    const [group, ...rest] = name.split(".");
    return rest.length === 0 ? [name] : [`${group}.*`, `*.${rest.join(".")}`];
  });
  return new Set(globs);
}
