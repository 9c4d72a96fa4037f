import { SHAPES } from "../../parts/mark.tsx";
import { absolute } from "../../parts/time.tsx";
import type { AttemptMark, AttemptState } from "./attempts.ts";
import { spanWords } from "./duration.ts";

const DRAWN: Readonly<Record<AttemptState, string>> = {
  delivered: SHAPES.ok,
  failed: SHAPES.failed,
  due: SHAPES.waiting,
  expected: SHAPES.other,
  cancelled: SHAPES.off,
};

/** A minute and a day are both to be seen: time is drawn by its logarithm, from half a minute on. */
const KNEE_MS = 30_000;
const MARK = 12;

/**
 * Attempts on an axis of time, from the event on. `wide`: with the instants of the schedule and the sandbox's now
 * written below; else one line for a table.
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
  /** How long the whole schedule takes, so that instants of several axes stand below each other; milliseconds. */
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
      aria-label={wordsOf(marks)}
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
          // biome-ignore lint/suspicious/noArrayIndexKey: two attempts may begin at one instant
          key={index}
          className={`attempt attempt-${state}`}
          transform={`translate(${place(at) - MARK / 2} ${middle - MARK / 2})`}
        >
          <title>{`${state}, ${absolute(new Date(at).toISOString())}`}</title>
          <path d={DRAWN[state]} />
        </g>
      ))}
      {wide &&
        ticksOf(marks, from, place).map(({ at, x }) => (
          <text key={at} className="attempts-tick" x={x} y={44} textAnchor={x > width - 24 ? "end" : "start"}>
            {at === from ? "0" : spanWords(at - from)}
          </text>
        ))}
    </svg>
  );
}

const TICK_WIDTH = 52;

/** The instants that can be written without touching each other. */
function ticksOf(marks: readonly AttemptMark[], from: number, place: (at: number) => number) {
  const ticks: { at: number; x: number }[] = [];
  for (const at of new Set([from, ...marks.map((mark) => mark.at)])) {
    const x = place(at) - MARK / 2;
    if (ticks.length === 0 || x - ticks.at(-1)!.x >= TICK_WIDTH) ticks.push({ at, x });
  }
  return ticks;
}

/** "2 failed, 1 due, 3 expected". */
export function wordsOf(marks: readonly AttemptMark[]): string {
  const counts = new Map<AttemptState, number>();
  for (const { state } of marks) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(", ");
}
