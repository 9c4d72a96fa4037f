import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer } from "../engine/pipeline/exchange.ts";
import type { Head } from "../hosts/node/head.ts";
import { type StreamGate, writeAnswer, writeStream } from "../hosts/node/send.ts";
import { corsHeaders } from "./cors.ts";
import type { Problem } from "./problem.ts";

/** Writes an answer with the headers that all of the product's own have. */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  gate?: StreamGate,
): Promise<void> {
  writeAnswer({ request, response }, answer, ownHead(corsHeaders(request)));
  if (answer.stream === undefined) return;
  if (request.method === "HEAD") response.end();
  else await writeStream(response, answer, { gate });
}

/** Writes a refusal; a stream that has begun is cut instead, so that it does not look complete. */
export function sendProblem(request: IncomingMessage, response: ServerResponse, problem: Problem): void {
  if (response.headersSent) return void response.destroy();
  // A source that was refused is no origin to share anything with.
  const head = ownHead(problem.status === 403 ? {} : corsHeaders(request));
  if (!request.complete) head.headers.push("Connection", "close");
  writeAnswer({ request, response }, problem.toAnswer(), head);
}

function ownHead(cors: Readonly<Record<string, string>>): Head {
  return {
    lines: "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n",
    headers: Object.entries(cors).flat(),
  };
}
