import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SIGNATURE_HEADER } from "../webhooks/sign.ts";
import { formatDelivery, type HeardDelivery } from "./format-delivery.ts";
import { readDelivery } from "./read-delivery.ts";
import { answerTo, describeAnswer, type ReceiverAnswer, simulateAnswer } from "./receiver-answer.ts";
import { verdict } from "./verdict.ts";

export interface ListenerOptions {
  /** 0 picks a free one. */
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** In turn, the last one repeats; default [200]. */
  answers?: readonly ReceiverAnswer[];
  /** Signatures are judged with it; without one they are shown unjudged. */
  secret?: string | undefined;
  /** For each request that has arrived in full: the facts, and the lines to print. */
  onDelivery: (delivery: HeardDelivery, text: string) => void;
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
  const attempts = new Map<string, number>();
  let served = 0;
  const hear = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readDelivery(request, MAX_BODY_BYTES);
    if (body === "gone") return;
    if (body === "too-large") return void response.writeHead(413, { Connection: "close" }).end();
    const answer = answerTo(answers, served++);
    const delivery = heard(request, { body, answer, secret: options.secret, attempts });
    options.onDelivery(delivery, formatDelivery(delivery));
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
    answer: ReceiverAnswer;
    secret: string | undefined;
    attempts: Map<string, number>;
  },
): HeardDelivery {
  const { body, answer, secret, attempts } = about;
  const { headers } = request;
  const delivery_id = text(headers["x-service-delivery"]);
  return {
    at: new Date().toISOString(),
    method: request.method!,
    path: request.url!,
    headers,
    body,
    event: text(headers["x-service-event"]),
    delivery_id,
    attempt: delivery_id === undefined ? 1 : count(attempts, delivery_id),
    judgement:
      secret === undefined
        ? undefined
        : verdict({ secret, header: request.headersDistinct[SIGNATURE_HEADER.toLowerCase()], body }),
    answer: describeAnswer(answer),
  };
}

function count(attempts: Map<string, number>, delivery_id: string): number {
  const attempt = (attempts.get(delivery_id) ?? 0) + 1;
  attempts.delete(delivery_id);
  attempts.set(delivery_id, attempt);
  if (attempts.size > MAX_REMEMBERED_IDS) attempts.delete(attempts.keys().next().value!);
  return attempt;
}

function text(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(", ") : header;
}
