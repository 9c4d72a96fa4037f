import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readDelivery } from "../../engine/receivers/read-delivery.ts";
import {
  answerTo,
  describeAnswer,
  type SimulatedAnswer,
  simulateAnswer,
} from "../../engine/receivers/receiver-answer.ts";
import { verdict } from "../../engine/receivers/verdict.ts";
import { SIGNATURE_HEADER } from "../../engine/webhooks/sign.ts";
import type { HeardDelivery } from "./format-delivery.ts";

export interface ListenerOptions {
  /** 0 picks a free one. */
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** In turn, the last one repeats; default [200]. */
  answers?: readonly SimulatedAnswer[];
  /** Signatures are judged with it; without one they are shown unjudged. */
  secret?: string | undefined;
  /** For each request that has arrived in full. */
  onDelivery: (delivery: HeardDelivery) => void;
}

export interface Listener {
  /** Such as `http://127.0.0.1:4748`; any path below answers. */
  url: string;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Beyond so many delivery ids the oldest are forgotten, and their next attempt counts as a first. */
const MAX_REMEMBERED_IDS = 10_000;

/**
 * A webhook receiver of its own process, for `understudy listen`: answers as rehearsed, judges each signature
 * and explains a mismatch. Rejects when the port is taken.
 */
export async function createListener(options: ListenerOptions): Promise<Listener> {
  const { port, host = "127.0.0.1", answers = [200] } = options;
  const attempts = new AttemptCounter();
  let served = 0;
  const hear = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readDelivery(request, MAX_BODY_BYTES);
    if (body === "gone") return;
    if (body === "too-large") return void response.writeHead(413, { Connection: "close" }).end();
    const answer = answerTo(answers, served++);
    const delivery = heard(request, { body, answer, secret: options.secret, attempts });
    options.onDelivery(delivery);
    simulateAnswer(answer, request, response);
  };
  const server = createServer((request, response) => {
    hear(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve());
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function heard(
  request: IncomingMessage,
  about: {
    body: Buffer;
    answer: SimulatedAnswer;
    secret: string | undefined;
    attempts: AttemptCounter;
  },
): HeardDelivery {
  const { body, answer, secret, attempts } = about;
  const { headers, method, url } = request;
  return {
    ...attempts.count(headers),
    at: new Date().toISOString(),
    method: method!,
    path: url!,
    headers,
    body,
    judgement:
      secret === undefined
        ? undefined
        : verdict({ secret, header: request.headersDistinct[SIGNATURE_HEADER.toLowerCase()], body }),
    answer: describeAnswer(answer),
  };
}

/** Which delivery a request brings, and the how-manieth time. */
export class AttemptCounter {
  private readonly attempts = new Map<string, number>();

  /** Of a request's headers, their names in lower case. */
  count(headers: HeardDelivery["headers"]): Pick<HeardDelivery, "event" | "delivery_id" | "attempt"> {
    const event = text(headers["x-service-event"]);
    const delivery_id = text(headers["x-service-delivery"]);
    if (delivery_id === undefined) return { event, delivery_id, attempt: 1 };
    const attempt = (this.attempts.get(delivery_id) ?? 0) + 1;
    this.attempts.delete(delivery_id);
    this.attempts.set(delivery_id, attempt);
    if (this.attempts.size > MAX_REMEMBERED_IDS) this.attempts.delete(this.attempts.keys().next().value!);
    return { event, delivery_id, attempt };
  }
}

function text(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "object" ? header.join(", ") : header;
}
