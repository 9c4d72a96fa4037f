import type { Answer, CompleteAnswer, PlainRequest } from "../engine/pipeline/plain-http.ts";
import { createCompleteAnswer } from "../engine/pipeline/response-headers.ts";
import type { HandleControl } from "./handle-control.ts";
import type { ControlServer } from "./operation.ts";
import { asProblem, toInternalProblem } from "./problem.ts";

const ALWAYS = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", Vary: "Origin" };

/** Adds the headers that all answers of the product's own paths have. */
export function toOwnAnswer(answer: Answer, headers: Readonly<Record<string, string>> = {}): CompleteAnswer {
  const all = { ...ALWAYS, ...headers, ...answer.headers };
  return createCompleteAnswer(Object.entries(all).flat(), answer);
}

/** Creates the handler of control calls of this process, which no guard checks; it returns undefined if the caller has left. */
export function createInProcessHandler(control: ControlServer) {
  let handle: HandleControl | undefined;
  return async (request: PlainRequest): Promise<CompleteAnswer | undefined> => {
    handle ??= (await import("./handle-control.ts")).createControl(control);
    try {
      const answer = await handle(request);
      return answer && toOwnAnswer(answer);
    } catch (error) {
      const problem = asProblem(error) ?? toInternalProblem(error, control.log);
      return toOwnAnswer(problem.toAnswer());
    }
  };
}
