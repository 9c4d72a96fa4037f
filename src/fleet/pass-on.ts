import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from "node:http";
import type { Socket } from "node:net";
import { json } from "node:stream/consumers";
import { HOP_HEADER, MOVED } from "./hop-header.ts";
import type { PassedBody } from "./passed-body.ts";

const CONNECT_MS = 3000;
/** For what another node is asked besides requests. */
const ANSWER_MS = 10_000;
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
 * `unreached`: nothing of the request has left, and it may go elsewhere; `moved`: who was asked is not the owner, or is
 * just ending, and has done nothing; `lost`: the owner was there and is not any more, so nobody knows what became of it.
 */
export type Passing = "answered" | "unreached" | "moved" | "lost";

/** A request on its way to another node, which may have to be sent twice. */
export interface Passed {
  request: IncomingMessage;
  response: ServerResponse;
  body: PassedBody;
}

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

  /** So many requests wait for an answer of another node. */
  get underWay(): number {
    return this.waiting.size;
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

  /** A GET of this node's own, and the JSON that comes back. */
  ask(url: string, headers: Readonly<Record<string, string | undefined>>): Promise<unknown> {
    const given = Object.entries(headers).filter(([, value]) => value !== undefined);
    return new Promise((resolve, reject) => {
      const asked = send(url, {
        agent: this.agent,
        headers: Object.fromEntries([...given, [HOP_HEADER, this.from]]) as Record<string, string>,
        timeout: ANSWER_MS,
      });
      asked.once("timeout", () => asked.destroy(new Error("no answer in time")));
      asked.once("error", reject);
      asked.once("response", (answer) => {
        json(answer).then(answer.statusCode === 200 ? resolve : reject, reject);
      });
      asked.end();
    });
  }

  close(): void {
    this.agent.destroy();
  }

  pass(passed: Passed, target: Target): Promise<Passing> {
    return new Promise((resolve) => this.begin(passed, target, resolve));
  }

  private begin(
    { request, response, body }: Passed,
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
      // A connection that was used before may just be closing, and this body could not be sent again.
      agent: body.mayBeLarge ? false : this.agent,
      setHost: false,
    });
    const end = (outcome: Passing) => {
      this.waiting.delete(outgoing);
      response.off("close", left);
      if (outcome === "answered" || outcome === "lost") this.count += 1;
      resolve(outcome);
    };
    const left = () => {
      outgoing.destroy();
      end("answered");
    };
    this.waiting.set(outgoing, { target, give: end });
    response.once("close", left);
    outgoing.once("response", (answer) => {
      if (answer.headers[HOP_HEADER] === MOVED && body.canRepeat) {
        answer.resume();
        return end("moved");
      }
      end("answered");
      response.once("close", () => outgoing.destroy());
      relay(answer, response);
    });
    outgoing.once("socket", (socket) => whenConnected(socket, outgoing, () => body.giveTo(outgoing)));
    outgoing.once("error", (error: FailedExchange) => {
      if (!this.waiting.has(outgoing)) return;
      if (wasNotReached(error) || (outgoing.reusedSocket && body.isEmpty)) end("unreached");
      else if (error.rawPacket !== undefined) end(breakLike(response, error));
      else void isThere(url).then((there) => end(there ? breakLike(response, error) : "lost"));
    });
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

/** A machine that is not there gives no answer at all. */
function whenConnected(socket: Socket, outgoing: ClientRequest, go: () => void): void {
  if (!socket.connecting) {
    go();
    return;
  }
  const late = setTimeout(() => {
    outgoing.destroy(
      Object.assign(new Error("no connection in time"), { code: "ETIMEDOUT", syscall: "connect" }),
    );
  }, CONNECT_MS);
  socket.once("connect", () => {
    clearTimeout(late);
    go();
  });
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

/** Whether somebody still answers there: the port of a process that is being killed is open a moment longer. */
export function isThere(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = send(`${url}/_control/health`, { agent: false, timeout: CONNECT_MS });
    asked.once("response", (answer) => {
      answer.resume();
      resolve(true);
    });
    asked.once("timeout", () => asked.destroy(new Error("no answer in time")));
    asked.once("error", () => resolve(false));
    asked.end();
  });
}
