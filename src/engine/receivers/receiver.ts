import { type Static, Type } from "typebox";
import { EMPTY_BYTES, toUtf8 } from "../bytes.ts";
import { parseDuration } from "../contract/duration.ts";
import { isBodyless } from "../contract/operation.ts";
import { Duration, Instant } from "../contract/schema.ts";
import { collection } from "../state/collection.ts";
import { sleepUnlessAborted } from "../state/concurrency.ts";

/** An answer of a receiver; delays run on the wall clock (interfaces.md 4). */
export type SimulatedAnswer = number | { status: number; delay?: string | number } | "hang" | "reset";

/**
 * How a receiver inside the server answers one request; `forward`: with the answer of a remote receiver (interfaces
 * 11).
 */
export type ReceiverAnswer = SimulatedAnswer | "forward";

const Status = Type.Integer({ minimum: 200, maximum: 599 });

export const ReceiverAnswer = Type.Unsafe<ReceiverAnswer>({
  anyOf: [
    Status,
    {
      type: "object",
      properties: {
        status: Status,
        delay: Duration(),
      },
      required: ["status"],
      additionalProperties: false,
    },
    { type: "string", enum: ["hang", "reset", "forward"] },
  ],
  title: 'a status, {"status", "delay"}, "hang", "reset" or "forward"',
});

export const ReceiverAnswers = Type.Array(ReceiverAnswer, { minItems: 1, maxItems: 1000 });

/** The answer to the n-th request, counted from 0: the last one repeats (interfaces.md 4). */
export function getAnswer<A extends ReceiverAnswer>(answers: readonly A[], requestNumber: number): A | 200 {
  return answers[Math.min(requestNumber, answers.length - 1)] ?? 200;
}

/** The position of the first answer whose delay cannot be read; undefined if all can. */
export function findUnreadableDelay(answers: readonly ReceiverAnswer[]): number | undefined {
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

/** A request to a receiver, as its host hands it over. */
export interface ReceiverRequest {
  method: string;
  /** Without the query. */
  path: string;
  /** Names in lower case, values of a repeated name joined if HTTP allows it. */
  headers: Readonly<Record<string, string | string[]>>;
  /** Name, value, name, value … as sent. */
  rawHeaders: readonly string[];
  /** The raw bytes, or why there are none: the sender left, or the body is longer than `limit` bytes. */
  read(limit: number): Promise<Uint8Array | "gone" | "too-large">;
  /** Aborts when the sender leaves. */
  signal: AbortSignal;
}

/** All values of a header, in any letter case. */
export function listHeaderValues(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === name.toLowerCase());
}

/** A receiver's response; `hang` means that it never comes, `reset` that the connection breaks. */
export type ReceiverResponse =
  | { status: number; headers: Readonly<Record<string, string | string[]>>; body: Uint8Array }
  | "hang"
  | "reset";

/** Keeps the connection: a sender reuses one only if the answer allows it. */
export function toJsonResponse(status: number, value: unknown): ReceiverResponse {
  if (isBodyless(status)) return { status, headers: { Connection: "keep-alive" }, body: EMPTY_BYTES };
  const headers = { "Content-Type": "application/json; charset=utf-8", Connection: "keep-alive" };
  return { status, headers, body: toUtf8(JSON.stringify(value)) };
}

/** The answer, after its delay; the wait ends when the signal aborts. */
export async function simulateAnswer(
  answer: SimulatedAnswer,
  signal: AbortSignal,
): Promise<ReceiverResponse> {
  if (answer === "hang" || answer === "reset") return answer;
  const { status, delay } = typeof answer === "number" ? { status: answer, delay: undefined } : answer;
  const delayMs = delay === undefined ? 0 : (parseDuration(delay) ?? 0);
  if (delayMs > 0) await sleepUnlessAborted(delayMs, signal);
  return toJsonResponse(status, { received: status < 300 });
}

/** A receiver inside the server (interfaces.md 4). It is part of the world, so that it survives a restart. */
const Receiver = Type.Object({
  id: Type.String(),
  answers: ReceiverAnswers,
  /** Null: the secret of the webhook in the payload. */
  secret: Type.Union([Type.String(), Type.Null()]),
  /** Requests answered with the present list of answers. */
  served: Type.Integer({ minimum: 0 }),
  created_at: Instant(),
  /** Whether the receiver is deleted when the last client that follows it disconnects. */
  leased: Type.Optional(Type.Boolean()),
});
export type Receiver = Static<typeof Receiver>;

export const receivers = collection({
  name: "_receivers",
  prefix: "rcv_",
  internal: true,
  countsTowardLimit: true,
  schema: Receiver,
  indexes: { newest: { groups: () => [""], order: ({ created_at }) => -created_at } },
});
