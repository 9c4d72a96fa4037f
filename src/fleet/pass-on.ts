import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
  request as send,
} from "node:http";
import type { Socket } from "node:net";
import { json } from "node:stream/consumers";
import { flushTogether } from "../hosts/node/batch-responses.ts";
import { AnswerHead, headersOf } from "./answer-head.ts";
import { HOP_HEADER, MOVED } from "./hop-header.ts";
import type { PassedBody } from "./passed-body.ts";

const CONNECT_MS = 3000;
/** For what another node is asked besides requests. */
const ANSWER_MS = 10_000;
/** A larger body goes on as it comes. */
const MOST_TOGETHER_BYTES = 64 * 1024;

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

type Address = Pick<RequestOptions, "host" | "port">;

/** Passes requests on to the node that owns their sandbox, byte by byte, streams and broken answers included. */
export class PassOn {
  count = 0;
  private readonly from: string;
  private readonly agent = new Agent({ keepAlive: true, maxFreeSockets: 256 });
  /** No Set: each table that one outgrows refers to the next, and so keeps what is in it from being collected early. */
  private readonly waiting: Passage[] = [];
  private readonly addresses = new Map<string, Address>();

  /** @param from this node's url */
  constructor(from: string) {
    this.from = from;
  }

  /** So many requests wait for an answer of another node. */
  get underWay(): number {
    return this.waiting.length;
  }

  /** Owners that requests wait for. */
  owners(): Target[] {
    return [...new Map(this.waiting.map(({ target }) => [target.session, target])).values()];
  }

  /** Who waits for an owner that has ceased to be one waits in vain. */
  giveUp(session: string): void {
    for (const passage of this.waiting.filter(({ target }) => target.session === session)) passage.giveUp();
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
    return new Promise((resolve) => {
      const outgoing = this.send(passed, target.url);
      const passage = new Passage(passed, target, outgoing, (outcome) => {
        this.forget(passage);
        if (outcome === "answered" || outcome === "lost") this.count += 1;
        resolve(outcome);
      });
      passage.place = this.waiting.push(passage) - 1;
    });
  }

  private forget({ place }: Passage): void {
    const last = this.waiting.pop()!;
    if (last.place === place) return;
    this.waiting[place] = last;
    last.place = place;
  }

  private send({ request, body }: Passed, url: string): ClientRequest {
    const { host, port } = this.addressOf(url);
    const headers = headersOf(request.rawHeaders);
    headers.push(HOP_HEADER, this.from);
    return send({
      ...{ host, port, headers },
      method: request.method,
      path: request.url,
      // A connection that was used before may just be closing, and this body could not be sent again.
      agent: body.mayBeLarge ? false : this.agent,
      setHost: false,
    });
  }

  private addressOf(url: string): Address {
    const known = this.addresses.get(url);
    if (known !== undefined) return known;
    const { hostname, port } = new URL(url);
    const address = { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? 80 : port };
    this.addresses.set(url, address);
    return address;
  }
}

type FailedExchange = NodeJS.ErrnoException & { rawPacket?: Buffer };

/** One request on its way to its owner, and the answer on its way back. */
class Passage {
  readonly target: Target;
  /** Among those that wait. */
  place = -1;
  private readonly passed: Passed;
  private readonly outgoing: ClientRequest;
  private readonly settle: (outcome: Passing) => void;
  private isWaiting = true;

  constructor(passed: Passed, target: Target, outgoing: ClientRequest, settle: (outcome: Passing) => void) {
    this.passed = passed;
    this.target = target;
    this.outgoing = outgoing;
    this.settle = settle;
    passed.response.on("close", this.leave);
    outgoing.on("response", (answer) => this.take(answer));
    outgoing.on("socket", (socket) => whenConnected(socket, outgoing, () => passed.body.giveTo(outgoing)));
    outgoing.on("error", (error: FailedExchange) => this.fail(error));
  }

  giveUp(): void {
    this.end("lost");
    this.outgoing.destroy();
  }

  private end(outcome: Passing): void {
    if (!this.isWaiting) return;
    this.isWaiting = false;
    if (outcome !== "answered") this.passed.response.off("close", this.leave);
    this.settle(outcome);
  }

  /** The client has left, or has got everything. */
  private readonly leave = (): void => {
    this.outgoing.destroy();
    this.end("answered");
  };

  private take(answer: IncomingMessage): void {
    const { request, response, body } = this.passed;
    const head = new AnswerHead(answer.rawHeaders);
    if (head.hop === MOVED && body.canRepeat) {
      answer.resume();
      this.end("moved");
      return;
    }
    this.end("answered");
    response.sendDate = false;
    response.writeHead(answer.statusCode!, answer.statusMessage, head.kept);
    // What was cut must not look complete; its head may be all that came.
    answer.on("error", () => {
      response.flushHeaders();
      response.destroy();
    });
    if (head.length === undefined) {
      // A stream may say nothing for long, and its reader waits for the head.
      response.flushHeaders();
      answer.pipe(response);
    } else if (request.method === "HEAD" || head.length === 0 || head.length > MOST_TOGETHER_BYTES) {
      answer.pipe(response);
    } else {
      answer.once("data", (piece: Buffer) => {
        if (piece.length === head.length)
          return void flushTogether(response, piece.toString("latin1"), "latin1");
        response.write(piece);
        answer.pipe(response);
      });
    }
  }

  private fail(error: FailedExchange): void {
    if (!this.isWaiting) return;
    const { response, body } = this.passed;
    if (wasNotReached(error) || (this.outgoing.reusedSocket && body.isEmpty)) this.end("unreached");
    else if (error.rawPacket !== undefined) this.end(breakLike(response, error));
    else
      void isThere(this.target.url).then((there) => {
        if (this.isWaiting) this.end(there ? breakLike(response, error) : "lost");
      });
  }
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
