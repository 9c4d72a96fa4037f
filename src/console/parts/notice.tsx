import type { ReactNode } from "react";
import { ControlError } from "../api/fetch-control.ts";
import { Mark, type Outcome } from "./mark.tsx";

/** A sentence that matters, with what can be done about it. */
export function Notice({
  outcome,
  children,
  action,
}: {
  outcome: Outcome;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div
      className={`notice notice-${outcome}`}
      role={outcome === "ok" || outcome === "other" ? "status" : "alert"}
    >
      <Mark outcome={outcome} word={null} />
      <div className="notice-text">{children}</div>
      {action}
    </div>
  );
}

/** What the server said against something, with its hint; nothing where there is no error. */
export function Problem({ error }: { error: unknown }) {
  if (!error) return null;
  const problem = error instanceof ControlError ? error.problem : undefined;
  return (
    <Notice outcome="refused">
      {(error as Error).message}
      {problem?.problems && problem.problems.length > 1 && (
        <ul className="places">
          {problem.problems.map((place) => (
            <li key={`${place.line}:${place.column}:${place.field}`}>
              <code>{place.field || "document"}</code> {place.message}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

/** Why something could not be read anew. Of a server that does not answer, the banner over every view tells, once. */
export function ReadProblem({ error }: { error: unknown }) {
  return error instanceof ControlError && error.unreachable ? null : <Problem error={error} />;
}

/** In place of a list that has nothing: why, and what would fill it. */
export function Nothing({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="nothing">
      <p className="nothing-title">{title}</p>
      {children && <div className="quiet">{children}</div>}
    </div>
  );
}
