import type { DeclaredApi } from "../../contract/declared-api.ts";
import type { AnyOperation } from "../../contract/operation.ts";
import { nearest } from "../../documents/nearest.ts";
import type { ProblemDetails } from "../../documents/read-document.ts";
import { codesOf, isCatalogueCode, nearestCode, parseCode } from "../codes.ts";
import { durationProblem } from "../effects/delay-range.ts";
import { checkEffect, WIRE_EFFECTS } from "../effects/index.ts";
import { matchedOperations, patternProblem } from "./check-match.ts";
import { isDeliveryMatch, servedBy } from "./match.ts";
import type { MatchDocument, RuleDocument } from "./rule-schema.ts";

type Path = readonly (string | number)[];

const SCHEDULES = ["sequence", "times", "every", "probability"] as const;

/** What is wrong with a well-formed rule that no schema can say; `at` is its place in the document. */
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
        message: `\`${key}\` cannot stand beside \`${given[0]}\`; a rule has one of ${SCHEDULES.join(", ")}, or none`,
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
        report([key], "is what the entries of the sequence say; leave one of them away");
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
        ? "is a wire fault, which stands in `effect: { wire: … }`"
        : "is no code of the catalogue";
      this.report(path, `${JSON.stringify(code.slice(0, 80))} ${what}`, hint);
    } else if (!forced && matched.length > 0 && !matched.some((operation) => codesOf(operation).has(code))) {
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
