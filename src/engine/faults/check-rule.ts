import type { DeclaredApi } from "../contract/event.ts";
import type { AnyOperation } from "../contract/operation.ts";
import { nearest } from "../contract/text.ts";
import { GlobError, glob, isGlob } from "../documents/glob.ts";
import type { ProblemDetails } from "../documents/read-document.ts";
import { documentedCodes, isCatalogueCode, nearestCode, parseCode } from "./codes.ts";
import { durationProblem } from "./effects/delay.ts";
import { checkEffect, WIRE_EFFECTS } from "./effects/index.ts";
import { isDeliveryMatch, matchingOperations, type Serves, servedBy } from "./match.ts";
import type { MatchDocument, RuleDocument } from "./rule-document.ts";

type Path = readonly (string | number)[];

const SCHEDULES = ["sequence", "times", "every", "probability"] as const;

/** Finds mistakes in a well-formed rule that no schema can express; `at` is its place in the document. */
export function checkRule(rule: RuleDocument, at: Path, api: DeclaredApi): ProblemDetails[] {
  return new RuleChecker(rule, at, api).check();
}

class RuleChecker {
  private readonly rule: RuleDocument;
  private readonly at: Path;
  private readonly api: DeclaredApi;
  private readonly problems: ProblemDetails[] = [];

  constructor(rule: RuleDocument, at: Path, api: DeclaredApi) {
    this.rule = rule;
    this.at = at;
    this.api = api;
  }

  check(): ProblemDetails[] {
    const { match = {} } = this.rule;
    this.checkSchedule();
    this.checkEffect();
    this.checkLease();
    if (isDeliveryMatch(match)) this.checkDelivery(match);
    else this.checkRequests(match);
    return this.problems;
  }

  private report(path: Path, message: string, hint?: string): void {
    this.problems.push({ path: [...this.at, ...path], message, hint });
  }

  private checkSchedule(): void {
    const given = SCHEDULES.filter((key) => this.rule[key] !== undefined);
    for (const key of given.slice(1)) {
      this.problems.push({
        path: [...this.at, key],
        message: `\`${key}\` cannot go with \`${given[0]}\`; a rule has one of ${SCHEDULES.join(", ")}, or none`,
        atKey: true,
      });
    }
  }

  private checkEffect(): void {
    const { effect, sequence } = this.rule;
    if (effect === undefined || Object.keys(effect).length === 0) {
      if (sequence === undefined) this.report([], "the rule needs an `effect`, or a `sequence` of answers");
      return;
    }
    const report = (path: Path, message: string, hint?: string) =>
      this.report(["effect", ...path], `\`${path.join(".")}\` ${message}`, hint);
    checkEffect(effect, report);
    if (sequence === undefined) return;
    for (const key of ["error", "status", "body", "details"] as const) {
      if (effect[key] !== undefined)
        report([key], "is what the entries of the sequence give; remove one of them");
    }
  }

  private checkLease(): void {
    const ttl = this.rule.lease?.ttl;
    const problem = ttl === undefined ? undefined : durationProblem(ttl);
    if (problem !== undefined)
      this.report(["lease", "ttl"], `\`lease.ttl\` ${problem.message}`, problem.hint);
  }

  private checkRequests(match: MatchDocument): void {
    const found = matchedOperations(match, this.at, {
      operations: this.api.operations,
      serves: servedBy(this.rule),
    });
    const matched = Array.isArray(found) ? found : [];
    if (!Array.isArray(found)) this.problems.push(found);
    if (match.api_key?.startsWith("ak_"))
      this.report(
        ["match", "api_key"],
        "a rule names a key by its id, such as apikey_dan, not by the key itself",
      );
    // Of operations that are not known, nothing is known but that a code must be in the catalogue.
    const { effect, sequence = [] } = this.rule;
    if (effect?.error !== undefined) this.checkCode(effect.error, ["effect", "error"], matched);
    for (const [index, entry] of sequence.entries()) {
      if (typeof entry === "string" && entry !== "pass") this.checkCode(entry, ["sequence", index], matched);
    }
  }

  private checkCode(text: string, path: Path, matched: readonly AnyOperation[]): void {
    const { code, forced } = parseCode(text);
    if (!isCatalogueCode(code)) {
      const hint =
        path[0] === "sequence"
          ? (nearest(code, ["pass"]) ?? nearestCode(code, this.api.operations))
          : nearestCode(code, this.api.operations);
      const what = WIRE_EFFECTS.some(({ name }) => name === text)
        ? "is a wire fault, which belongs in `effect: { wire: … }`"
        : "is no code of the catalogue";
      this.report(path, `${JSON.stringify(code.slice(0, 80))} ${what}`, hint);
    } else if (
      !forced &&
      matched.length > 0 &&
      !matched.some((operation) => documentedCodes(operation).has(code))
    ) {
      const who =
        matched.length === 1 ? `${matched[0]!.id} never answers` : "none of the matched operations answers";
      this.report(path, `${who} ${code}; \`${code}!\` forces it all the same`);
    }
  }

  private checkDelivery(match: MatchDocument): void {
    for (const key of Object.keys(match) as (keyof MatchDocument)[]) {
      if (key === "event" || key === "webhook") continue;
      this.problems.push({
        path: [...this.at, "match", key],
        message: `\`match.${key}\` is about requests; \`event\` and \`webhook\` hit deliveries`,
        atKey: true,
      });
    }
    const { effect = {}, phase, sequence = [] } = this.rule;
    for (const key of ["error", "details", "headers", "body"] as const) {
      if (effect[key] !== undefined)
        this.report(["effect", key], `a delivery is hit with status, delay or wire, not with \`${key}\``);
    }
    if (phase === "after") this.report(["phase"], "a delivery has one phase; `after` is about requests");
    for (const [index, entry] of sequence.entries()) {
      if (typeof entry === "string" && entry !== "pass")
        this.report(
          ["sequence", index],
          "a receiver answers with a status; codes are the API's",
          nearest(entry, ["pass"]),
        );
    }
    this.checkEvent(match.event);
  }

  private checkEvent(event: string | undefined): void {
    const known = this.api.events.map(({ name }) => name);
    const problem = event === undefined ? undefined : patternProblem(event, "event", known);
    if (problem !== undefined) this.report(["match", "event"], problem.message, problem.hint);
  }
}

type Said = Pick<ProblemDetails, "message" | "hint">;

/** The operations that a rule's match can hit, or what is wrong with the match; `at` is the rule's place. */
export function matchedOperations(
  match: MatchDocument,
  at: readonly (string | number)[],
  { operations, serves }: { operations: readonly AnyOperation[]; serves: Serves },
): AnyOperation[] | ProblemDetails {
  const { operation, path } = match;
  const ids = operations.map(({ id }) => id);
  const ofOperation = operation === undefined ? undefined : patternProblem(operation, "operation", ids);
  if (ofOperation !== undefined) return { path: [...at, "match", "operation"], ...ofOperation };
  const ofPath = path === undefined ? undefined : pathProblem(path, { operations, serves });
  if (ofPath !== undefined) return { path: [...at, "match", "path"], ...ofPath };
  const matched = matchingOperations(match, operations);
  if (matched.length > 0 || serves !== undefined) return matched;
  return { path: [...at, "match"], message: "no operation fits all of operation, method and path" };
}

/** Checks a name, or a glob of names, against all known ones; undefined if it is right. */
export function patternProblem(pattern: string, kind: string, names: readonly string[]): Said | undefined {
  const unusable = globProblem(pattern);
  if (unusable !== undefined) return unusable;
  if (names.some(glob(pattern))) return undefined;
  const shown = JSON.stringify(pattern.slice(0, 80));
  if (!isGlob(pattern)) return said(`${shown} is no ${kind}`, nearest(pattern, names));
  return said(`${shown} matches no ${kind}`, nearest(pattern, listGlobs(names)));
}

/** The reason why a text is not a pattern. */
export function globProblem(pattern: string): Said | undefined {
  try {
    glob(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof GlobError) return { message: `the pattern cannot be used: ${error.message}` };
    throw error;
  }
}

/** @param serves it may be no operation's */
function pathProblem(
  path: string,
  { operations, serves }: { operations: readonly AnyOperation[]; serves: Serves },
): Said | undefined {
  const unusable = globProblem(path);
  if (unusable !== undefined) return unusable;
  // `?` is also a wildcard, but not before a name and an equals sign.
  if (/\?[\w.%-]+=/.test(path))
    return { message: "the path contains a query; match parameters with `match.query`" };
  // Paths that begin so are Understudy's own, and never reach a rule.
  if (!/^[/*?{]/.test(path) || path.startsWith("/_"))
    return { message: "a path begins with a slash and has no host, prefix or query" };
  const meant = nearestPath(path, operations);
  // A rule that only fails, on a path close to an existing one, was meant for that one.
  const isServed = serves === "content" || (serves === "failure" && meant === undefined);
  if (isGlob(path) || isServed || matchingOperations({ path }, operations).length > 0) return undefined;
  const what = `${JSON.stringify(path.slice(0, 80))} is no path of an operation, where only a rule with a \`status\` or \`body\` of its own answers`;
  return said(what, meant);
}

/** The operation's path that a mistyped one most likely meant. */
export function nearestPath(path: string, operations: readonly AnyOperation[]): string | undefined {
  return nearest(
    path,
    operations.map(({ path: template }) => filledIn(template, path)),
  );
}

/** A template with the parts of a path where it has parameters, so that only what is fixed can differ. */
function filledIn(template: string, path: string): string {
  const parts = path.split("/");
  return template
    .split("/")
    .map((part, index) => (part.startsWith("{") ? (parts[index] ?? part) : part))
    .join("/");
}

/** Globs such as `files.*`, to suggest for a glob that matches nothing. */
function listGlobs(names: readonly string[]): Set<string> {
  const globs = names.flatMap((name) => {
    const [group, ...rest] = name.split(".");
    return [`${group}.*`, `*.${rest.join(".")}`];
  });
  return new Set(globs);
}

function said(message: string, hint: string | undefined): Said {
  return hint === undefined ? { message } : { message, hint };
}
