import type { ReactNode } from "react";
import { toPrintableLines } from "../../engine/contract/text.ts";
import { ControlError } from "../api/fetch-control.ts";
import { reconnectionTime } from "../api/store.ts";

/** The outcome of a request or another entry: each has its own shape, colour and word. */
export type Outcome =
  | "ok"
  /** The operation's own answer, delayed by a fault. */
  | "delayed"
  /** Status 4xx. */
  | "refused"
  /** Status 5xx, or no response. */
  | "failed"
  /** A fault replaced the answer. */
  | "fault"
  /** Neither good nor bad, such as a change through the control API. */
  | "other"
  | "rewind"
  | "waiting"
  | "cancelled";

/** Width and height of the shapes, in SVG units. */
export const SHAPE_SIZE = 12;

/** SVG paths around the current point. */
export const SHAPES: Record<Outcome, string> = {
  ok: "m0-4.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z",
  delayed: "m0-4.8a4.8 4.8 0 1 1 0 9.6a4.8 4.8 0 1 1 0-9.6zm-.9 2v3.4l2.6 1.7 .9-1.3-1.8-1.2v-2.6z",
  refused: "m0-4.8l5.2 9.3h-10.4z",
  failed: "m-4.5-4.5h9v9h-9z",
  fault: "m0-5.6l5.6 5.6-5.6 5.6-5.6-5.6z",
  other: "m0-3.8a3.8 3.8 0 1 1 0 7.6a3.8 3.8 0 1 1 0-7.6z",
  rewind: "m-.2-4.6v9.2l-5.2-4.6zm5.4 0v9.2l-5.2-4.6z",
  waiting: "m-4-3.5h8l-4 3.5zm0 7h8l-4-3.5z",
  cancelled:
    "m-4-2.6l1.4-1.4 2.6 2.6 2.6-2.6 1.4 1.4-2.6 2.6 2.6 2.6-1.4 1.4-2.6-2.6-2.6 2.6-1.4-1.4 2.6-2.6z",
};

const WORDS: Record<Outcome, string> = {
  ok: "OK",
  delayed: "delayed",
  refused: "rejected",
  failed: "error",
  fault: "injected",
  other: "change",
  rewind: "rewind",
  waiting: "pending",
  cancelled: "cancelled",
};

export function getOutcomePaint(outcome: Outcome) {
  if (outcome === "other") return { fill: "none", stroke: "var(--other)", strokeWidth: 1.6 };
  return { fill: `var(--${outcome})`, fillRule: "evenodd" as const };
}

/** The shape alone; `word` is for screen readers, null if the text next to it says the same. */
export function Mark({ outcome, word = WORDS[outcome] }: { outcome: Outcome; word?: string | null }) {
  return (
    <svg
      className="mark"
      viewBox="-6 -6 12 12"
      width="12"
      height="12"
      aria-hidden={word === null ? true : undefined}
      role={word === null ? undefined : "img"}
      aria-label={word ?? undefined}
    >
      <path d={SHAPES[outcome]} {...getOutcomePaint(outcome)} />
    </svg>
  );
}

export function Badge({ outcome, children }: { outcome: Outcome; children: ReactNode }) {
  return (
    <span className="badge">
      <Mark outcome={outcome} word={null} />
      {children}
    </span>
  );
}

/** The outcome of a response; status 0 means that there was none. */
export function toStatusOutcome(status: number): Outcome {
  if (status === 0 || status >= 500) return "failed";
  return status >= 400 ? "refused" : "ok";
}

export function Notice(props: { outcome: Outcome; children: ReactNode; action?: ReactNode }) {
  const { outcome, children, action } = props;
  return (
    <div
      className="notice"
      style={{ background: `var(--${outcome}-soft, var(--raised))` }}
      role={outcome === "ok" || outcome === "other" ? "status" : "alert"}
    >
      <Mark outcome={outcome} word={null} />
      <div className="grow">{typeof children === "string" ? toPrintableLines(children) : children}</div>
      {action}
    </div>
  );
}

/**
 * An error and, for a document with several, every invalid place. Shows nothing without an error, or for an unreachable
 * server that is connected again.
 */
export function Problem({ error }: { error: unknown }) {
  const reconnectedAt = reconnectionTime.use();
  if (!error || (error instanceof ControlError && error.isUnreachable && error.time < reconnectedAt))
    return null;
  const places = error instanceof ControlError ? (error.problem.problems ?? []) : [];
  return (
    <Notice outcome="refused">
      {toPrintableLines((error as Error).message)}
      {places.length > 1 && (
        <ul className="places">
          {places.map((place) => (
            <li key={`${place.line}:${place.column}:${place.field}`}>
              <code>{place.field || "document"}</code> {toPrintableLines(place.message)}
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

export function NotFound({ kind, id }: { kind: string; id: string | undefined }) {
  return (
    <Notice outcome="refused">
      No {kind} {id && toPrintableLines(id)}. It may have been deleted.
    </Notice>
  );
}

export function Loading() {
  return <p className="loading quiet">Loading …</p>;
}

export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty-state">
      <strong>{toPrintableLines(title)}</strong>
      {children && <div className="quiet">{children}</div>}
    </div>
  );
}
