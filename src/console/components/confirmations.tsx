import { type ReactNode, useEffect, useState } from "react";
import { createStore } from "../api/store.ts";
import { ActionButton } from "./button.tsx";
import { Mark, type Outcome } from "./mark.tsx";

export interface Confirmation {
  text: ReactNode;
  outcome?: Outcome;
  undo?: (() => Promise<unknown>) | undefined;
}

type ShownConfirmation = Confirmation & { id: number };

const SHOWN_MS = 10_000;
const MAX_SHOWN = 2;

const shown = createStore<readonly ShownConfirmation[]>([]);
let last = 0;

/** Confirms what an action did. The newest two are shown above the status line, on every view. */
export function confirmAction(confirmation: Confirmation): void {
  last += 1;
  shown.set([...shown.get(), { ...confirmation, id: last }].slice(-MAX_SHOWN));
}

function dismiss({ id }: ShownConfirmation): void {
  shown.set(shown.get().filter((one) => one.id !== id));
}

/** Undoes an action, once, and confirms that or says why it could not. */
async function undoAction(confirmation: ShownConfirmation): Promise<void> {
  dismiss(confirmation);
  try {
    await confirmation.undo!();
    confirmAction({ text: <>Undone: {confirmation.text}</> });
  } catch (error) {
    confirmAction({ text: (error as Error).message, outcome: "refused" });
  }
}

/** Ctrl-Z (⌘-Z) outside of a text field undoes the newest action. */
export function Confirmations() {
  const list = shown.use();
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
      const newest = shown.get().findLast(({ undo }) => undo);
      if (!isUndo || !newest || (event.target as Element).matches("input, textarea")) return;
      event.preventDefault();
      void undoAction(newest);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <section
      className="confirmations"
      aria-label="Confirmations"
      aria-live="polite"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      {list.map((one) => (
        <ConfirmationLine key={one.id} confirmation={one} isHeld={isHeld} />
      ))}
    </section>
  );
}

function ConfirmationLine({ confirmation, isHeld }: { confirmation: ShownConfirmation; isHeld: boolean }) {
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => dismiss(confirmation), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [confirmation, isHeld]);
  const { text, outcome = "ok", undo } = confirmation;
  return (
    <div className="confirmation">
      <Mark outcome={outcome} word={null} />
      <span className="grow">{text}</span>
      {undo && <ActionButton label="Undo" onPress={() => void undoAction(confirmation)} />}
      <ActionButton label="✕" name="Dismiss" look="square" onPress={() => dismiss(confirmation)} />
    </div>
  );
}
