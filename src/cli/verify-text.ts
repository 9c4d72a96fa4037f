import { pluralize } from "../engine/contract/text.ts";
import { OUTCOME_MARKS } from "../tools/checks/frame.ts";
import type { CheckReport, Outcome, RecordedReport, VerifyReport } from "../tools/verify/report.ts";
import { table } from "./output.ts";

const MAX_REQUESTS = 3;

/** The checks that did not pass, the changes, the assumptions that differ, and the verdict. */
export function verifyText(report: VerifyReport): string {
  const open = report.checks.filter(({ outcome }) => outcome !== "passed");
  const by = (outcome: Outcome) => open.filter((one) => one.outcome === outcome);
  const lines = [...by("not-observable"), ...by("differs"), ...by("failed")].flatMap(checkLines);
  return [
    ...lines,
    ...(lines.length > 0 ? [""] : []),
    ...changesText(report),
    ...assumptionsText(report),
    verdictText(report),
  ].join("\n");
}

/** One check with its findings. */
export function checkLines({ outcome, section, title, id, ...found }: CheckReport): string[] {
  const lines = [`${OUTCOME_MARKS[outcome].mark}  ${section} ${title} [${id}]`];
  for (const failure of found.failures) lines.push(`      ${failure}`);
  for (const { assumption, detail } of found.differences)
    lines.push(`      differs from the assumption ${assumption}: ${detail}`);
  if (outcome === "not-observable") for (const reason of found.not_observed) lines.push(`      ${reason}`);
  if (outcome === "failed") {
    for (const { method, path, status, request_id } of found.requests.slice(-MAX_REQUESTS))
      lines.push(`      ${method} ${path} -> ${status}${request_id === null ? "" : ` (${request_id})`}`);
  }
  return lines.map(withoutControls);
}

function changesText({ write, changes }: VerifyReport): string[] {
  if (!write) return [];
  const rows = changes.map(({ done, undone, detail }) => `  ${done}: ${undone ? "" : "stays; "}${detail}`);
  return ["Changed:", ...(rows.length > 0 ? rows : ["  nothing"]), ""].map(withoutControls);
}

function assumptionsText({ assumptions }: VerifyReport): string[] {
  const apart = assumptions.filter(({ differs }) => differs > 0);
  if (apart.length === 0) return [];
  const rows = apart.map(({ id, topic, confirmed, differs }) => [
    id,
    topic,
    String(differs),
    String(confirmed),
  ]);
  return [table(["", "assumption", "differs", "fits"], rows), ""];
}

/** How many entries of an archive were judged, and why others were not. */
function recordedText({ file, entries, judged, ...left }: RecordedReport): string {
  const others = Object.entries({
    "of other hosts": left.other_hosts,
    "of unknown paths": left.unknown_paths,
    ...left.not_judged,
  });
  const reasons = others.filter(([, count]) => count > 0).map(([reason, count]) => `${count} ${reason}`);
  const rest = reasons.length === 0 ? "" : `; not judged: ${reasons.join(", ")}`;
  return `${judged} of ${pluralize(entries, "entry", "entries")} of ${file} judged, of ${pluralize(left.operations.length, "operation")}${rest}.`;
}

function verdictText({
  verdict,
  target,
  organization_id,
  summary,
  requests,
  duration_ms,
  stopped,
  recorded,
}: VerifyReport) {
  const { passed, failed, differs, not_observable } = summary;
  const counts = `${passed} passed, ${failed} failed, ${differs} differ from an assumption, ${not_observable} not observable`;
  const as = organization_id === null ? "" : ` in ${organization_id}`;
  const took = `${requests} ${recorded === null ? "" : "recorded "}requests, ${(duration_ms / 1000).toFixed(1)} s`;
  const why = stopped === null ? "" : `\nStopped: ${stopped}.`;
  const archive = recorded === null ? "" : `${withoutControls(recordedText(recorded))}\n`;
  return (
    archive +
    withoutControls(`${verdict === "pass" ? "PASS" : "FAIL"}  ${target}${as}: ${counts} (${took})`) +
    why
  );
}

/** An answer must not be able to steer the terminal. */
function withoutControls(line: string): string {
  return line.replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}
