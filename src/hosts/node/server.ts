import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Arrival, Exchange } from "../../engine/pipeline/exchange.ts";
import { handleExchange, type PipelineParts } from "../../engine/pipeline/pipeline.ts";
import { preflightHeaders } from "../../engine/pipeline/response-headers.ts";
import { MAX_HEADER_BYTES } from "../../engine/pipeline/router.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { expressApplication } from "./application.ts";
import { noteConnections } from "./close-server.ts";
import { holdTick } from "./hold-tick.ts";
import { requestClass } from "./incoming-request.ts";
import { answerUnreadable, refuseRequest, refuseSocket } from "./refuse-unreadable.ts";

export interface FrontParts {
  pipeline: PipelineParts;
  /** The sandbox of that name; `answered` where another node of a fleet has seen to it. */
  place: (name: string, exchange: Pick<Arriving, "request" | "response">) => Placed | Promise<Placed>;
  /** Answers what the control layer keeps from the emulated API, and says so. */
  refuses: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** The control API, console and receivers: every path that begins with `/_` except `/_s/`. */
  internal: (request: IncomingMessage, response: ServerResponse, path: string) => void | Promise<void>;
}

/**
 * The server: the emulated API is answered directly, the product's own paths by an Express application.
 */
export function createFront(parts: FrontParts): { server: Server } {
  const Req = requestClass();
  class Res extends ServerResponse {}
  const application = expressApplication({ Req, Res }, (request, response) =>
    parts.internal(request, response, targetOf(request).path),
  );
  const server = createServer(
    {
      IncomingMessage: Req,
      ServerResponse: Res,
      headersTimeout: 10_000,
      requestTimeout: 0,
      keepAliveTimeout: 10_000,
      connectionsCheckingInterval: 2_000,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Node's own 400 is bare; ours says what is missing, and the control API's guard has its own.
      requireHostHeader: false,
    },
    // Express's layers would cost a small request a quarter of its time.
    (request, response) => {
      const target = targetOf(request);
      if (target.internal) void application(request, response);
      else dispatch(parts, { request, response, target });
    },
  );
  noteConnections(server);
  holdTick();
  // Node drops what exceeds a count without a word, a credential for instance; their size is the limit.
  server.maxHeadersCount = 0;
  server.on("clientError", answerUnreadable);
  // Left to itself, Node closes the connection without a word.
  server.on("connect", (_request, socket: Socket) => refuseSocket(socket, 405, "CONNECT"));
  // Left to itself, Node answers 417 to an expectation it does not know, past the API; we pass over it (RFC 9110).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  return { server };
}

type Placed = Sandbox | undefined | "answered";

interface Target {
  path: string;
  query: string;
  /** The product's own paths begin with `/_`, but for the prefix of a sandbox. */
  internal: boolean;
}

function targetOf(request: IncomingMessage): Target {
  const url = originForm(request.url!);
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? "" : url.slice(mark + 1);
  return { path, query, internal: path.startsWith("/_") && !path.startsWith("/_s/") };
}

interface Arriving {
  request: IncomingMessage;
  response: ServerResponse;
  target: Target;
}

/** What goes wrong past the pipeline's own catch costs one connection, not the process. */
function dispatch(parts: FrontParts, arriving: Arriving): void {
  const lost = (err: unknown) => {
    parts.pipeline.log.error({ err }, "a request could not be answered");
    arriving.response.destroy();
  };
  try {
    admit(parts, arriving)?.catch(lost);
  } catch (err) {
    lost(err);
  }
}

function admit(parts: FrontParts, { request, response, target }: Arriving): undefined | Promise<void> {
  const { path } = target;
  if (request.headers.host === undefined && request.httpVersionMinor > 0)
    return void refuseRequest(response, 400, "no Host header");
  if (parts.refuses(request, response)) return undefined;
  const prefixed = path.startsWith("/_s/") ? /^\/_s\/([^/]*)(.*)$/.exec(path) : null;
  const name = prefixed ? prefixed[1]! : ((request.headers["x-sandbox"] as string | undefined) ?? "default");
  const rest = prefixed ? prefixed[2]! : path;
  const asked = { request, response, path: rest, query: target.query, prefixed: prefixed !== null, name };
  const placed = parts.place(name, asked);
  return placed instanceof Promise
    ? placed.then((there) => serve(parts, there, asked))
    : serve(parts, placed, asked);
}

/** A request with the name of the sandbox that it is for. */
interface Asked extends Arrival {
  name: string;
}

function serve(parts: FrontParts, placed: Placed, asked: Asked): undefined | Promise<void> {
  if (placed === "answered") return undefined;
  if (placed === undefined) return void unknownSandbox(asked.response, asked.name);
  return take(parts, placed, asked);
}

function take(parts: FrontParts, sandbox: Sandbox, arrival: Arrival): undefined | Promise<void> {
  const { request, response } = arrival;
  if (request.method === "OPTIONS" && preflight(sandbox, request, response)) return undefined;
  sandbox.world.catchUp();
  return handleExchange(parts.pipeline, new Exchange(sandbox, arrival));
}

/** An absolute-form target (`GET http://host/path`) means its path. */
function originForm(target: string): string {
  if (target.startsWith("/")) return target;
  const match = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^#]*)/i.exec(target);
  return match?.[1] ? (match[1].startsWith("/") ? match[1] : `/${match[1]}`) : "/";
}

function preflight(sandbox: Sandbox, request: IncomingMessage, response: ServerResponse): boolean {
  const { origin } = request.headers;
  if (origin === undefined || request.headers["access-control-request-method"] === undefined) return false;
  const asked = request.headers["access-control-request-headers"];
  const headers = preflightHeaders({ origin, asked }, sandbox.settings);
  response.writeHead(204, { ...headers, "X-Sandbox-Decision": "ok" });
  response.end();
  return true;
}

function unknownSandbox(response: ServerResponse, name: string): void {
  const body = JSON.stringify({
    error: "unknown sandbox",
    sandbox: name.slice(0, 100),
    hint: "create it with POST /_control/sandboxes, or leave the prefix and the X-Sandbox header away to use `default`",
  });
  response.writeHead(404, {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
    "X-Sandbox-Decision": "unknown-sandbox",
  });
  response.end(body);
}
