import { setTimeout as wait } from "node:timers/promises";
import packageJson from "../../package.json" with { type: "json" };
import { toPrintableLines } from "../engine/contract/text.ts";
import { formatProblem } from "../engine/documents/document-error.ts";
import { OUTCOME_MARKS } from "../tools/checks/run-checks.ts";
import type { Check } from "../tools/verify/check.ts";
import { Contract } from "../tools/verify/contract.ts";
import { readIdsToUse } from "../tools/verify/known-objects.ts";
import { verifyRecorded } from "../tools/verify/recorded/verify-recorded.ts";
import {
  type CheckReport,
  describeRecorded,
  formatDifference,
  formatRequest,
  listVerifyCases,
  nameVerdict,
  renderVerifyHtml,
  type VerifyOutcome,
  type VerifyReport,
} from "../tools/verify/report.ts";
import { runVerify } from "../tools/verify/run-verify.ts";
import { type Result, toTimeoutMs } from "./command.ts";
import { type OwnOptions, readApi } from "./document-files.ts";
import { UsageError } from "./failure.ts";
import { createStatusLine, formatTable, isInteractive, printError, runInterruptible } from "./process.ts";
import { parseReportFiles, writeReports } from "./write-files.ts";

interface VerifyCommandOptions extends OwnOptions {
  target: string | undefined;
  key: string | undefined;
  har: string | undefined;
  write: boolean;
  own: boolean;
  strict: boolean;
  use: string[] | undefined;
  report: string[] | undefined;
  timeout: number;
  json: boolean;
}

/** `verify`: a module of its own, since it loads the whole contract. */
export async function runVerifyCommand(options: VerifyCommandOptions): Promise<Result> {
  const { target, har } = options;
  const timeoutMs = toTimeoutMs(options.timeout);
  const reports = parseReportFiles(options.report);
  checkMode(options);
  const { resources } = await readApi(options);
  const contract = new Contract(resources);
  const idsToUse = readIdsToUse(options.use ?? [], contract.names, (problem) =>
    printError(formatProblem(problem)),
  );
  const result =
    har === undefined
      ? // The first Ctrl-C ends the checks and undoes their changes; the report is still written. A second does not wait.
        await runInterruptible((signal) => verifyTarget(options, { contract, idsToUse, signal, timeoutMs }))
      : await verifyRecorded({ contract, file: har, target, strict: options.strict });
  return {
    value: result,
    text: formatVerifyReport(result),
    failed: result.verdict === "fail",
    writeReports: () =>
      writeReports(reports, { cases: () => listVerifyCases(result), html: () => renderVerifyHtml(result) }),
  };
}

/** @throws UsageError for options that exclude each other */
function checkMode({ har, target, key, write, own, use, operations, openapi }: VerifyCommandOptions): void {
  if (own && operations === undefined && openapi === undefined)
    throw new UsageError("--own needs the operations: --operations or --openapi");
  if (har === undefined) {
    if (target === undefined || key === undefined)
      throw new UsageError("verify needs --target and --key, or --har FILE for what was recorded");
    return;
  }
  for (const [name, value] of Object.entries({ key, write: write || undefined, own: own || undefined, use }))
    if (value !== undefined)
      throw new UsageError(`--har sends nothing, so --${name} cannot be combined with it`);
}

async function verifyTarget(
  { target, key, write, own, strict, json }: VerifyCommandOptions,
  run: Pick<Parameters<typeof runVerify>[0], "contract" | "idsToUse" | "signal" | "timeoutMs">,
): Promise<VerifyReport> {
  const progress = createVerifyProgress(!json && isInteractive(process.stderr));
  try {
    return await runVerify({
      ...run,
      target: target!,
      key: key!,
      write,
      own,
      strict,
      version: packageJson.version,
      wait: async (milliseconds, stop) => {
        progress.showWait(milliseconds);
        await wait(milliseconds, undefined, { signal: stop });
      },
      onStart: (check, place) => progress.start(check, place),
      onEnd: (report) => progress.end(report),
    });
  } finally {
    progress.close();
  }
}

/** Shows one line for the running check on a terminal; checks that fail or differ stay above it. */
function createVerifyProgress(isLive: boolean) {
  const showStatus = createStatusLine(isLive);
  let current = "";
  return {
    start({ section, title }: Check, { index, total }: { index: number; total: number }) {
      current = `[${index + 1}/${total}] ${section} ${title}`;
      showStatus(current);
    },
    end(report: CheckReport) {
      if (!isLive || (report.outcome !== "failed" && report.outcome !== "differs")) return;
      showStatus("");
      process.stderr.write(`${toPrintableLines(formatCheckLines(report).join("\n"))}\n`);
    },
    showWait: (milliseconds: number) =>
      showStatus(`${current} (waits ${Math.ceil(milliseconds / 1000)} s for the rate limit)`),
    close: () => showStatus(""),
  };
}

const MAX_REQUESTS = 3;

/** The checks that did not pass, the changes, the assumptions that differ, and the verdict. */
function formatVerifyReport(report: VerifyReport): string {
  const shownOutcomes: VerifyOutcome[] = ["not-observable", "differs", "failed"];
  const lines = shownOutcomes
    .flatMap((outcome) => report.checks.filter((one) => one.outcome === outcome))
    .flatMap(formatCheckLines);
  const { recorded } = report;
  return [
    ...(recorded === null ? [] : [toOneLine(`${describeRecorded(recorded)}.`), ""]),
    ...lines,
    ...(lines.length > 0 ? [""] : []),
    ...formatChanges(report),
    ...formatAssumptions(report),
    formatVerdictLine(report),
  ].join("\n");
}

function formatCheckLines({ outcome, section, title, id, ...check }: CheckReport): string[] {
  const findings = [
    ...check.failures,
    ...check.differences.map(formatDifference),
    ...(outcome === "not-observable" ? check.not_observed : []),
    ...(outcome === "failed" ? check.requests.slice(-MAX_REQUESTS).map(formatRequest) : []),
  ].map((text) => `      ${text}`);
  return [`${OUTCOME_MARKS[outcome].mark}  ${section} ${title} [${id}]`, ...findings].map(toOneLine);
}

function formatChanges({ write, changes }: VerifyReport): string[] {
  if (!write) return [];
  const rows = changes.map(({ done, undone, detail }) => `  ${done}: ${undone ? "" : "stays; "}${detail}`);
  return ["Changed:", ...(rows.length > 0 ? rows : ["  nothing"]), ""].map(toOneLine);
}

function formatAssumptions({ assumptions }: VerifyReport): string[] {
  const differing = assumptions.filter(({ differs }) => differs > 0);
  if (differing.length === 0) return [];
  const rows = differing.map((one) => [one.id, one.topic, String(one.differs), String(one.confirmed)]);
  return [formatTable(["", "assumption", "differs", "fits"], rows), ""];
}

function formatVerdictLine(report: VerifyReport): string {
  const { target, organization_id, requests, duration_ms, stopped, recorded } = report;
  const { passed, failed, differs, not_observable } = report.summary;
  const counts = `${passed} passed, ${failed} failed, ${differs} differ from an assumption, ${not_observable} not observable`;
  const where = organization_id === null ? "" : ` in ${organization_id}`;
  const took = `${requests} ${recorded === null ? "" : "recorded "}requests, ${(duration_ms / 1000).toFixed(1)} s`;
  const why = stopped === null ? "" : `\nStopped: ${stopped}.`;
  const warning = passed + failed + differs === 0 ? "\nNothing could be checked, which proves nothing." : "";
  const verdict = nameVerdict(report).replace(/^\w+/, (first) => first.toUpperCase());
  return toOneLine(`${verdict}  ${target}${where}: ${counts} (${took})`) + warning + why;
}

/** A text of an answer may have line ends; all that is printed is made safe for a terminal later. */
function toOneLine(line: string): string {
  return line.replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}
