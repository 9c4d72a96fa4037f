import http from "node:http";
import https from "node:https";
import type net from "node:net";
import type { Duplex } from "node:stream";
import { MAX_ANSWER_BYTES } from "../../../engine/contract/services.ts";
import type { OutboundAgents } from "./outbound-agents.ts";
import { CLOSED_UNANSWERED, createFailure, type Failure, toFailure } from "./outbound-failure.ts";
import type { OutboundRequest, RequestOutcome } from "./outbound-request.ts";
import { type ResolvedAddress, toLookup } from "./resolve-target.ts";

/**
 * The connection may carry this many bytes for each byte of an answer that may be read. Without this limit, a receiver could
 * send chunk extensions and one-byte chunks until the deadline, with hardly any body.
 */
const WIRE_FACTOR = 2;

/** Bytes that the HTTP parser gets at a time. */
const SLICE_BYTES = 4096;

/** Maximum number of chunks per `MAX_ANSWER_BYTES` of the limit, which ends a stream of one-byte chunks. */
const MAX_CHUNKS = 500;

/** Interim 1xx answers before the real one; real servers send a handful. */
const MAX_INTERIM_ANSWERS = 100;

export type HttpUrl = URL & { protocol: "http:" | "https:" };

export interface OpenRequest {
  /** The current stage, for messages about timeouts; undefined while the request waits for its answer. */
  describeStage(): string | undefined;
  /** Whether its connection carried other requests before. */
  isReused(): boolean;
  /** Returns the connection to the pool after a complete answer, else destroys it. */
  release(): void;
}

interface ConnectionOptions {
  request: OutboundRequest;
  target: HttpUrl;
  /** Replaces the target's port; Host stays the target's. */
  ownPort?: number | undefined;
  /** Checked addresses; the connection goes to one of them and nowhere else. */
  addresses: readonly ResolvedAddress[];
  agents: OutboundAgents;
}

/** Sends one request. `settle` may be called several times: the caller must ignore all calls but the first, and set deadlines. */
export function startRequest(
  options: ConnectionOptions,
  settle: (result: RequestOutcome) => void,
): OpenRequest {
  const outgoing = openRequest(options);
  const limit = options.request.maxAnswerBytes ?? MAX_ANSWER_BYTES;
  const wire = watchWire(outgoing, { target: options.target, limit, onOverflow: () => overflow() });
  let answer: ReturnType<typeof collectAnswer> | undefined;

  const overflow = () => {
    settle(
      answer
        ? answer.toTruncatedResult()
        : createFailure("protocol", "the receiver sent too much before its status"),
    );
  };
  limitInterimAnswers(outgoing, () =>
    settle(createFailure("protocol", `more than ${MAX_INTERIM_ANSWERS} interim answers`)),
  );
  const leave = () => settle(createFailure("left", "hung up on purpose"));
  outgoing.on("response", (incoming) => {
    if (options.request.leave !== undefined) return leave();
    answer = collectAnswer(incoming, limit, settle);
    if (/\bkeep-alive\b/i.test(incoming.headers.connection ?? "")) options.agents.allowReuse(incoming.socket);
  });
  outgoing.on("upgrade", (incoming, socket) => {
    socket.destroy();
    settle(toResult(incoming, { body: Buffer.alloc(0), truncated: false }));
  });
  outgoing.on("error", (error) => {
    if (answer === undefined) settle(wire.explain(error));
    // Simple servers send a body after a 204: bytes after a complete answer are dropped with their connection.
    else if (!answer.isComplete()) settle(answer.toBrokenFailure(error));
  });
  outgoing.on("close", () => {
    if (!answer) settle(wire.explain(new Error(CLOSED_UNANSWERED)));
  });
  writeBody(outgoing, options.request, leave);

  return {
    describeStage: () => (answer === undefined ? wire.describeStage() : answer.describeStage()),
    isReused: () => outgoing.reusedSocket,
    release: () => {
      wire.stopWatching();
      if (!(answer?.wasReadToEnd() && outgoing.writableFinished)) outgoing.destroy();
    },
  };
}

export function limitInterimAnswers(outgoing: http.ClientRequest, onExcess: () => void): void {
  let count = 0;
  outgoing.on("information", () => {
    count += 1;
    if (count > MAX_INTERIM_ANSWERS) onExcess();
  });
}

function openRequest({ request, target, ownPort, addresses, agents }: ConnectionOptions): http.ClientRequest {
  const hostname = target.hostname.replace(/^\[(.*)\]$/, "$1");
  // Host and SNI stay those of the URL; only the address is ours.
  const lookup = toLookup(addresses);
  const { request: start } = target.protocol === "https:" ? https : http;
  const { protocol } = target;
  const { method, headers } = request;
  const path = target.pathname + target.search;
  const options = { protocol, hostname, port: ownPort ?? target.port, path, method, lookup };
  if (!isList(headers)) {
    const headersWithHost = ownPort === undefined ? headers : { ...headers, Host: target.host };
    return start({ ...options, agent: agents.getPooled(protocol), headers: headersWithHost });
  }
  // A flat list, because Node then sends names and order untouched.
  const headerList = [...listFramingHeaders(request, target), ...headers].flat();
  const agent = request.reuse ? agents.getPooled(protocol) : agents.getSingleUse(protocol);
  return start({ ...options, agent, headers: headerList });
}

function isList(headers: OutboundRequest["headers"]): headers is readonly (readonly [string, string])[] {
  return Array.isArray(headers);
}

/** Headers that Node adds itself if headers are an object. */
function listFramingHeaders(
  { method, body, chunkAt, reuse }: OutboundRequest,
  target: HttpUrl,
): [string, string][] {
  const common: [string, string][] = [
    ["Host", target.host],
    ["Connection", reuse ? "keep-alive" : "close"],
  ];
  if (chunkAt !== undefined) return [...common, ["Transfer-Encoding", "chunked"]];
  return method === "GET" ? common : [...common, ["Content-Length", String(body.length)]];
}

function writeBody(
  outgoing: http.ClientRequest,
  { body, chunkAt = [], leave }: OutboundRequest,
  onLeave: () => void,
): void {
  if (leave === "mid-body")
    return void outgoing.write(body.subarray(0, Math.floor(body.length / 2)), onLeave);
  let from = 0;
  for (const cutPoint of chunkAt) {
    outgoing.write(body.subarray(from, cutPoint));
    from = cutPoint;
  }
  // The operating system still sends these bytes, so that the caller may hang up at once.
  if (leave === "after-body") outgoing.once("finish", onLeave);
  outgoing.end(from === 0 ? body : body.subarray(from));
}

const HANDSHAKE = "the TLS handshake did not finish";

/** Observes the connection of a request: its stage, and the bytes received. */
function watchWire(
  outgoing: http.ClientRequest,
  { target, limit, onOverflow }: { target: HttpUrl; limit: number; onOverflow: () => void },
) {
  const isSecure = target.protocol === "https:";
  let stage: string | undefined = "the connection was not made";
  let socket: Duplex | undefined;
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    // At least `MAX_ANSWER_BYTES`, even if little of the body is read, since the headers count too.
    if (bytes > WIRE_FACTOR * Math.max(limit, MAX_ANSWER_BYTES)) onOverflow();
  };
  outgoing.on("socket", (opened) => {
    socket = opened;
    socket.on("data", count);
    if (outgoing.reusedSocket) {
      stage = undefined;
      return;
    }
    readInSlices(opened);
    opened.once("connect", () => {
      stage = isSecure ? HANDSHAKE : undefined;
    });
    opened.once("secureConnect", () => {
      stage = undefined;
    });
  });
  return {
    describeStage: () => stage,
    explain: (error: Error): Failure => {
      const failure = toFailure(error);
      const { kind, message } = failure.error;
      // Node reports a peer that hangs up during the handshake as an ordinary reset.
      if (stage === HANDSHAKE && kind !== "tls")
        return createFailure("tls", `TLS handshake failed: ${message}`);
      // `network`: an error without a known code, which means that the peer hung up.
      return kind === "network" ? createFailure("reset", message) : failure;
    },
    stopWatching: () => socket?.off("data", count),
  };
}

/**
 * Gives received bytes to the HTTP parser in small pieces. The parser processes all of its input even after we
 * destroyed the connection, and 64 KB of interim answers or tiny chunks take it tens of milliseconds.
 */
function readInSlices(socket: net.Socket): void {
  const push = socket.push.bind(socket);
  socket.push = (bytes: Buffer | null, encoding?: BufferEncoding) => {
    if (bytes === null || bytes.length <= SLICE_BYTES) return push(bytes, encoding);
    let wantsMore = true;
    for (let start = 0; start < bytes.length && !socket.destroyed; start += SLICE_BYTES)
      wantsMore = push(bytes.subarray(start, start + SLICE_BYTES), encoding);
    return wantsMore;
  };
}

/** Reads an answer as far as the limit. A status whose body breaks off is not a complete answer (assumption G24). */
function collectAnswer(
  incoming: http.IncomingMessage,
  limit: number,
  settle: (result: RequestOutcome) => void,
) {
  const maxChunks = MAX_CHUNKS * Math.ceil(limit / MAX_ANSWER_BYTES);
  const chunks: Buffer[] = [];
  let length = 0;
  let wasReadToEnd = false;
  const readBody = () => Buffer.concat(chunks).subarray(0, limit);
  const toBrokenFailure = (error?: Error): Failure => {
    const where = `the answer ${incoming.statusCode} broke off after ${length} bytes of its body`;
    const cause = error ? toFailure(error).error : undefined;
    if (cause?.kind !== "protocol") return createFailure("incomplete", where);
    return createFailure("protocol", `${where}: ${cause.message}`);
  };
  incoming.on("data", (chunk: Buffer) => {
    if (length >= limit || chunks.length >= maxChunks) return;
    chunks.push(chunk);
    length += chunk.length;
    if (length < limit && chunks.length < maxChunks) return;
    const isWhole = length === limit && incoming.headers["content-length"] === String(limit);
    settle(toResult(incoming, { body: readBody(), truncated: !isWhole }));
  });
  incoming.on("end", () => {
    wasReadToEnd = incoming.complete;
    settle(wasReadToEnd ? toResult(incoming, { body: readBody(), truncated: false }) : toBrokenFailure());
  });
  incoming.on("error", (error) => settle(toBrokenFailure(error)));
  incoming.on("close", () => settle(toBrokenFailure()));
  return {
    toTruncatedResult: () => toResult(incoming, { body: readBody(), truncated: true }),
    toBrokenFailure,
    isComplete: () => incoming.complete,
    wasReadToEnd: () => wasReadToEnd,
    describeStage: () => `the body of the answer ${incoming.statusCode} did not end`,
  };
}

function toResult(
  incoming: http.IncomingMessage,
  { body, truncated }: { body: Buffer; truncated: boolean },
): RequestOutcome {
  return {
    response_code: incoming.statusCode!,
    headers: incoming.headers as Record<string, string | string[]>,
    body,
    truncated,
  };
}
