import type { IncomingMessage, ServerResponse } from "node:http";
import type { Durability, ReplacementAnswer } from "../engine/pipeline/engine-parts.ts";
import type { DurabilityHook } from "../hosts/node/hooks.ts";
import { StoreRefusal } from "../persistence/store.ts";
import { toStoreProblem } from "./problem.ts";
import { sendProblem } from "./send-answer.ts";

/** The hook as the engine uses it: a refusal of the store becomes the answer. */
export function toEngineDurability({ countRefusals, waitUntilStored }: DurabilityHook): Durability {
  return {
    countRefusals,
    waitUntilStored(sandbox, since) {
      try {
        return waitUntilStored(sandbox, since, { changesOthers: false })?.then(
          () => undefined,
          toReplacementAnswer,
        );
      } catch (error) {
        return Promise.resolve(toReplacementAnswer(error));
      }
    },
  };
}

/** @throws any other error */
function toReplacementAnswer(error: unknown): ReplacementAnswer {
  if (!(error instanceof StoreRefusal)) throw error;
  return { answer: toStoreProblem(error).toAnswer(), decision: toDecision(error) };
}

/** Answers a request of the emulated API that no node could serve (interfaces.md 15). @throws any other error */
export async function sendStoreRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): Promise<void> {
  if (!(error instanceof StoreRefusal)) throw error;
  await sendProblem(request, response, toStoreProblem(error, { "X-Sandbox-Decision": toDecision(error) }));
}

/** After `moved`, the next owner answers a repeated request; `message` says if this one may have changed something. */
function toDecision({ kind }: StoreRefusal): string {
  return kind === "moved" ? "moved" : "store";
}
