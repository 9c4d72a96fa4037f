import { useState } from "react";
import { Button, ToggleButton } from "react-aria-components";
import type { AdvanceTo, ClockChange, ClockState, RanTimer } from "../../../../types/control-api.ts";
import { useSandboxChange } from "../../api/queries.ts";
import { type Change, Field, Form } from "../../components/form.tsx";
import { Notice, Problem } from "../../components/notice.tsx";
import { absolute, formatClock, useSandboxNow } from "../../components/time.tsx";
import { KINDS } from "./pending-panel.tsx";

/** Clock modes; `scaled` with rate 1 continues from the current sandbox time. */
const MODES: readonly (ClockChange & { title: string })[] = [
  { title: "Freeze", mode: "frozen" },
  { title: "Run", mode: "scaled", rate: 1 },
  { title: "Run ×60", mode: "scaled", rate: 60 },
  { title: "Real time", mode: "real" },
];

const STEPS: readonly [string, AdvanceTo][] = [
  ["+5 min", { by: "5m" }],
  ["+6 h", { by: "6h" }],
];

export function ClockPanel({ clock, nothingPending }: { clock: ClockState; nothingPending: boolean }) {
  const now = new Date(useSandboxNow()).toISOString();
  const set = useSandboxChange((calls, change: ClockChange) => calls.setClock(change));
  const advance = useSandboxChange((calls, to: AdvanceTo) => calls.advance(to));
  const busy = set.isPending || advance.isPending;
  const step = (to: AdvanceTo) => {
    set.reset();
    advance.mutate(to);
  };
  return (
    <section className="clock-panel panel" aria-label="Clock">
      <div className="clock-large">
        <span className="clock-day">{now.slice(0, 10)}</span>
        <time className="clock-time" dateTime={now}>
          {now.slice(11, 19)}
        </time>
        <span className="quiet">UTC, {formatClock(clock)}</span>
      </div>
      <div className="clock-controls stack">
        <div className="actions" role="group" aria-label="Mode">
          {MODES.map(({ title, ...change }) => (
            <ToggleButton
              key={title}
              className="button"
              isSelected={clock.mode === change.mode && (change.rate ?? clock.rate) === clock.rate}
              isDisabled={busy}
              onChange={() => {
                advance.reset();
                set.mutate(change);
              }}
            >
              {title}
            </ToggleButton>
          ))}
        </div>
        <div className="actions" role="group" aria-label="Advance">
          {STEPS.map(([title, to]) => (
            <Button key={title} className="button" isDisabled={busy} onPress={() => step(to)}>
              {title}
            </Button>
          ))}
          <Button
            className="button primary"
            isDisabled={busy || nothingPending}
            onPress={() => step({ next: true })}
          >
            Next event
          </Button>
        </div>
        <AdvanceForm change={advance} onAdvance={step} />
      </div>
      <Problem error={set.error} />
      {advance.data && <AdvanceResult now={advance.data.now} ran={advance.data.ran} />}
      {set.data && set.data.ran.length > 0 && <AdvanceResult now={set.data.now} ran={set.data.ran} />}
    </section>
  );
}

interface AdvanceFormProps {
  change: Pick<Change<unknown>, "isPending" | "error">;
  onAdvance: (to: AdvanceTo) => void;
}

function AdvanceForm({ change, onAdvance }: AdvanceFormProps) {
  const [typed, setTyped] = useState("");
  const name = /^\d{4}-/.test(typed.trim()) ? "to" : "by";
  const mutate = () => onAdvance({ [name]: typed.trim() } as AdvanceTo);
  return (
    <Form submit="Advance" change={{ ...change, mutate }}>
      <Field
        label="Advance by or to"
        name={name}
        value={typed}
        onChange={setTyped}
        placeholder="90s, 1h30m, 2026-12-24T18:00:00Z"
        required
      />
    </Form>
  );
}

function AdvanceResult({ now, ran }: { now: string; ran: readonly RanTimer[] }) {
  const kinds = new Map<RanTimer["kind"], number>();
  for (const { kind } of ran) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const words = [...kinds].map(([kind, count]) => `${count} × ${KINDS[kind].name}`).join(", ");
  return (
    <Notice outcome="ok">
      Now {absolute(now)}. {ran.length === 0 ? "No timers ran." : `Ran: ${words}.`}
    </Notice>
  );
}
