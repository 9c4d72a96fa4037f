import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer } from "../engine/pipeline/plain-http.ts";
import { addBody } from "../engine/pipeline/response-headers.ts";
import { sendAnswer as send } from "../hosts/node/send.ts";
import { corsHeaders } from "./cors.ts";
import type { Problem } from "./problem.ts";

/** Sends an answer with the headers that all of the product's own have. */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
): Promise<void> {
  await sendWith(corsHeaders(request), { request, response, answer });
}

/** Sends a refusal; a stream that has begun is cut instead, so that it does not look complete. */
export async function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
): Promise<void> {
  if (response.headersSent) return void response.destroy();
  // A source that was refused is no origin to share anything with.
  const cors = problem.status === 403 ? {} : corsHeaders(request);
  const own = request.complete ? cors : { ...cors, Connection: "close" };
  await sendWith(own, { request, response, answer: problem.toAnswer() });
}

async function sendWith(
  own: Readonly<Record<string, string>>,
  { request, response, answer }: { request: IncomingMessage; response: ServerResponse; answer: Answer },
): Promise<void> {
  const all = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", ...own, ...answer.headers };
  await send(request, response, addBody(Object.entries(all).flat(), answer));
}
