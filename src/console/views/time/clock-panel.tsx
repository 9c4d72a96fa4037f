import { useEffect, useState } from "react";
import { ToggleButton } from "react-aria-components";
import type {
  Advanced,
  AdvanceTo,
  ClockChange,
  ClockChanged,
  ClockState,
  Duration,
  RanTimer,
} from "../../../../types/control-api.ts";
import { parseDuration } from "../../../engine/contract/duration.ts";
import { toInputError } from "../../api/form-fields.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { Field, Form } from "../../components/form.tsx";
import { Notice } from "../../components/status.tsx";
import { formatAbsolute, formatClock, useSandboxNow } from "../../components/time.tsx";
import { formatTimerKind } from "./timers.tsx";

/** Clock modes. `scaled` continues from the sandbox's time; with rate 1 it runs at normal speed. */
const MODES: readonly (ClockChange & { title: string; tooltip: string })[] = [
  { title: "Freeze", mode: "frozen", tooltip: "Stops the clock at the sandbox’s time" },
  { title: "Run", mode: "scaled", rate: 1, tooltip: "Continues from the sandbox’s time" },
  {
    title: "Run ×60",
    mode: "scaled",
    rate: 60,
    tooltip: "Continues from the sandbox’s time: an hour passes in a minute",
  },
  {
    title: "Follow real time",
    mode: "real",
    tooltip: "Jumps to the time of the server’s computer, and runs everything that is due until then",
  },
];

export function ClockPanel({ clock, hasNothingPending }: { clock: ClockState; hasNothingPending: boolean }) {
  const now = new Date(useSandboxNow()).toISOString();
  const [typed, setTyped] = useState("");
  const change = useSandboxChange(
    (calls, to: ClockChange | AdvanceTo | string): Promise<ClockChanged | Advanced> => {
      if (typeof to === "string") return calls.advance(readTarget(to));
      return "mode" in to ? calls.setClock(to) : calls.advance(to);
    },
    { confirmation: ({ now, ran }) => `Now ${formatAbsolute(now)}. ${describeTimers(ran)}` },
  );
  const { isPending, error } = change;
  const isSlow = useIsSlow(isPending);
  const advanceToTyped = () => change.mutate(typed.trim());
  return (
    <section className="clock-panel panel flow" aria-label="Clock">
      <div className="clock-large">
        <span className="clock-day">{now.slice(0, 10)}</span>
        <time className="clock-time" dateTime={now}>
          {now.slice(11, 19)}
        </time>
        <span className="quiet">UTC, {formatClock(clock)}</span>
      </div>
      <div className="clock-controls stack">
        <div className="actions" role="group" aria-label="Mode">
          {MODES.map(({ title, tooltip, ...to }) => (
            <span key={title} title={tooltip}>
              <ToggleButton
                className="button"
                isSelected={clock.mode === to.mode && (to.rate === undefined || to.rate === clock.rate)}
                isDisabled={isPending}
                onChange={() => change.mutate(to)}
              >
                {title}
              </ToggleButton>
            </span>
          ))}
        </div>
        <div className="actions" role="group" aria-label="Advance">
          <ActionButton label="+5 min" isDisabled={isPending} onPress={() => change.mutate({ by: "5m" })} />
          <ActionButton label="+6 h" isDisabled={isPending} onPress={() => change.mutate({ by: "6h" })} />
          <ActionButton
            label="Next timer"
            look="primary"
            isDisabled={isPending || hasNothingPending}
            onPress={() => change.mutate({ next: true })}
          />
        </div>
        <Form submit="Advance" change={{ isPending, error, mutate: advanceToTyped }}>
          <Field
            label="Advance by a duration, or to a time"
            name={isTime(typed.trim()) ? "to" : "by"}
            value={typed}
            onChange={setTyped}
            placeholder="1h30m, 2026-12-24T18:00Z"
            required
          />
        </Form>
      </div>
      {isSlow && <Progress />}
    </section>
  );
}

const isTime = (typed: string) => /^\d{4}-/.test(typed);

/** @throws ControlError for a text that is not a duration and does not begin like a time */
function readTarget(typed: string): AdvanceTo {
  if (isTime(typed)) return { to: typed };
  if (parseDuration(typed) !== undefined) return { by: typed as Duration };
  throw toInputError("by", "by must be a duration such as 1h30m, or a time such as 2026-12-24T18:00Z.");
}

const SLOW_MS = 400;
const PROGRESS_POLL_MS = 400;

/** True once a change has been pending for a while, so that fast advances show no progress. */
function useIsSlow(isPending: boolean): boolean {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    if (!isPending) return setSlow(false);
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, [isPending]);
  return isSlow && isPending;
}

function Progress() {
  const { data } = useSandboxQuery(["clock", "progress"], (calls) => calls.clock(), {
    pollMs: PROGRESS_POLL_MS,
  });
  const stop = useSandboxChange((calls) => calls.stopAdvance());
  return (
    <Notice outcome="other" action={<ActionButton label="Stop here" change={stop} />}>
      Advancing … {data && formatAbsolute(data.now)}
    </Notice>
  );
}

function describeTimers(ran: readonly RanTimer[]): string {
  if (ran.length === 0) return "No timers ran.";
  const counts = new Map<RanTimer["kind"], number>();
  for (const { kind } of ran) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return `Ran: ${[...counts].map(([kind, count]) => `${count} × ${formatTimerKind({ kind })}`).join(", ")}.`;
}
