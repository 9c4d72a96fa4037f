import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer } from "../engine/pipeline/plain-http.ts";
import { sendCompleteAnswer } from "../hosts/node/send.ts";
import { toOwnAnswer } from "./answer-in-process.ts";
import type { Problem } from "./problem.ts";

/** Sends an answer of the product's own paths, with the headers that all of those have. */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
): Promise<void> {
  await sendCompleteAnswer(request, response, toOwnAnswer(answer, toCorsHeaders(request)));
}

/** Sends a refusal; a stream that has begun is cut instead, so that it does not look complete. */
export async function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
): Promise<void> {
  if (response.headersSent) return void response.destroy();
  // A page of a refused origin may not read the answer.
  const cors = problem.status === 403 ? {} : toCorsHeaders(request);
  const headers = request.complete ? cors : { ...cors, Connection: "close" };
  await sendCompleteAnswer(request, response, toOwnAnswer(problem.toAnswer(), headers));
}

const METHODS = "GET, POST, PUT, PATCH, DELETE";
const REQUEST_HEADERS = "Authorization, Content-Type, Last-Event-ID, X-Sandbox";

/** The headers with which a page may read the answer. The guard has refused pages of origins that are not allowed. */
function toCorsHeaders(request: IncomingMessage): Record<string, string> {
  const { origin } = request.headers;
  return origin === undefined
    ? {}
    : {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Expose-Headers": "Content-Disposition, Location, WWW-Authenticate",
      };
}

/** Answers a preflight of an allowed source; false for any other request. */
export function answerPreflight(request: IncomingMessage, response: ServerResponse): boolean {
  const { origin } = request.headers;
  if (request.method !== "OPTIONS" || origin === undefined) return false;
  response.writeHead(204, {
    ...toCorsHeaders(request),
    Vary: "Origin",
    "Access-Control-Allow-Methods": METHODS,
    "Access-Control-Allow-Headers": REQUEST_HEADERS,
    "Access-Control-Max-Age": "600",
  });
  response.end();
  return true;
}
