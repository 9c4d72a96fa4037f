import { Button } from "react-aria-components";
import type { CheckReport, ReceiverReport } from "../../api/types.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { counted } from "../../parts/counted.ts";
import { Badge, type Outcome } from "../../parts/mark.tsx";
import { Notice } from "../../parts/notice.tsx";
import { saveFile } from "../../parts/save-file.ts";

/** What fails comes first, then what nobody could see; what passed is at the end. */
const ORDER: readonly CheckReport["outcome"][] = ["error", "failed", "not-observable", "passed"];
const OUTCOMES: Readonly<Record<CheckReport["outcome"], Outcome>> = {
  error: "failed",
  failed: "failed",
  "not-observable": "waiting",
  passed: "ok",
};
const WORST: readonly CheckReport["severity"][] = ["critical", "major", "minor"];

/** The report of a receiver test, failures first. */
export function TestReport({ report }: { report: ReceiverReport }) {
  const { verdict, summary, stopped, checks, unseen } = report;
  const ordered = checks.toSorted(
    (a, b) =>
      ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome) ||
      WORST.indexOf(a.severity) - WORST.indexOf(b.severity),
  );
  return (
    <section className="test-report" aria-label="Report">
      <Notice
        outcome={verdict === "pass" ? "ok" : "failed"}
        action={
          <Button
            className="button"
            onPress={() => saveFile("receiver-test.json", JSON.stringify(report, null, 2))}
          >
            Save as JSON
          </Button>
        }
      >
        <strong>{verdict === "pass" ? "Pass" : "Fail"}.</strong> {summary.passed} of{" "}
        {counted(summary.total, "check")} passed, {summary.failed} failed, {summary.not_observable} not
        observable, {summary.error} with an error; in {(report.duration_ms / 1000).toFixed(1)} s. {stopped}
      </Notice>
      <ul className="checks" aria-label="Checks">
        {ordered.map((check) => (
          <Check key={check.id} check={check} />
        ))}
      </ul>
      <details className="graded">
        <summary>What no test from outside can show</summary>
        <ul className="unseen-list">
          {unseen.map(({ what, how }) => (
            <li key={what}>
              <strong>{what}.</strong> {how}
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}

function Check({ check }: { check: CheckReport }) {
  const { id, title, severity, outcome, why, detail, advice, note, curl } = check;
  const open = outcome === "failed" || outcome === "error";
  return (
    <li>
      <details className="graded" open={open}>
        <summary>
          <Badge outcome={OUTCOMES[outcome]}>{outcome.replace("-", " ")}</Badge>
          <span>{title}</span>
          <span className="quiet small">{severity}</span>
        </summary>
        <p>{detail}</p>
        <p className="quiet">{why}</p>
        {open && (
          <p>
            <strong>Mend:</strong> {advice}
          </p>
        )}
        {note && <p>{note}</p>}
        <div className="actions">
          <code className="quiet">{id}</code>
          {curl && <CopyButton text={curl} label="Copy as curl" />}
        </div>
      </details>
    </li>
  );
}
