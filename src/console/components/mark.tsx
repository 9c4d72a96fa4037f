/** The outcome of a request or another entry: each has its own shape, colour and word. */
export type Outcome = "ok" | "refused" | "failed" | "fault" | "other" | "waiting" | "off";

/** SVG paths of 12 by 12. */
export const SHAPES: Record<Outcome, string> = {
  ok: "M6 1.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z",
  refused: "M6 1.2l5.2 9.3H.8z",
  failed: "M1.5 1.5h9v9h-9z",
  fault: "M6 .4l5.6 5.6L6 11.6 .4 6z",
  other: "M6 2.2a3.8 3.8 0 1 1 0 7.6a3.8 3.8 0 1 1 0-7.6z",
  waiting: "M2 2.5h8L6 6zM2 9.5h8L6 6z",
  off: "M2 3.4L3.4 2 6 4.6 8.6 2 10 3.4 7.4 6 10 8.6 8.6 10 6 7.4 3.4 10 2 8.6 4.6 6z",
};

const WORDS: Record<Outcome, string> = {
  ok: "OK",
  refused: "rejected",
  failed: "error",
  fault: "injected",
  other: "change",
  waiting: "pending",
  off: "cancelled",
};

/** The shape alone; `word` is for screen readers, null if the text next to it says the same. */
export function Mark({ outcome, word = WORDS[outcome] }: { outcome: Outcome; word?: string | null }) {
  return (
    <svg
      className={`mark mark-${outcome}`}
      viewBox="0 0 12 12"
      width="12"
      height="12"
      aria-hidden={word === null ? true : undefined}
      role={word === null ? undefined : "img"}
      aria-label={word ?? undefined}
    >
      <path d={SHAPES[outcome]} />
    </svg>
  );
}

/** A label with the outcome's shape and colour. */
export function Badge({ outcome, children }: { outcome: Outcome; children: React.ReactNode }) {
  return (
    <span className={`badge badge-${outcome}`}>
      <Mark outcome={outcome} word={null} />
      {children}
    </span>
  );
}

/** Text without a mark, aligned with badges of the same column. */
export function Unmarked({ children }: { children: React.ReactNode }) {
  return <span className="unmarked">{children}</span>;
}

/** The outcome of a response; status 0 is none. */
export function statusOutcome(status: number): Outcome {
  if (status === 0 || status >= 500) return "failed";
  return status >= 400 ? "refused" : "ok";
}
