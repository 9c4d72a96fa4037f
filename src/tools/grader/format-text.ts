import { printableLines } from "../../engine/contract/printable.ts";
import { type CheckReport, NOT_RUN, type Outcome, type ReceiverReport } from "./report.ts";
import type { Unseen } from "./unseen.ts";

const MARKS: Record<Outcome, { mark: string; colour: number }> = {
  passed: { mark: "pass", colour: 32 },
  failed: { mark: "FAIL", colour: 31 },
  "not-observable": { mark: " ?  ", colour: 33 },
  error: { mark: "ERR ", colour: 35 },
};

export interface FormatTextOptions {
  /** ANSI colours; off unless asked for. */
  colour?: boolean;
}

type Paint = (code: number, text: string) => string;

/** The report for a terminal: a line per check, and for what failed, why it matters, what to do and the request. */
export function formatText(told: ReceiverReport, { colour = false }: FormatTextOptions = {}): string {
  // Whatever the receiver has said; only our own colours may stand among it.
  const report = JSON.parse(JSON.stringify(told), (_, value) =>
    typeof value === "string" ? printableLines(value) : value,
  ) as ReceiverReport;
  const paint: Paint = (code, text) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const notRun = report.checks.filter(({ detail }) => detail.startsWith(NOT_RUN));
  const lines = report.checks
    .filter((check) => !notRun.includes(check))
    .flatMap((check) => formatCheck(check, paint));
  if (notRun.length > 0) {
    lines.push(
      `${paint(33, "----")}  ${notRun.length === 1 ? "1 check was" : `${notRun.length} checks were`} not run: ${notRun.map(({ id }) => id).join(", ")}`,
    );
  }
  // A receiver that could not be graded has other worries.
  if (report.stopped === null) {
    lines.push("", "Cannot be seen from outside:", ...report.unseen.map(formatUnseen));
  }
  lines.push("", ...formatVerdict(report, paint));
  return `${lines.join("\n")}\n`;
}

function formatCheck(check: CheckReport, paint: Paint): string[] {
  const { mark, colour } = MARKS[check.outcome];
  const lines = [`${paint(colour, mark)}  ${check.title} ${paint(2, `[${check.id}, ${check.severity}]`)}`];
  if (check.outcome === "failed" || check.outcome === "error") {
    lines.push(`      ${check.detail}`, `      Why:  ${check.why}`, `      Mend: ${check.advice}`);
    if (check.curl) lines.push(`      ${paint(2, check.curl)}`);
  }
  if (check.outcome === "not-observable") lines.push(`      ${check.detail}`);
  if (check.note) lines.push(`      Note: ${check.note}`);
  return lines;
}

function formatUnseen({ what, how }: Unseen): string {
  return `  - ${what}. ${how}`;
}

function formatVerdict(report: ReceiverReport, paint: Paint): string[] {
  const { passed, failed, not_observable: notObservable, error } = report.summary;
  const counts = `${passed} passed, ${failed} failed, ${notObservable} not observable, ${error} with an error`;
  const verdict = report.verdict === "pass" ? paint(32, "PASS") : paint(31, "FAIL");
  const lines = [`${verdict}  ${report.url}: ${counts}`];
  if (report.fail_on !== "minor") lines.push(`Failures below ${report.fail_on} don't fail the receiver.`);
  if (report.stopped) lines.push(report.stopped);
  return lines;
}
