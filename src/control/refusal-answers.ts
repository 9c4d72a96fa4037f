import type { IncomingMessage, ServerResponse } from "node:http";
import type { Durability, Unsaved } from "../engine/pipeline/pipeline.ts";
import { refusalOf, StoreRefusal } from "../persistence/store.ts";
import type { ControlDurability } from "./operation.ts";
import { storeProblem } from "./problem.ts";
import { sendProblem } from "./send-answer.ts";

/** What clients send goes to the temporary folder on its way, and nobody's program is at fault when that is full. */
export function diskRefusal(error: unknown) {
  if (!(error instanceof Error && "syscall" in error)) return undefined;
  const refusal = refusalOf(error, "the folder for uploads");
  return refusal.kind === "full" ? storeProblem(refusal).toAnswer() : undefined;
}

/** What the pipeline asks before an answer leaves. */
export function settleOrUnsaved({ settled }: ControlDurability): Durability["settle"] {
  return (sandbox, mark) => {
    try {
      return settled(sandbox, mark, true)?.then(nothing, unsaved);
    } catch (error) {
      return Promise.resolve(unsaved(error));
    }
  };
}

function nothing(): undefined {}

/** @throws whatever is no refusal */
function unsaved(error: unknown): Unsaved {
  if (!(error instanceof StoreRefusal)) throw error;
  return { answer: storeProblem(error).toAnswer(), decision: decisionOf(error) };
}

/** A request of the emulated API that no node could take (interfaces 15). @throws whatever is no refusal */
export function sendRefusal(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (!(error instanceof StoreRefusal)) throw error;
  sendProblem(request, response, storeProblem(error, { "X-Sandbox-Decision": decisionOf(error) }));
}

/** interfaces 15: what is tried again at once meets the next owner. */
function decisionOf({ kind }: StoreRefusal): string {
  return kind === "moved" ? "moved" : "store";
}
