import type { ReactNode } from "react";
import { ControlError } from "../api/fetch-control.ts";
import { Mark, type Outcome } from "./mark.tsx";

export function Notice(props: { outcome: Outcome; children: ReactNode; action?: ReactNode }) {
  const { outcome, children, action } = props;
  return (
    <div
      className="notice"
      style={{ background: `var(--${outcome}-soft, var(--raised))` }}
      role={outcome === "ok" || outcome === "other" ? "status" : "alert"}
    >
      <Mark outcome={outcome} word={null} />
      <div className="grow">{children}</div>
      {action}
    </div>
  );
}

/** An error and, for documents, every invalid place; nothing without an error. */
export function Problem({ error }: { error: unknown }) {
  if (!error) return null;
  const places = error instanceof ControlError ? (error.problem.problems ?? []) : [];
  return (
    <Notice outcome="refused">
      {(error as Error).message}
      {places.length > 1 && (
        <ul className="places">
          {places.map((place) => (
            <li key={`${place.line}:${place.column}:${place.field}`}>
              <code>{place.field || "document"}</code> {place.message}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

/** The error of a query. The banner above the view already reports an unreachable server. */
export function LoadError({ error }: { error: unknown }) {
  return error instanceof ControlError && error.isUnreachable ? null : <Problem error={error} />;
}

/** For an address that selects something which does not exist. */
export function NotFound({ kind, id }: { kind: string; id: string | undefined }) {
  return (
    <Notice outcome="refused">
      No {kind} {id}. It may have been deleted.
    </Notice>
  );
}

export function Loading() {
  return <p className="loading quiet">Loading …</p>;
}

/** Replaces an empty list: why it is empty and what would fill it. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="nothing">
      <strong>{title}</strong>
      {children && <div className="quiet">{children}</div>}
    </div>
  );
}
