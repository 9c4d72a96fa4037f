import type { IncomingMessage, ServerResponse } from "node:http";
import Type from "typebox";
import { parseDuration } from "../contract/duration.ts";
import { typed } from "../contract/schema.ts";

/** How a receiver answers by itself; delays run on the wall clock (interfaces 4). */
export type SimulatedAnswer = number | { status: number; delay?: string | number } | "hang" | "reset";

/** How a receiver inside the server answers one request: `forward` as whoever follows it does (interfaces 11). */
export type ReceiverAnswer = SimulatedAnswer | "forward";

const Status = Type.Integer({ minimum: 200, maximum: 599 });

export const ReceiverAnswer = Type.Unsafe<ReceiverAnswer>({
  anyOf: [
    Status,
    {
      type: "object",
      properties: {
        status: Status,
        delay: typed(
          "Duration",
          Type.Unsafe({ type: ["string", "number"], title: "a duration such as 200ms" }),
        ),
      },
      required: ["status"],
      additionalProperties: false,
    },
    { type: "string", enum: ["hang", "reset", "forward"] },
  ],
  title: 'a status, {"status", "delay"}, "hang", "reset" or "forward"',
});

export const ReceiverAnswers = Type.Array(ReceiverAnswer, { minItems: 1, maxItems: 1000 });

/** The answer to the n-th request, counted from 0: the last one repeats (interfaces 4). */
export function answerTo<A extends ReceiverAnswer>(answers: readonly A[], n: number): A | 200 {
  return answers[Math.min(n, answers.length - 1)] ?? 200;
}

/** The first delay that cannot be read, as its position; undefined when all can. */
export function unreadableDelay(answers: readonly ReceiverAnswer[]): number | undefined {
  const position = answers.findIndex(
    (answer) =>
      typeof answer === "object" && answer.delay !== undefined && parseDuration(answer.delay) === undefined,
  );
  return position < 0 ? undefined : position;
}

/** `200`, `200 after 1s`, `hang`, for logs. */
export function describeAnswer(answer: ReceiverAnswer): string {
  if (typeof answer !== "object") return String(answer);
  return answer.delay === undefined ? String(answer.status) : `${answer.status} after ${answer.delay}`;
}

/** Answers a request that has been read to its end. */
export function simulateAnswer(
  answer: SimulatedAnswer,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (answer === "hang") return;
  if (answer === "reset") return void request.socket.resetAndDestroy();
  const { status, delay } = typeof answer === "number" ? { status: answer, delay: undefined } : answer;
  const respond = () => {
    if (response.destroyed) return;
    const body = status === 204 || status === 304 ? "" : JSON.stringify({ received: status < 300 });
    // Said outright, because the sender uses a connection again only where it was told that it may.
    response.writeHead(status, {
      ...(body === "" ? {} : { "Content-Type": "application/json", "Content-Length": body.length }),
      Connection: "keep-alive",
    });
    response.end(body);
  };
  const wait = delay === undefined ? 0 : (parseDuration(delay) ?? 0);
  if (wait === 0) {
    respond();
    return;
  }
  const timer = setTimeout(respond, wait);
  response.once("close", () => clearTimeout(timer));
}
