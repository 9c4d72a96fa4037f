import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from "node:http";
import { connect, type Socket } from "node:net";

/** Names the node that passed a request on: whoever gets it serves it or refuses it. */
export const HOP_HEADER = "x-understudy-hop";
const CONNECT_MS = 3000;
/** RFC 9110, 7.6.1: what concerns one connection alone; and what was expected of us has been given. */
const OF_CONNECTION = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "upgrade",
  "te",
  "expect",
  HOP_HEADER,
]);

/**
 * `unreached`: nothing of the request has left, and it may go elsewhere; `lost`: the owner was there and is not any
 * more, so nobody knows what became of it.
 */
export type Passing = "answered" | "unreached" | "lost";

export interface Target {
  /** The owner's node url. */
  url: string;
  session: string;
}

/** Passes requests on to the node that owns their sandbox, byte by byte, streams and broken answers included. */
export class PassOn {
  count = 0;
  private readonly from: string;
  private readonly agent = new Agent({ keepAlive: true, maxFreeSockets: 256 });
  private readonly waiting = new Map<ClientRequest, { target: Target; give: (outcome: Passing) => void }>();

  /** @param from this node's url */
  constructor(from: string) {
    this.from = from;
  }

  /** Owners that requests wait for. */
  owners(): Target[] {
    return [...new Map([...this.waiting.values()].map(({ target }) => [target.session, target])).values()];
  }

  /** Who waits for an owner that has ceased to be one waits in vain. */
  giveUp(session: string): void {
    for (const [outgoing, wait] of this.waiting) {
      if (wait.target.session !== session) continue;
      wait.give("lost");
      outgoing.destroy();
    }
  }

  close(): void {
    this.agent.destroy();
  }

  pass(request: IncomingMessage, response: ServerResponse, target: Target): Promise<Passing> {
    return new Promise((resolve) => this.begin({ request, response }, target, resolve));
  }

  private begin(
    { request, response }: { request: IncomingMessage; response: ServerResponse },
    target: Target,
    resolve: (outcome: Passing) => void,
  ): void {
    const { url } = target;
    const { hostname, port } = new URL(url);
    const outgoing = send({
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port: port === "" ? 80 : port,
      method: request.method,
      path: request.url,
      headers: [...headersOf(request.rawHeaders), HOP_HEADER, this.from],
      agent: this.agent,
      setHost: false,
    });
    const end = (outcome: Passing) => {
      this.waiting.delete(outgoing);
      response.off("close", left);
      if (outcome !== "unreached") this.count += 1;
      resolve(outcome);
    };
    const left = () => {
      outgoing.destroy();
      end("answered");
    };
    this.waiting.set(outgoing, { target, give: end });
    response.once("close", left);
    outgoing.once("response", (answer) => {
      end("answered");
      response.once("close", () => outgoing.destroy());
      relay(answer, response);
    });
    outgoing.once("socket", (socket) => requireConnection(socket, outgoing));
    outgoing.once("error", (error: FailedExchange) => {
      if (!this.waiting.has(outgoing)) return;
      if (wasNotReached(error) || (outgoing.reusedSocket && !hasBody(request))) end("unreached");
      else if (error.rawPacket !== undefined) end(breakLike(response, error));
      else void isThere(url).then((there) => end(there ? breakLike(response, error) : "lost"));
    });
    if (hasBody(request)) request.pipe(outgoing);
    else outgoing.end();
  }
}

type FailedExchange = NodeJS.ErrnoException & { rawPacket?: Buffer };

function relay(answer: IncomingMessage, response: ServerResponse): void {
  response.sendDate = false;
  response.writeHead(answer.statusCode!, answer.statusMessage, headersOf(answer.rawHeaders));
  // A stream may say nothing for long, and its reader waits for the head.
  if (answer.headers["content-length"] === undefined) response.flushHeaders();
  // What was cut must not look complete.
  answer.once("error", () => response.destroy());
  answer.pipe(response);
}

function headersOf(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < raw.length; i += 2)
    if (!OF_CONNECTION.has(raw[i]!.toLowerCase())) kept.push(raw[i]!, raw[i + 1]!);
  return kept;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

/** A machine that is not there gives no answer at all. */
function requireConnection(socket: Socket, outgoing: ClientRequest): void {
  if (!socket.connecting) return;
  const late = setTimeout(() => {
    outgoing.destroy(
      Object.assign(new Error("no connection in time"), { code: "ETIMEDOUT", syscall: "connect" }),
    );
  }, CONNECT_MS);
  socket.once("connect", () => clearTimeout(late));
  socket.once("close", () => clearTimeout(late));
}

function wasNotReached({ syscall }: NodeJS.ErrnoException): boolean {
  return syscall === "connect" || syscall === "getaddrinfo";
}

/** A fault on the wire, which the owner meant for the client (interfaces 6). */
function breakLike(response: ServerResponse, { code, syscall, rawPacket }: FailedExchange): Passing {
  const { socket } = response;
  if (rawPacket !== undefined) socket?.end(rawPacket);
  else if (code === "ECONNRESET" && syscall === "read") socket?.resetAndDestroy();
  else socket?.destroy();
  return "answered";
}

/** Whether somebody still listens there. */
function isThere(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port || 80) });
    socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error("no connection in time")));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
