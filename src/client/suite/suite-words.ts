import type { SuiteTest } from "../suite-share.ts";
import type { ExpectationOutcome, RuleOutcome } from "./suite-result.ts";

/** The same words in every report. */
export function ruleText({ id, hits }: RuleOutcome): string {
  return `${id}: ${hits === 0 ? "never struck" : `struck ${hits === 1 ? "once" : `${hits} times`}`}`;
}

export function expectationText({ what, ok, found }: ExpectationOutcome): string {
  return `${ok ? "met" : "not met"}: ${what}; found ${found}`;
}

export function testText({ name, outcome }: SuiteTest): string {
  return `${outcome}: ${name}`;
}
