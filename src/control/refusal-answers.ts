import { refusalOf, StoreRefusal } from "../persistence/store.ts";
import { storeProblem } from "./problem.ts";

/** What clients send goes to the temporary folder on its way, and nobody's program is at fault when that is full. */
export function diskRefusal(error: unknown) {
  if (!(error instanceof Error && "syscall" in error)) return undefined;
  const refusal = refusalOf(error, "the folder for uploads");
  return refusal.kind === "full" ? storeProblem(refusal).toAnswer() : undefined;
}

/** @throws whatever is no refusal */
export function refusalAnswer(error: unknown) {
  if (error instanceof StoreRefusal) return storeProblem(error).toAnswer();
  throw error;
}
