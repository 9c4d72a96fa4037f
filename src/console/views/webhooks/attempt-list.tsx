import type { JournalEntry } from "../../../../types/control-api.ts";
import { capitalize } from "../../../engine/contract/text.ts";
import { usePollingWhileRunning, useSandboxQuery } from "../../api/queries.ts";
import { Exchange } from "../../components/exchange.tsx";
import { Badge, getOutcomePaint, LoadError, Mark, type Outcome, SHAPES } from "../../components/status.tsx";
import { describeAttempt } from "../../components/text.tsx";
import { formatAbsolute, RelativeTimeText, useSandboxNow } from "../../components/time.tsx";
import {
  type AttemptMark,
  type AttemptState,
  type DeliveryRow,
  formatSpan,
  listAttemptMarks,
} from "./attempts.ts";
import { useSignature } from "./signature.ts";
import { useRetryDelays } from "./use-webhooks.ts";

const OUTCOMES: Readonly<Record<AttemptState, Outcome>> = {
  delivered: "ok",
  failed: "failed",
  due: "waiting",
  expected: "other",
  cancelled: "cancelled",
};

/** The axis is logarithmic from here on, so that a minute and a day are both visible. */
const LOGARITHMIC_FROM_MS = 30_000;
const MARK = 12;

/**
 * Delivery attempts on an axis as long as the retry schedule, so that the axes of a table align. `isWide` adds tick
 * labels and the current sandbox time.
 */
export function AttemptAxis({ delivery, isWide = false }: { delivery: DeliveryRow; isWide?: boolean }) {
  const now = useSandboxNow();
  const delays = useRetryDelays();
  const marks = listAttemptMarks(delivery, delays);
  const from = Date.parse(delivery.created_at);
  const end = delays.reduce((at, delay) => at + delay, from);
  const last = Math.max(end, from + LOGARITHMIC_FROM_MS, ...marks.map(({ at }) => at));
  const width = isWide ? 560 : 220;
  const toX = (at: number) => {
    const share =
      Math.log1p(Math.max(0, at - from) / LOGARITHMIC_FROM_MS) /
      Math.log1p((last - from) / LOGARITHMIC_FROM_MS);
    return MARK / 2 + Math.min(1, share) * (width - MARK);
  };
  const middle = isWide ? 22 : 7;
  return (
    <svg
      className={isWide ? "attempts attempts-wide" : "attempts"}
      fill="var(--quiet)"
      viewBox={`0 0 ${width} ${isWide ? 46 : 14}`}
      role="img"
      aria-label={describeMarks(marks)}
    >
      <path stroke="var(--line-strong)" d={`M${MARK / 2} ${middle}H${width - MARK / 2}`} />
      {isWide && now > from && now < last && (
        <g>
          <path stroke="var(--accent)" strokeDasharray="3 2" d={`M${toX(now)} 4V${middle + 12}`} />
          <text x={toX(now)} y={3} dominantBaseline="hanging" dx={4}>
            now
          </text>
        </g>
      )}
      {marks.map(({ at, state }, index) => (
        <g
          // biome-ignore lint/suspicious/noArrayIndexKey: two attempts may start at the same time
          key={index}
          transform={`translate(${toX(at)} ${middle})`}
          {...getOutcomePaint(OUTCOMES[state])}
          // Hides the line behind the shape.
          {...(state === "expected" && { fill: "var(--raised)" })}
        >
          <title>{`${state}, ${formatAbsolute(new Date(at).toISOString())}`}</title>
          <path d={SHAPES[OUTCOMES[state]]} />
        </g>
      ))}
      {isWide &&
        makeTicks(marks, from, toX).map(({ at, x }) => (
          <text key={at} x={x} y={44} textAnchor={x > width - 24 ? "end" : "start"}>
            {at === from ? "0" : formatSpan(at - from).replace(" ", "")}
          </text>
        ))}
    </svg>
  );
}

const TICK_WIDTH = 52;

function makeTicks(marks: readonly AttemptMark[], from: number, toX: (at: number) => number) {
  const ticks: { at: number; x: number }[] = [];
  for (const at of new Set([from, ...marks.map((mark) => mark.at)])) {
    const x = toX(at) - MARK / 2;
    if (ticks.length === 0 || x - ticks.at(-1)!.x >= TICK_WIDTH) ticks.push({ at, x });
  }
  return ticks;
}

/** "2 failed, 1 due, 3 expected". */
function describeMarks(marks: readonly AttemptMark[]): string {
  const counts = new Map<AttemptState, number>();
  for (const { state } of marks) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(", ");
}

/** Attempts of a delivery; those that were made expand to their request and response. */
export function AttemptList({ delivery }: { delivery: DeliveryRow }) {
  const { delivery_id: id } = delivery;
  const polling = usePollingWhileRunning();
  const { data, error } = useSandboxQuery(["delivery", id], (calls) => calls.delivery(id), polling);
  const marks = listAttemptMarks(delivery, useRetryDelays());
  // Attempts from a fixture are counted, but not logged.
  const unloggedCount = delivery.attempts - delivery.attempt_log.length;
  const exchanges = new Map(data?.exchanges.map((entry) => [entry.delivery!.attempt, entry]));
  return (
    <>
      <LoadError error={error} />
      <ol className="attempt-list lines" aria-label="Attempts">
        {marks.map((mark, index) => {
          const line = (
            <>
              <Badge outcome={OUTCOMES[mark.state]}>{mark.state}</Badge>
              <span>{describeMark(mark)}</span>
              <RelativeTimeText at={new Date(mark.at).toISOString()} />
            </>
          );
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: two attempts may start at the same time
            <li key={index}>
              {mark.attempt ? (
                <details>
                  <summary className="line">{line}</summary>
                  <AttemptExchange
                    entry={exchanges.get(unloggedCount + delivery.attempt_log.indexOf(mark.attempt) + 1)}
                    isLoading={data === undefined}
                    delivery={delivery}
                  />
                </details>
              ) : (
                <div className="line">{line}</div>
              )}
            </li>
          );
        })}
      </ol>
    </>
  );
}

function describeMark({ state, attempt }: AttemptMark): string {
  if (attempt) return describeAttempt(attempt);
  if (state === "due") return "next retry";
  if (state === "expected") return "if the previous attempt fails";
  if (state === "cancelled") return "the webhook became inactive";
  return "from the fixture, no details";
}

function AttemptExchange(props: {
  entry: JournalEntry | undefined;
  isLoading: boolean;
  delivery: DeliveryRow;
}) {
  const { entry, isLoading, delivery } = props;
  const signature = useSignature(delivery.webhook?.secret, delivery.body);
  if (entry === undefined) {
    return (
      <p className="quiet">{isLoading ? "Loading …" : "The request and response are no longer recorded."}</p>
    );
  }
  const sentSignature = entry.request.headers.find(({ name }) => /-signature$/i.test(name))?.value;
  const isSame = sentSignature === signature;
  return (
    <div className="over-the-wire">
      {entry.reasons.map((reason) => (
        <p key={reason}>{capitalize(reason)}.</p>
      ))}
      {sentSignature && signature && (
        <p>
          <Mark outcome={isSame ? "ok" : "refused"} word={null} />{" "}
          {isSame
            ? "The sent signature matches the one computed below."
            : "The sent signature differs from the one computed below: the secret has changed since."}
        </p>
      )}
      <Exchange entry={entry} line={`POST ${entry.delivery!.url}`} isOpen sentBody={delivery.body} />
    </div>
  );
}
