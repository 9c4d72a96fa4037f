import { useState } from "react";
import { Button, ToggleButton } from "react-aria-components";
import { useSandboxChange } from "../../api/queries.ts";
import type { AdvanceTo, ClockChange, ClockState, RanTimer } from "../../api/types.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { Field, Form } from "../../parts/form.tsx";
import { Notice, Problem } from "../../parts/notice.tsx";
import { absolute } from "../../parts/time.tsx";
import { kindWords } from "./kind-words.ts";

/** How the clock may run; `scaled` with rate 1 goes on from wherever it is. */
const MODES: readonly { title: string; is: (clock: ClockState) => boolean; change: ClockChange }[] = [
  { title: "Freeze", is: ({ mode }) => mode === "frozen", change: { mode: "frozen" } },
  {
    title: "Run",
    is: ({ mode, rate }) => mode === "scaled" && rate === 1,
    change: { mode: "scaled", rate: 1 },
  },
  {
    title: "Run ×60",
    is: ({ mode, rate }) => mode === "scaled" && rate === 60,
    change: { mode: "scaled", rate: 60 },
  },
  { title: "Wall clock", is: ({ mode }) => mode === "real", change: { mode: "real" } },
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
    <section className="clock-panel" aria-label="Clock">
      <div className="clock-large">
        <span className="clock-day">{now.slice(0, 10)}</span>
        <time className="clock-time" dateTime={now}>
          {now.slice(11, 19)}
        </time>
        <span className="quiet">UTC, {modeWords(clock)}</span>
      </div>
      <div className="clock-controls">
        <div className="actions" role="group" aria-label="How it runs">
          {MODES.map(({ title, is, change }) => (
            <ToggleButton
              key={title}
              className="button clock-choice"
              isSelected={is(clock)}
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
            To the next event
          </Button>
        </div>
        <AdvanceForm pending={advance.isPending} error={advance.error} onAdvance={step} />
      </div>
      <Problem error={set.error} />
      {advance.data && <Ran now={advance.data.now} ran={advance.data.ran} />}
      {set.data && set.data.ran.length > 0 && <Ran now={set.data.now} ran={set.data.ran} />}
    </section>
  );
}

function AdvanceForm({
  pending,
  error,
  onAdvance,
}: {
  pending: boolean;
  error: unknown;
  onAdvance: (to: AdvanceTo) => void;
}) {
  const [typed, setTyped] = useState("");
  const instant = /^\d{4}-/.test(typed.trim());
  return (
    <Form
      submit="Advance"
      pending={pending}
      error={error}
      onSubmit={() => onAdvance((instant ? { to: typed.trim() } : { by: typed.trim() }) as AdvanceTo)}
    >
      <Field
        label="By, or to"
        name={instant ? "to" : "by"}
        value={typed}
        onChange={setTyped}
        placeholder="90s, 1h30m, 2026-12-24T18:00:00Z"
        required
      />
    </Form>
  );
}

function modeWords({ mode, rate }: ClockState): string {
  if (mode === "frozen") return "stands still";
  if (mode === "real") return "the wall clock’s time";
  return rate === 1 ? "goes on from there" : `runs ${rate} times as fast`;
}

function Ran({ now, ran }: { now: string; ran: readonly RanTimer[] }) {
  const kinds = new Map<string, number>();
  for (const { kind } of ran) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const words = [...kinds].map(([kind, count]) => kindWords(kind, count)).join(", ");
  return (
    <Notice outcome="ok">
      It is {absolute(now)}. {ran.length === 0 ? "Nothing became due on the way." : `On the way: ${words}.`}
    </Notice>
  );
}
