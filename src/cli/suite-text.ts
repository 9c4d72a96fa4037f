import { coverageText } from "../client/suite/suite-coverage.ts";
import type { ScenarioResult, SuiteResult } from "../client/suite/suite-result.ts";
import { table } from "./output.ts";

const SHOWN_LINES = 60;
const MARKS = { passed: "ok", failed: "FAIL", error: "FAIL", skipped: "skip" } as const;

/** What failed with the end of its output, then the matrix of all. */
export function suiteText({ scenarios, coverage, ...total }: SuiteResult): string {
  const { passed, failed, skipped, duration_ms } = total;
  const rows = scenarios.map(
    ({ name, outcome, exit_code, signal, rules, expectations, requests, duration_ms: ms }) => [
      MARKS[outcome],
      name,
      String(signal ?? exit_code ?? "–"),
      `${rules.filter(({ hits }) => hits > 0).length}/${rules.length}`,
      `${expectations.filter(({ ok }) => ok).length}/${expectations.length}`,
      String(requests),
      `${(ms / 1000).toFixed(1)} s`,
    ],
  );
  return [
    ...scenarios.filter(({ outcome }) => MARKS[outcome] === "FAIL").map(failureText),
    table(["", "scenario", "exit", "rules struck", "expectations", "requests", "time"], rows),
    "",
    `coverage: ${coverageText(coverage)}`,
    `${passed} passed, ${failed} failed, ${skipped === 0 ? "" : `${skipped} skipped, `}${(duration_ms / 1000).toFixed(1)} s`,
  ].join("\n");
}

function failureText({ name, failures, output }: ScenarioResult): string {
  const lines = output.trimEnd().split("\n");
  const left = Math.max(0, lines.length - SHOWN_LINES);
  return [
    `--- ${name}`,
    ...failures.map((failure) => `  ${failure}`),
    ...(left > 0 ? [`  | … ${left} lines before; the reports have them`] : []),
    ...(output.trim() === "" ? [] : lines.slice(-SHOWN_LINES).map((text) => `  | ${text}`)),
    "",
  ].join("\n");
}
