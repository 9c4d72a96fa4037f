import { useEffect } from "react";
import { toPrintableLines } from "../../engine/contract/text.ts";
import { createStore } from "../api/store.ts";
import { ActionButton } from "./button.tsx";
import { focusViewIfLost } from "./layout.tsx";
import { Mark, type Outcome } from "./status.tsx";

interface Confirmation {
  text: string;
  outcome?: Outcome;
  undo?: (() => Promise<unknown>) | undefined;
}

type ShownConfirmation = Confirmation & { id: number };

const SHOWN_SECONDS = 10;
/** Confirmations stay while the user reads them, or has the focus in them. */
const READ = ".confirmations:is(:hover, :focus-within)";
const MAX_SHOWN = 2;

const confirmations = createStore<readonly ShownConfirmation[]>([]);
let lastId = 0;

/** Confirms what an action did. The newest two are shown above the status line, on every view. */
export function showConfirmation(confirmation: Confirmation): void {
  lastId += 1;
  confirmations.set([...confirmations.get(), { ...confirmation, id: lastId }].slice(-MAX_SHOWN));
}

function dismiss({ id }: ShownConfirmation): void {
  confirmations.set(confirmations.get().filter((one) => one.id !== id));
}

/** By a button of the confirmation, which had the focus. */
function close(confirmation: ShownConfirmation): void {
  dismiss(confirmation);
  setTimeout(focusViewIfLost);
}

async function undoAction(confirmation: ShownConfirmation): Promise<void> {
  close(confirmation);
  try {
    await confirmation.undo!();
    showConfirmation({ text: `Undone: ${confirmation.text}` });
  } catch (error) {
    showConfirmation({ text: (error as Error).message, outcome: "refused" });
  }
}

/** A switch is an input too. */
const TEXT_FIELD = "input:not([type=checkbox], [type=radio]), textarea";

/** Ctrl-Z (⌘-Z) outside of a text field undoes the newest action. */
export function Confirmations() {
  const list = confirmations.use();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
      const newest = confirmations.get().findLast(({ undo }) => undo);
      if (!isUndo || !newest || (event.target as Element).matches(TEXT_FIELD)) return;
      event.preventDefault();
      void undoAction(newest);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <section className="confirmations" aria-label="Confirmations" aria-live="polite">
      {list.map((one) => (
        <ConfirmationLine key={one.id} confirmation={one} />
      ))}
    </section>
  );
}

function ConfirmationLine({ confirmation }: { confirmation: ShownConfirmation }) {
  useEffect(() => {
    let secondsLeft = SHOWN_SECONDS;
    const timer = setInterval(() => {
      secondsLeft = document.querySelector(READ) ? SHOWN_SECONDS : secondsLeft - 1;
      if (secondsLeft === 0) dismiss(confirmation);
    }, 1000);
    return () => clearInterval(timer);
  }, [confirmation]);
  const { text, outcome = "ok", undo } = confirmation;
  return (
    <div className="confirmation">
      <Mark outcome={outcome} word={null} />
      <span className="grow">{toPrintableLines(text)}</span>
      {undo && <ActionButton label="Undo" onPress={() => void undoAction(confirmation)} />}
      <ActionButton label="✕" name="Dismiss" look="square" onPress={() => close(confirmation)} />
    </div>
  );
}
