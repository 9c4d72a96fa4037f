import { expect } from "vitest";
import type { Api, ApiResponse } from "./harness.ts";

export const CONTROL = "/_control/sandboxes/default";

/** Timers may fire a little early in relation to the clock that a test reads. */
export const ASSERTED_DELAY_SLACK_MS = 10;

/** Arms an inline rule in the default sandbox; resolves with its id. */
export async function arm(api: Api, rule: object): Promise<string> {
  const answer = await api.call(undefined, "POST", `${CONTROL}/faults`, rule);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

export async function activate(api: Api, ...names: string[]): Promise<void> {
  const answer = await api.call(undefined, "PUT", `${CONTROL}/scenarios/active`, { names });
  expect(answer.status, answer.text).toBe(200);
}

export function getDecision(answer: ApiResponse): string | null {
  return answer.headers.get("x-sandbox-decision");
}
