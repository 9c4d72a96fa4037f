import { pluralize } from "../../engine/contract/text.ts";
import { canNeverTrigger, findServedKind, type Rule } from "../../engine/faults/rule.ts";
import type { Scenario } from "../../engine/faults/scenario.ts";
import type { Stage } from "../../engine/faults/stages.ts";
import type { RunEnd } from "../../tools/client-test/client-check.ts";
import type { ExpectationOutcome, RuleOutcome, StageResult } from "./suite-result.ts";
import type { SandboxStage, SuiteSandboxes } from "./suite-sandboxes.ts";

/** Judges each stage of a scenario by all sandboxes of its run (interfaces.md 21). */
export async function judgeStages(
  sandboxes: SuiteSandboxes,
  scenario: Scenario,
  { end, rules: allRules }: { end: RunEnd; rules: readonly RuleOutcome[] },
): Promise<StageResult[]> {
  const progress = scenario.stages.length === 0 ? [] : await sandboxes.listStages();
  const results: StageResult[] = [];
  for (const [index, stage] of scenario.stages.entries()) {
    const stageStates = progress.flatMap((stages) => stages[index] ?? []);
    const requests = stageStates.reduce((sum, one) => sum + one.requests, 0);
    const rules = allRules.filter(({ id }) => stage.rules.has(id));
    const facts = { name: stage.name, requests, rules };
    if (requests === 0) {
      const began = stageStates.some(({ state }) => state !== "waiting");
      const why = [began ? "no request arrived during this stage" : "the run never reached this stage"];
      results.push({ ...facts, verdict: "inconclusive", why, expectations: [] });
      continue;
    }
    const scope = { stage: `${scenario.name}/${stage.name}`, end };
    const expectations = await sandboxes.evaluate(stage.expect, scope);
    const doubts = [...describeUnended(stage, stageStates), ...describeNeverTriggered(rules, scenario)];
    results.push({ ...facts, expectations, ...decideVerdict(expectations, doubts) });
  }
  return results;
}

function decideVerdict(
  expectations: readonly ExpectationOutcome[],
  doubts: readonly string[],
): Pick<StageResult, "verdict" | "why"> {
  const unmet = expectations.filter(({ ok }) => !ok);
  const why = [...doubts, ...unmet.flatMap((one) => one.why ?? [])];
  if (why.length === 0) return { verdict: "passed", why };
  const isSure = doubts.length === 0 && unmet.some(({ unclear }) => !unclear);
  return { verdict: isSure ? "failed" : "inconclusive", why };
}

function describeUnended({ until }: Stage, stageStates: readonly SandboxStage[]): string[] {
  if (Object.values(until).every((limit) => limit === undefined)) return [];
  if (stageStates.some(({ state }) => state === "ended")) return [];
  const requestCount = Math.max(...stageStates.map(({ requests }) => requests));
  if (until.held) return ["the stage did not end: it ends when a request is held, and none was"];
  const reason =
    until.requests === undefined
      ? "its time had not passed"
      : `${requestCount} of ${pluralize(until.requests, "request")} came`;
  return [`the stage did not end: ${reason}`];
}

/** Lists rules that were never triggered, since the run says nothing about them; rules that need not trigger are left out. */
export function describeNeverTriggered(outcomes: readonly RuleOutcome[], { rules }: Scenario): string[] {
  const silentIds = new Set(rules.filter(mayStaySilent).map(({ id }) => id));
  return outcomes
    .filter(({ id, hits }) => hits === 0 && !silentIds.has(id))
    .map(({ id }) => `the rule ${id} was never triggered`);
}

/** Rules that are off, and rules that serve content at a path that the API lacks. */
function mayStaySilent(rule: Rule): boolean {
  return canNeverTrigger(rule) || findServedKind(rule.document) === "content";
}
