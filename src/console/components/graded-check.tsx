import type { ReactNode } from "react";
import { Badge } from "./mark.tsx";

const OUTCOMES = {
  error: "failed",
  failed: "failed",
  "not-observable": "waiting",
  passed: "ok",
} as const;

interface CheckGrade {
  id: string;
  title: string;
  severity: string;
  outcome: keyof typeof OUTCOMES;
  advice: string;
  note?: string | null;
}

/** A check of a test, open if it failed; `children` say what it found. */
export function GradedCheck(props: { check: CheckGrade; actions: ReactNode; children: ReactNode }) {
  const { id, title, severity, outcome, advice, note } = props.check;
  const isOpen = outcome === "failed" || outcome === "error";
  return (
    <li>
      <details className="graded" open={isOpen}>
        <summary className="line">
          <Badge outcome={OUTCOMES[outcome]}>{outcome.replace("-", " ")}</Badge>
          <span>{title}</span>
          <span className="quiet small">{severity}</span>
        </summary>
        {props.children}
        {isOpen && (
          <p>
            <strong>Fix:</strong> {advice}
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
