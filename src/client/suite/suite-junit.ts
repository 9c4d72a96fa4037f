import { stripVTControlCharacters } from "node:util";
import { type JunitCase, junit } from "../../tools/reports/junit.ts";
import type { ScenarioResult, SuiteResult } from "./suite-result.ts";
import { coverageText, expectationText, journalLine, ruleText, testText } from "./suite-result.ts";

/** interfaces 2: one test case per scenario; a failed one brings its output and its journal. */
export function suiteJunit({ scenarios, command, coverage }: SuiteResult): string {
  return junit({
    name: "understudy suite",
    suites: [
      {
        name: command.join(" "),
        properties: [{ name: "coverage", value: coverageText(coverage) }],
        cases: scenarios.map(junitCase),
      },
    ],
  });
}

function junitCase(result: ScenarioResult): JunitCase {
  const { name, file, duration_ms, outcome, failures, output, journal } = result;
  const one: JunitCase = {
    ...{ name, classname: file, time_seconds: duration_ms / 1000 },
    properties: outcome === "skipped" ? [] : toProperties(result),
  };
  if (output !== "") one.system_out = stripVTControlCharacters(output);
  if (outcome === "passed") return one;
  if (outcome === "skipped") return { ...one, skipped: "the suite was interrupted before it began" };
  const requests = journal.length === 0 ? [] : ["", "Requests:", ...journal.map(journalLine)];
  const problem = { message: failures.join("; "), detail: [...failures, ...requests].join("\n") };
  return outcome === "error" ? { ...one, error: problem } : { ...one, failure: problem };
}

/** The lines of the terminal, for a run that passed as well. */
function toProperties({ rules, expectations, tests, requests }: ScenarioResult) {
  return [
    ...rules.map((rule) => ({ name: "rule", value: ruleText(rule) })),
    ...expectations.map((one) => ({ name: "expectation", value: expectationText(one) })),
    ...tests.map((one) => ({ name: "test", value: testText(one) })),
    { name: "requests", value: String(requests) },
  ];
}
