import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  request as send,
} from "node:http";
import type { Socket } from "node:net";
import { json } from "node:stream/consumers";
import { endTogether } from "../hosts/node/batches.ts";
import { forwardHead, listForwardedHeaders, sendHead } from "../hosts/node/send.ts";
import type { ReplayableBody } from "./replayable-body.ts";

/** Names the node that forwarded a request. The next node answers or refuses it, and does not forward it again. */
export const HOP_HEADER = "x-understudy-hop";
/** Value of the header in a refusal before any change: the request may be sent to the next owner. */
export const MOVED = "moved";

const NOT_SENT_BACK = new RegExp(`^${HOP_HEADER}$`, "i");
/** Trailers of a request are not forwarded, and Node refuses to announce them before a body of known length. */
const NOT_SENT = new RegExp(`^(${HOP_HEADER}|trailer)$`, "i");

/** Keeps the header out of what is recorded and sent on; `headers`, which Node derives from the others, keeps it. */
export function hideHop({ headers, rawHeaders }: IncomingMessage): void {
  if (headers[HOP_HEADER] === undefined) return;
  const index = rawHeaders.lastIndexOf(HOP_HEADER);
  if (index !== -1) rawHeaders.splice(index, 2);
}

const CONNECT_TIMEOUT_MS = 3000;
/** An idle connection is closed before the other node closes it, after 10 s: a request at that moment would be lost. */
const IDLE_MS = 5000;
const OWN_REQUEST_TIMEOUT_MS = 10_000;
/** A larger body is forwarded as it arrives. */
const MAX_BUFFERED_BYTES = 64 * 1024;

/**
 * `unreached`: nothing was sent, so another node may take the request. `moved`: the node that was asked is not the
 * owner, or is shutting down, and has done nothing. `lost`: the owner ended after it received the request, so its
 * result is unknown.
 */
export type ProxyResult = "answered" | "unreached" | "moved" | "lost";

/** A request for another node; `body.canRepeat` says whether it can be sent again. */
export interface ProxiedRequest {
  request: IncomingMessage;
  response: ServerResponse;
  body: ReplayableBody;
}

export interface Target {
  /** The owner's node url. */
  url: string;
  /** The owner's session in Redis; a node whose session expired gets a new one. */
  session: string;
}

/** Forwards requests to the node that owns their sandbox, byte by byte, including streams and broken answers. */
export class NodeProxy {
  /** Number of requests that other nodes answered, or lost. */
  forwardedCount = 0;
  private readonly nodeUrl: string;
  private readonly agent = new Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 256 });
  private readonly waiting = new Set<ProxiedExchange>();

  /** @param nodeUrl this node's url */
  constructor(nodeUrl: string) {
    this.nodeUrl = nodeUrl;
  }

  /** The owners whose answers requests wait for. */
  listOwners(): Target[] {
    return [...new Map([...this.waiting].map(({ target }) => [target.session, target])).values()];
  }

  /** Ends all requests to an owner that is gone. */
  giveUp(session: string): void {
    for (const exchange of this.waiting) if (exchange.target.session === session) exchange.giveUp();
  }

  /** Sends a GET of this node's own, and returns the JSON of a 200. */
  fetchJson(url: string, headers: OutgoingHttpHeaders): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const outgoing = send(url, {
        agent: this.agent,
        headers: { ...headers, [HOP_HEADER]: this.nodeUrl },
        timeout: OWN_REQUEST_TIMEOUT_MS,
      });
      outgoing.once("timeout", () => outgoing.destroy(new Error("no answer in time")));
      outgoing.once("error", reject);
      outgoing.once("response", (answer) => {
        json(answer).then(answer.statusCode === 200 ? resolve : reject, reject);
      });
      outgoing.end();
    });
  }

  close(): void {
    this.agent.destroy();
  }

  forward(proxied: ProxiedRequest, target: Target): Promise<ProxyResult> {
    return new Promise((resolve) => {
      const outgoing = this.send(proxied, target.url);
      const exchange = new ProxiedExchange(proxied, target, outgoing, (result) => {
        this.waiting.delete(exchange);
        if (result === "answered" || result === "lost") this.forwardedCount += 1;
        resolve(result);
      });
      this.waiting.add(exchange);
    });
  }

  private send({ request, body }: ProxiedRequest, url: string): ClientRequest {
    const { hostname, port } = new URL(url);
    return send({
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port: port === "" ? 80 : port,
      headers: [...listForwardedHeaders(request.rawHeaders, NOT_SENT), HOP_HEADER, this.nodeUrl],
      method: request.method,
      path: request.url,
      // A reused connection may be closing, and a large body cannot be sent again.
      agent: body.mayBeLarge ? false : this.agent,
      setHost: false,
    });
  }
}

type ExchangeError = NodeJS.ErrnoException & { rawPacket?: Buffer };

/** Sends one request to the owner, and its answer to the client. */
class ProxiedExchange {
  readonly target: Target;
  private readonly proxied: ProxiedRequest;
  private readonly outgoing: ClientRequest;
  private readonly settle: (result: ProxyResult) => void;
  private isWaiting = true;

  constructor(
    proxied: ProxiedRequest,
    target: Target,
    outgoing: ClientRequest,
    settle: (result: ProxyResult) => void,
  ) {
    this.proxied = proxied;
    this.target = target;
    this.outgoing = outgoing;
    this.settle = settle;
    proxied.response.on("close", this.leave);
    outgoing.on("response", (answer) => this.answer(answer));
    outgoing.on("socket", (socket) =>
      waitForConnection(socket, outgoing, () => proxied.body.sendTo(outgoing)),
    );
    outgoing.on("error", (error: ExchangeError) => this.fail(error));
  }

  giveUp(): void {
    this.end("lost");
    this.outgoing.destroy();
  }

  private end(result: ProxyResult): void {
    if (!this.isWaiting) return;
    this.isWaiting = false;
    if (result !== "answered") this.proxied.response.off("close", this.leave);
    this.settle(result);
  }

  /** The client has left, or has received everything. */
  private readonly leave = (): void => {
    this.outgoing.destroy();
    this.end("answered");
  };

  private answer(answer: IncomingMessage): void {
    const { request, response, body } = this.proxied;
    const { headers } = answer;
    if (headers[HOP_HEADER] === MOVED && body.canRepeat) {
      answer.resume();
      this.end("moved");
      return;
    }
    this.end("answered");
    response.sendDate = false;
    forwardHead(response, answer, NOT_SENT_BACK);
    // An answer that was cut must not look complete; perhaps only its head arrived.
    answer.on("error", () => {
      response.flushHeaders();
      response.destroy();
    });
    const hasNoBody = request.method === "HEAD" || answer.statusCode === 204 || answer.statusCode === 304;
    const length = hasNoBody ? 0 : Number(headers["content-length"]);
    if (Number.isNaN(length)) {
      // The head is sent at once, since a stream may be silent for long.
      sendHead(response);
      answer.pipe(response);
    } else if (length === 0 || length > MAX_BUFFERED_BYTES) {
      answer.pipe(response);
    } else {
      answer.once("data", (piece: Buffer) => {
        if (piece.length === length) return void endTogether(response, piece.toString("latin1"));
        response.write(piece);
        answer.pipe(response);
      });
    }
  }

  private fail(error: ExchangeError): void {
    if (!this.isWaiting) return;
    const { request, response, body } = this.proxied;
    if (wasNotReached(error)) return void this.end("unreached");
    if (error.rawPacket !== undefined) return void this.end(breakConnection(response, error));
    void isReachableAt(this.target.url).then((isReachable) => {
      if (!this.isWaiting) return;
      if (isReachable) return this.end(breakConnection(response, error));
      // The node may have ended before this request; if not, one that changes nothing may be sent twice.
      const isSafe = /^(GET|HEAD|OPTIONS)$/.test(request.method!) && !body.hasBody;
      this.end(this.outgoing.reusedSocket && isSafe ? "unreached" : "lost");
    });
  }
}

/** Waits for a connection with a timeout, since a machine that is down does not answer. */
function waitForConnection(socket: Socket, outgoing: ClientRequest, onConnect: () => void): void {
  if (!socket.connecting) {
    onConnect();
    return;
  }
  const timer = setTimeout(() => {
    outgoing.destroy(
      Object.assign(new Error("no connection in time"), { code: "ETIMEDOUT", syscall: "connect" }),
    );
  }, CONNECT_TIMEOUT_MS);
  socket.once("connect", () => {
    clearTimeout(timer);
    onConnect();
  });
  socket.once("close", () => clearTimeout(timer));
}

function wasNotReached({ syscall }: NodeJS.ErrnoException): boolean {
  return syscall === "connect" || syscall === "getaddrinfo";
}

/** Repeats a wire fault that the owner performed for the client (interfaces.md 6). */
function breakConnection(response: ServerResponse, { code, syscall, rawPacket }: ExchangeError): ProxyResult {
  const { socket } = response;
  if (rawPacket !== undefined) socket?.end(rawPacket);
  else if (code === "ECONNRESET" && syscall === "read") socket?.resetAndDestroy();
  else socket?.destroy();
  return "answered";
}

/** Whether a node answers at the address. A connection proves nothing: a killed process's port stays open briefly. */
export function isReachableAt(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = send(`${url}/_control/health`, { agent: false, timeout: CONNECT_TIMEOUT_MS });
    request.once("response", (answer) => {
      answer.resume();
      resolve(true);
    });
    request.once("timeout", () => request.destroy(new Error("no answer in time")));
    request.once("error", () => resolve(false));
    request.end();
  });
}
