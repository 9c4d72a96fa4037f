import type { IncomingMessage, ServerResponse } from "node:http";
import type { Durability, Unsaved } from "../engine/pipeline/engine-parts.ts";
import type { BeforeAnswer } from "../hosts/node/hooks.ts";
import { StoreRefusal, toStoreRefusal } from "../persistence/store.ts";
import { storeProblem } from "./problem.ts";
import { sendProblem } from "./send-answer.ts";

/** Uploads go to the temporary folder on their way; a full disk is no defect of the client or of ours. */
export function refuseFullDisk(error: unknown) {
  if (!(error instanceof Error && "syscall" in error)) return undefined;
  const refusal = toStoreRefusal(error, "the folder for uploads");
  return refusal.kind === "full" ? storeProblem(refusal).toAnswer() : undefined;
}

/** Turns a refusal of the store into the answer that is sent instead. */
export function settleOrUnsaved({ settled }: BeforeAnswer): Durability["settle"] {
  return (sandbox, mark) => {
    try {
      return settled(sandbox, mark, true)?.then(nothing, unsaved);
    } catch (error) {
      return Promise.resolve(unsaved(error));
    }
  };
}

function nothing(): undefined {}

/** @throws any other error */
function unsaved(error: unknown): Unsaved {
  if (!(error instanceof StoreRefusal)) throw error;
  return { answer: storeProblem(error).toAnswer(), decision: toDecision(error) };
}

/** Answers a request of the emulated API that no node could serve (interfaces 15). @throws any other error */
export async function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): Promise<void> {
  if (!(error instanceof StoreRefusal)) throw error;
  await sendProblem(request, response, storeProblem(error, { "X-Sandbox-Decision": toDecision(error) }));
}

/** interfaces 15: after `moved`, the same request meets the next owner at once. */
function toDecision({ kind }: StoreRefusal): string {
  return kind === "moved" ? "moved" : "store";
}
