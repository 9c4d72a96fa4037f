import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { judgeSignature } from "../../engine/receivers/judge-signature.ts";
import {
  answerTo,
  describeAnswer,
  type ReceiverRequest,
  type ReceiverResponse,
  type SimulatedAnswer,
  simulateAnswer,
  valuesOfHeader,
} from "../../engine/receivers/receiver.ts";
import { SIGNATURE_HEADER } from "../../engine/webhooks/sign.ts";
import "../../hosts/node/platform.ts";
import { answerReceiverRequest } from "../../hosts/node/receiver-requests.ts";
import type { HeardDelivery } from "./format-delivery.ts";

export interface ListenerOptions {
  /** 0 picks a free one. */
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** In turn, the last one repeats; default [200]. */
  answers?: readonly SimulatedAnswer[];
  /** Judges signatures; without it they are not checked. */
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
/** Delivery ids remembered; the next attempt of an evicted one counts as its first. */
const MAX_REMEMBERED_IDS = 10_000;

/**
 * A webhook receiver in its own process, for `understudy listen`: answers as configured, judges each signature
 * and explains a mismatch. Rejects when the port is taken.
 */
export async function createListener(options: ListenerOptions): Promise<Listener> {
  const { port, host = "127.0.0.1", answers = [200] } = options;
  const attempts = new AttemptCounter();
  let served = 0;
  const receive = async (request: ReceiverRequest): Promise<ReceiverResponse> => {
    const body = await request.read(MAX_BODY_BYTES);
    if (body === "gone") return "hang";
    if (body === "too-large")
      return { status: 413, headers: { Connection: "close" }, body: new Uint8Array() };
    const answer = answerTo(answers, served++);
    options.onDelivery({
      ...attempts.count(request.headers),
      at: new Date().toISOString(),
      method: request.method,
      path: request.path,
      headers: request.headers,
      body: Buffer.from(body),
      judgement: judge(request, body, options.secret),
      answer: describeAnswer(answer),
    });
    return simulateAnswer(answer, request.signal);
  };
  const server = createServer((request, response) => {
    answerReceiverRequest(request, response, { path: request.url!, handle: receive }).catch(() =>
      response.destroy(),
    );
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

function judge({ rawHeaders }: ReceiverRequest, body: Uint8Array, secret: string | undefined) {
  if (secret === undefined) return undefined;
  return judgeSignature({ secret, header: valuesOfHeader(rawHeaders, SIGNATURE_HEADER), body });
}

/** Counts the attempts of each delivery. */
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
