import * as http from "node:http";
import * as https from "node:https";
import { MAX_HEADER_BYTES } from "../../engine/contract/router.ts";
import { toPairs } from "../../engine/maps.ts";
import { toOriginForm } from "../../hosts/node/node-request.ts";
import { toFailure } from "../../hosts/node/outbound/outbound-failure.ts";
import { MAX_ANSWER_HEADER_BYTES } from "../../hosts/node/outbound/upstream.ts";
import { openPort } from "../../hosts/node/own-address.ts";
import { refuseUnreadable } from "../../hosts/node/refuse-unreadable.ts";
import { forwardHead, listForwardedHeaders, sendHead } from "../../hosts/node/send.ts";
import {
  type ArchivedBody,
  type ArchivedExchange,
  decompress,
  type HarEntry,
  toHarEntry,
} from "../har/har-entry.ts";

interface RecorderOptions {
  /** Base URL of the service, without a slash at its end. */
  target: string;
  /** 0 picks a free one. */
  port: number;
  host: string;
  /** Called for each exchange that has ended, with secrets masked. */
  onExchange: (entry: RecordedEntry) => void;
}

/** `_error` is the reason why an exchange did not complete. */
export type RecordedEntry = HarEntry & { _error?: string };

export interface Recorder {
  url: string;
  /** Ends exchanges that are under way, and records them as far as they came. */
  close(): Promise<void>;
}

const NOT_SENT_BACK = /^proxy-(authenticate|authorization)$/i;
/** Trailers of a request are not forwarded, and Node refuses to announce them before a body of known length. */
const NOT_SENT = /^(proxy-(authenticate|authorization)|trailer)$/i;

/** Servers commonly close an idle connection after two to five seconds. */
const IDLE_MS = 1000;
/** Methods that change nothing (RFC 9110, 9.2.1). */
const SAFE_METHODS = /^(GET|HEAD|OPTIONS|TRACE)$/;

/**
 * Creates a proxy in front of a service, which forwards everything unchanged and reports each exchange (interfaces.md 12).
 * Rejects when the port is taken.
 */
export async function createRecorder(options: RecorderOptions): Promise<Recorder> {
  const { target, port, host, onExchange } = options;
  const { Agent, request } = target.startsWith("https:") ? https : http;
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  const running = new Map<Relay, Promise<void>>();
  const server = http.createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (incoming, outgoing) => {
    const relay = new Relay(target, (url, sent) => request(url, { ...sent, agent }));
    const relaying = relay.pass(incoming, outgoing).then(onExchange);
    running.set(relay, relaying);
    void relaying.finally(() => running.delete(relay));
  });
  // The service decides about timeouts.
  server.requestTimeout = 0;
  refuseUnreadable(server);
  const { url, close } = await openPort(server, port, host);
  return {
    url,
    async close() {
      for (const relay of running.keys()) relay.recordEnd();
      await Promise.all([close(), ...running.values()]);
      agent.destroy();
    },
  };
}

type Send = (url: string, sent: http.RequestOptions) => http.ClientRequest;

/** One request that is forwarded to the service. */
class Relay {
  private readonly target: string;
  private readonly send: Send;
  private readonly wallStart = Date.now();
  private readonly monotonicStart = performance.now();
  private readonly requestBody = new RecordedBody();
  private readonly responseBody = new RecordedBody();
  private sentAt: number | undefined;
  private headAt: number | undefined;
  private answer: http.IncomingMessage | undefined;
  private error: string | undefined;
  private closeReason = "the client left";

  constructor(target: string, send: Send) {
    this.target = target;
    this.send = send;
  }

  /** Resolves when both sides have ended; never rejects. */
  async pass(incoming: http.IncomingMessage, outgoing: http.ServerResponse): Promise<RecordedEntry> {
    outgoing.sendDate = false;
    incoming.on("data", (piece: Buffer) => this.requestBody.add(piece));
    await new Promise<void>((resolve) => this.forward(incoming, outgoing, resolve));
    return this.toEntry(incoming);
  }

  /** Call it before the recorder closes the client's connection. */
  recordEnd(): void {
    this.closeReason = "the recording ended";
  }

  private forward(
    incoming: http.IncomingMessage,
    outgoing: http.ServerResponse,
    done: () => void,
    { isRetry = false } = {},
  ): void {
    const upstream = this.send(this.target + toOriginForm(incoming.url!), {
      method: incoming.method,
      maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
      headers: this.toRequestHeaders(incoming) as never,
    });
    const onClose = () => {
      if (outgoing.writableFinished) return done();
      this.error ??= this.closeReason;
      upstream.destroy();
      done();
    };
    outgoing.once("close", onClose);
    upstream.once("finish", () => {
      this.sentAt = performance.now();
    });
    upstream.once("response", (answer) => {
      if (answer.statusCode! >= 100) return this.passBack(answer, outgoing);
      this.refuse(outgoing, new Error(`it sent the status ${answer.statusCode}, which HTTP does not have`));
      answer.destroy();
    });
    upstream.once("upgrade", (_answer, socket) => {
      socket.destroy();
      this.refuse(outgoing, new Error("it switched protocols, which cannot be recorded"));
    });
    upstream.once("error", (error: NodeJS.ErrnoException) => {
      if (this.answer !== undefined || outgoing.destroyed) return;
      // The target probably closed the reused connection before it saw this request. If not, a safe method may be repeated.
      const isSafe = SAFE_METHODS.test(incoming.method!) && !hasBody(incoming);
      if (upstream.reusedSocket && error.code === "ECONNRESET" && isSafe && !isRetry) {
        outgoing.off("close", onClose);
        return this.forward(incoming, outgoing, done, { isRetry: true });
      }
      this.refuse(outgoing, error);
    });
    incoming.pipe(upstream);
  }

  private toRequestHeaders({ method, headers, rawHeaders }: http.IncomingMessage): string[] {
    const sent = withHost(listForwardedHeaders(rawHeaders, NOT_SENT), new URL(this.target).host);
    const length = headers["content-length"] ?? headers["transfer-encoding"];
    // Otherwise Node would add `Transfer-Encoding: chunked`, which the client did not send.
    return length === undefined && !/^(GET|HEAD|DELETE|OPTIONS)$/.test(method!)
      ? [...sent, "Content-Length", "0"]
      : sent;
  }

  private passBack(answer: http.IncomingMessage, outgoing: http.ServerResponse): void {
    this.answer = answer;
    this.headAt = performance.now();
    forwardHead(outgoing, answer, NOT_SENT_BACK);
    // An event stream may say nothing for a while.
    sendHead(outgoing);
    answer.on("data", (piece: Buffer) => this.responseBody.add(piece));
    answer.once("error", () => {
      this.error ??= "the target broke off";
      outgoing.destroy();
    });
    answer.pipe(outgoing);
  }

  /** The target gave no usable answer: if it reset the connection, the client's is closed too, else it gets 502. */
  private refuse(outgoing: http.ServerResponse, error: NodeJS.ErrnoException): void {
    const { code = "" } = error;
    const wasReset = code === "ECONNRESET";
    const isUnreadable = code.startsWith("HPE_");
    const reason =
      wasReset || isUnreadable
        ? toFailure(error).error.message
        : [code, error.message].filter(Boolean).join(": ");
    this.error = `no answer: ${reason}`;
    if (wasReset) return void outgoing.destroy();
    const hasAnswered = code === "" || isUnreadable;
    const problem = hasAnswered ? "gave no answer that can be forwarded" : "cannot be reached";
    const detail = `understudy record: ${this.target} ${problem}: ${reason}`;
    outgoing.writeHead(502, { "Content-Type": "application/problem+json" });
    outgoing.end(JSON.stringify({ title: "The target does not answer", status: 502, detail }));
  }

  private toEntry({ method, url, rawHeaders, headers }: http.IncomingMessage): RecordedEntry {
    const endedAt = performance.now();
    const headAt = this.headAt ?? endedAt;
    const sentAt = Math.min(this.sentAt ?? headAt, headAt);
    const [path = "", ...query] = toOriginForm(url!).split("?");
    const { answer } = this;
    const exchange: ArchivedExchange = {
      startedAt: this.wallStart,
      send: roundToTenths(sentAt - this.monotonicStart),
      wait: roundToTenths(headAt - sentAt),
      receive: roundToTenths(endedAt - headAt),
      method: method!,
      url: this.target + path,
      query: query.join("?"),
      requestHeaders: withHost(rawHeaders, new URL(this.target).host),
      requestBody: this.requestBody.toArchived(headers["content-encoding"]),
      status: answer?.statusCode ?? 0,
      responseHeaders: answer?.rawHeaders ?? [],
      responseBody: this.responseBody.toArchived(answer?.headers["content-encoding"]),
    };
    return { ...toHarEntry(exchange), ...(this.error === undefined ? {} : { _error: this.error }) };
  }
}

function roundToTenths(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}

function hasBody({ headers }: http.IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** The headers with the Host of the service, which a request of HTTP/1.0 may lack. */
function withHost(raw: readonly string[], host: string): string[] {
  const pairs = toPairs(raw);
  const isHost = ([name]: [string, string]) => name.toLowerCase() === "host";
  if (!pairs.some(isHost)) return ["Host", host, ...raw];
  return pairs.flatMap((pair) => (isHost(pair) ? [pair[0], host] : pair));
}

/** A longer body is forwarded whole, but only its beginning is stored. */
const MAX_CAPTURED_BYTES = 10 * 1024 * 1024;

class RecordedBody {
  private readonly pieces: Buffer[] = [];
  private captured = 0;
  private size = 0;

  add(piece: Buffer): void {
    this.size += piece.length;
    const room = MAX_CAPTURED_BYTES - this.captured;
    if (room <= 0) return;
    this.pieces.push(piece.length > room ? piece.subarray(0, room) : piece);
    this.captured += Math.min(room, piece.length);
  }

  /** Decoded, as archives have it; without bytes if it cannot be decoded. */
  toArchived(coding: string | undefined): ArchivedBody {
    const bytes = Buffer.concat(this.pieces);
    if (bytes.length === 0) return { bytes: undefined, size: 0 };
    const decoded = decompress(bytes, coding, MAX_CAPTURED_BYTES);
    if (decoded === undefined) return { bytes: undefined, size: this.size };
    if (this.captured === this.size) return { bytes: decoded, size: decoded.length };
    // The size of the decoded body is unknown, and more than that of its decoded part.
    return { bytes: dropCutCharacter(decoded), size: Math.max(this.size, decoded.length + 1) };
  }
}

/** Drops the last character if bytes of it are missing, which would make the text invalid. */
function dropCutCharacter(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && end > bytes.length - 4 && (bytes[end - 1]! & 0xc0) === 0x80) end -= 1;
  const lead = bytes[end - 1] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return end - 1 + length > bytes.length ? bytes.subarray(0, end - 1) : bytes;
}
