import "../../hosts/node/platform.ts";
import { once } from "node:events";
import { connect } from "node:tls";
import { pluralize, toPrintable } from "../../engine/contract/text.ts";
import { checkSignature, type SignatureVerdict } from "../../engine/receivers/check-signature.ts";
import type { ForwardedAnswer, ForwardedDelivery } from "../../engine/receivers/forwarding.ts";
import {
  describeAnswer,
  getAnswer,
  listHeaderValues,
  type ReceiverRequest,
  type ReceiverResponse,
  type SimulatedAnswer,
  simulateAnswer,
} from "../../engine/receivers/receiver.ts";
import { SIGNATURE_HEADER } from "../../engine/webhooks/sign.ts";
import { createNodeServer } from "../../hosts/node/create-server.ts";
import { toOriginForm } from "../../hosts/node/node-request.ts";
import { ALLOW_ALL } from "../../hosts/node/outbound/address-policy.ts";
import { createOutbound, type Outbound } from "../../hosts/node/outbound/outbound.ts";
import { openPort } from "../../hosts/node/own-address.ts";
import { answerReceiverRequest } from "../../hosts/node/receiver-requests.ts";
import { refuseBadHostOrCoding } from "../../hosts/node/refuse-unreadable.ts";

export interface ReceivedDelivery {
  /** ISO 8601, wall clock: a listener has no sandbox. */
  at: string;
  method: string;
  path: string;
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body: Buffer;
  event: string | undefined;
  delivery_id: string | undefined;
  /** The number of the request with this delivery id, from 1. */
  attempt: number;
  /** Undefined if no secret was given. */
  signature: SignatureVerdict | undefined;
  answer: string;
}

const MAX_SHOWN_BYTES = 4096;

/** Formats a delivery for the terminal. If the signature does not match, shows the reason and the bytes that should be signed. */
export function formatDelivery(delivery: ReceivedDelivery): string {
  const { at, method, path, event, delivery_id, attempt, signature, answer, body, headers } = delivery;
  const subject =
    event === undefined ? `${method} ${path}` : `${event}  ${delivery_id ?? "without delivery id"}`;
  const lines = [
    `${at.slice(11, 23)}  ${toPrintable(subject)}  attempt ${attempt}  signature ${describeVerdict(signature)}  -> ${answer}`,
  ];
  if (signature === undefined || signature.verdict === "valid") lines.push(`  ${formatBody(body)}`);
  else {
    lines.push(
      `  why:       ${toPrintable(signature.reason)}`,
      `  fix:       ${signature.fix}`,
      `  received:  ${SIGNATURE_HEADER}: ${toPrintable(String(headers[SIGNATURE_HEADER.toLowerCase()] ?? "(none)"))}`,
      `  signed:    the ${pluralize(body.length, "byte")} of the body, exactly as received:`,
      ...formatHexDump(body),
    );
  }
  return lines.join("\n");
}

function describeVerdict(signature: SignatureVerdict | undefined): string {
  return signature === undefined ? "not checked (no --secret)" : signature.verdict.toUpperCase();
}

function formatBody(body: Buffer): string {
  const text = toPrintable(body.subarray(0, MAX_SHOWN_BYTES).toString("utf8"));
  return body.length > MAX_SHOWN_BYTES ? `${text} … (${body.length} bytes)` : text;
}

/** Shows sixteen bytes per line, in hex and as text, so that line breaks and byte-order marks are visible. */
function formatHexDump(body: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(body.length, MAX_SHOWN_BYTES); at += 16) {
    const row = body.subarray(at, at + 16);
    const hex = [...row].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = row.toString("latin1").replaceAll(/[^\x20-\x7e]/g, ".");
    lines.push(`    ${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${text}`);
  }
  if (body.length > MAX_SHOWN_BYTES) lines.push(`    … ${body.length - MAX_SHOWN_BYTES} bytes more`);
  return lines;
}

export interface ListenerOptions {
  /** 0 picks a free one. */
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** The answers in order; the last one repeats. Default [200]. */
  answers?: readonly SimulatedAnswer[];
  /** With it, signatures are checked. */
  secret?: string | undefined;
  /** Called for each request that has arrived completely. */
  onDelivery: (delivery: ReceivedDelivery) => void;
}

const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Maximum number of remembered delivery ids. The next attempt of an evicted one counts as its first. */
const MAX_REMEMBERED_IDS = 10_000;

/**
 * A webhook receiver in its own process, for `understudy listen`: answers requests to any path of its URL as
 * configured, checks each signature and explains a mismatch. Rejects if the port is taken.
 */
export async function createListener(options: ListenerOptions) {
  const { port, host = "127.0.0.1", answers = [200], secret } = options;
  const attempts = new AttemptCounter();
  let served = 0;
  const receive = async (request: ReceiverRequest): Promise<ReceiverResponse> => {
    const body = await request.read(MAX_BODY_BYTES);
    if (body === "gone") return "hang";
    if (body === "too-large")
      return { status: 413, headers: { Connection: "close" }, body: new Uint8Array() };
    const header = listHeaderValues(request.rawHeaders, SIGNATURE_HEADER);
    const answer = getAnswer(answers, served++);
    options.onDelivery({
      ...attempts.count(request.headers),
      at: new Date().toISOString(),
      method: request.method,
      path: request.path,
      headers: request.headers,
      body: Buffer.from(body),
      signature: secret === undefined ? undefined : checkSignature({ secret, header, body }),
      answer: describeAnswer(answer),
    });
    return simulateAnswer(answer, request.signal);
  };
  const server = createNodeServer().on("request", (request, response) => {
    if (refuseBadHostOrCoding(request, response)) return;
    const path = toOriginForm(request.url!);
    answerReceiverRequest(request, response, { path, handle: receive }).catch(() => response.destroy());
  });
  return openPort(server, port, host);
}

class AttemptCounter {
  private readonly attempts = new Map<string, number>();

  /** @param headers of the request, with lower-case names */
  count(headers: ReceivedDelivery["headers"]): Pick<ReceivedDelivery, "event" | "delivery_id" | "attempt"> {
    const event = toText(headers["x-service-event"]);
    const delivery_id = toText(headers["x-service-delivery"]);
    if (delivery_id === undefined) return { event, delivery_id, attempt: 1 };
    const attempt = (this.attempts.get(delivery_id) ?? 0) + 1;
    this.attempts.delete(delivery_id);
    this.attempts.set(delivery_id, attempt);
    if (this.attempts.size > MAX_REMEMBERED_IDS) this.attempts.delete(this.attempts.keys().next().value!);
    return { event, delivery_id, attempt };
  }
}

function toText(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "object" ? header.join(", ") : header;
}

/** A server forwards a delivery only if its signature is valid. */
const CHECKED_BY_SERVER: SignatureVerdict = {
  verdict: "valid",
  code: "match",
  reason: "the server has checked it",
  fix: "",
};

/** Calls a receiver on this machine in place of a server that cannot reach it (interfaces.md 11). */
export class LocalReceiver {
  private readonly url: URL;
  private readonly timeoutMs: number;
  private readonly outbound: Outbound = createOutbound({ policy: ALLOW_ALL });
  private readonly attempts = new AttemptCounter();

  /** @param timeoutMs the sender's timeout; a call ends a little earlier, so that its failure still reaches the sender */
  constructor(url: string, timeoutMs: number) {
    this.url = new URL(url);
    this.timeoutMs = timeoutMs - Math.min(500, timeoutMs / 4);
  }

  /** Calls the receiver as the service would. Returns the answer for the server, and the delivery for the terminal. */
  async call({ method, headers, body_base64 }: ForwardedDelivery): Promise<{
    answer: ForwardedAnswer;
    receivedDelivery: ReceivedDelivery;
  }> {
    const at = new Date().toISOString();
    const body = Buffer.from(body_base64, "base64");
    const result = await this.outbound.send({
      url: this.url.href,
      method,
      headers,
      body,
      timeoutMs: this.timeoutMs,
    });
    const { response_code, duration_ms, error } = result;
    const failure = error && (await this.explain(error));
    const lowerCaseHeaders = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    return {
      answer:
        failure === undefined
          ? {
              status: response_code,
              headers: result.headers,
              body_base64: result.body.toString("base64"),
            }
          : { failure },
      receivedDelivery: {
        ...this.attempts.count(lowerCaseHeaders),
        at,
        method,
        path: this.url.pathname,
        headers: lowerCaseHeaders,
        body,
        signature: CHECKED_BY_SERVER,
        answer: failure === undefined ? `${response_code} in ${duration_ms} ms` : `no answer: ${failure}`,
      },
    };
  }

  private async explain({ kind, message }: { kind: string; message: string }): Promise<string> {
    const { protocol, hostname, port } = this.url;
    if (protocol === "https:" || !["reset", "protocol"].includes(kind)) return message;
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    const isTls = await speaksTls({ host, port: Number(port || 80) });
    return isTls ? `${message}: the port speaks TLS, so write https:// in place of http://` : message;
  }

  close(): void {
    this.outbound.close();
  }
}

const HANDSHAKE_TIMEOUT_MS = 2000;

async function speaksTls(address: { host: string; port: number }): Promise<boolean> {
  const socket = connect({ ...address, rejectUnauthorized: false });
  try {
    await once(socket, "secureConnect", { signal: AbortSignal.timeout(HANDSHAKE_TIMEOUT_MS) });
    return true;
  } catch {
    return false;
  } finally {
    socket.on("error", () => {}).destroy();
  }
}
