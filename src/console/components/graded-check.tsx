import type { ReactNode } from "react";
import type { CheckResult } from "../../tools/checks/run-checks.ts";
import { Badge } from "./status.tsx";
import { TextWithCode } from "./text.tsx";

const OUTCOMES = {
  error: "failed",
  failed: "failed",
  "not-observable": "waiting",
  passed: "ok",
} as const;

interface CheckGrade extends CheckResult<keyof typeof OUTCOMES> {
  severity: string;
  advice: string;
  note?: string | null;
}

/** A check of the client or receiver test, open if it failed or could not run; `children` say what it found. */
export function GradedCheck(props: {
  check: CheckGrade;
  isUnderWay?: boolean;
  actions: ReactNode;
  children: ReactNode;
}) {
  const { id, title, severity, outcome, advice, note } = props.check;
  const isOpen = outcome === "failed" || outcome === "error";
  return (
    <li>
      <details className="graded" open={isOpen}>
        <summary className="line">
          <Badge outcome={OUTCOMES[outcome]}>
            {props.isUnderWay && outcome === "not-observable" ? "not seen yet" : outcome.replace("-", " ")}
          </Badge>
          <span>{title}</span>
          {outcome === "failed" && <span className="quiet small">severity: {severity}</span>}
        </summary>
        {props.children}
        {isOpen && (
          <p>
            <strong>Fix:</strong> <TextWithCode>{advice}</TextWithCode>
          </p>
        )}
        {note && <p>{note}</p>}
        <div className="actions">
          <code className="quiet">{id}</code>
          {props.actions}
        </div>
      </details>
    </li>
  );
}
