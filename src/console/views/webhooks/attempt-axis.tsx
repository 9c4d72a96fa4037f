import { SHAPES } from "../../components/mark.tsx";
import { absolute } from "../../components/time.tsx";
import type { AttemptMark, AttemptState } from "./attempts.ts";
import { formatSpan } from "./attempts.ts";

const DRAWN: Readonly<Record<AttemptState, string>> = {
  delivered: SHAPES.ok,
  failed: SHAPES.failed,
  due: SHAPES.waiting,
  expected: SHAPES.other,
  cancelled: SHAPES.off,
};

/** The axis is logarithmic from here on, so that a minute and a day are both visible. */
const KNEE_MS = 30_000;
const MARK = 12;

/**
 * Delivery attempts on a time axis. `wide` adds tick labels and the current sandbox time.
 */
export function AttemptAxis({
  marks,
  from,
  span,
  now,
  wide = false,
}: {
  marks: readonly AttemptMark[];
  from: number;
  /** Length of the whole schedule in milliseconds, so that the axes of a table align. */
  span: number;
  now: number;
  wide?: boolean;
}) {
  const last = Math.max(from + span, from + KNEE_MS, ...marks.map(({ at }) => at));
  const width = wide ? 560 : 220;
  const place = (at: number) => {
    const share = Math.log1p(Math.max(0, at - from) / KNEE_MS) / Math.log1p((last - from) / KNEE_MS);
    return MARK / 2 + Math.min(1, share) * (width - MARK);
  };
  const middle = wide ? 22 : 7;
  return (
    <svg
      className={wide ? "attempts attempts-wide" : "attempts"}
      viewBox={`0 0 ${width} ${wide ? 46 : 14}`}
      role="img"
      aria-label={describeMarks(marks)}
    >
      <path className="attempts-line" d={`M${MARK / 2} ${middle}H${width - MARK / 2}`} />
      {wide && now > from && now < last && (
        <g className="attempts-now">
          <path d={`M${place(now)} 4V${middle + 12}`} />
          <text x={place(now)} y={3} dominantBaseline="hanging" dx={4}>
            now
          </text>
        </g>
      )}
      {marks.map(({ at, state }, index) => (
        <g
          // biome-ignore lint/suspicious/noArrayIndexKey: two attempts may start at the same time
          key={index}
          className={`attempt attempt-${state}`}
          transform={`translate(${place(at) - MARK / 2} ${middle - MARK / 2})`}
        >
          <title>{`${state}, ${absolute(new Date(at).toISOString())}`}</title>
          <path d={DRAWN[state]} />
        </g>
      ))}
      {wide &&
        makeTicks(marks, from, place).map(({ at, x }) => (
          <text key={at} className="attempts-tick" x={x} y={44} textAnchor={x > width - 24 ? "end" : "start"}>
            {at === from ? "0" : formatSpan(at - from)}
          </text>
        ))}
    </svg>
  );
}

const TICK_WIDTH = 52;

/** Ticks whose labels do not overlap. */
function makeTicks(marks: readonly AttemptMark[], from: number, place: (at: number) => number) {
  const ticks: { at: number; x: number }[] = [];
  for (const at of new Set([from, ...marks.map((mark) => mark.at)])) {
    const x = place(at) - MARK / 2;
    if (ticks.length === 0 || x - ticks.at(-1)!.x >= TICK_WIDTH) ticks.push({ at, x });
  }
  return ticks;
}

/** "2 failed, 1 due, 3 expected". */
export function describeMarks(marks: readonly AttemptMark[]): string {
  const counts = new Map<AttemptState, number>();
  for (const { state } of marks) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(", ");
}
