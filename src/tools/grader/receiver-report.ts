import { type JunitCase, junit } from "../reports/junit.ts";
import { type CheckReport, isGrave, type ReceiverReport } from "./report.ts";

export { receiverHtml } from "./receiver-html.ts";

/**
 * The grader's report as JUnit XML, one test case per check; what could not be observed, and failures that don't
 * fail the receiver, count as skipped.
 */
export function receiverJunit(report: ReceiverReport): string {
  const cases = report.checks.map((check) => junitCase(check, report));
  return junit({ name: "receiver-test", suites: [{ name: report.url, cases }] });
}

function junitCase(check: CheckReport, { fail_on: failOn }: ReceiverReport): JunitCase {
  const one: JunitCase = {
    name: `${check.id}: ${check.title}`,
    classname: `receiver-test.${check.severity}`,
    time_seconds: check.duration_ms / 1000,
  };
  const detail = [check.detail, `Why: ${check.why}`, `Mend: ${check.advice}`, check.curl ?? ""]
    .join("\n")
    .trim();
  if (check.outcome === "failed") {
    if (isGrave(check, failOn)) one.failure = { message: check.detail, detail };
    else one.skipped = `failed, below ${failOn}: ${check.detail}`;
  }
  if (check.outcome === "error") one.error = { message: check.detail, detail };
  if (check.outcome === "not-observable") one.skipped = check.detail;
  if (check.note) one.system_out = check.note;
  return one;
}
