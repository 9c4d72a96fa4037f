import type { IncomingMessage, ServerResponse } from "node:http";
import { clearInterval, setInterval } from "node:timers";
import { ClientGoneError, type PlainRequest, type Site } from "../../engine/pipeline/plain-http.ts";
import type { Sites } from "./sites.ts";

/** A client that sends nothing of its body for this long is cut off, so stalled clients hold nothing (wall clock). */
export const BODY_IDLE_MS = 15_000;
const CHECK_INTERVAL_MS = 1_000;
/** Node's own: tools that fake time replace those of the globals, and of the module's default export. */
export const TIMERS = { setInterval, clearInterval };

/** A request of Node's server, in the form that the engine reads. */
export class NodeRequest implements PlainRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: PlainRequest["headers"];
  readonly rawHeaders: readonly string[];
  readonly site: Site;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private clientLeft: AbortController | undefined;

  /** @param sites needed for URLs in the answer */
  constructor(request: IncomingMessage, response: ServerResponse, sites?: Sites) {
    this.method = request.method!;
    this.target = toOriginForm(request.url!);
    this.headers = request.headers;
    this.rawHeaders = request.rawHeaders;
    this.site = sites?.forRequest(request) as Site;
    this.request = request;
    this.response = response;
  }

  /** Getting the body begins to watch for a stalled client, since the reader may wait in a queue before it reads. */
  get body(): AsyncIterable<Uint8Array> {
    const { request } = this;
    const { headers } = request;
    if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) return NO_BODY;
    return readPieces(request, request.complete ? () => {} : watchClient(request));
  }

  /** Created when needed: few requests wait, and a controller costs as much as a small answer. */
  get signal(): AbortSignal {
    if (this.clientLeft === undefined) {
      const clientLeft = new AbortController();
      this.clientLeft = clientLeft;
      if (this.response.destroyed) clientLeft.abort(new ClientGoneError());
      else this.response.once("close", () => clientLeft.abort(new ClientGoneError()));
    }
    return this.clientLeft.signal;
  }
}

const NO_BODY: AsyncIterable<Uint8Array> = {
  async *[Symbol.asyncIterator]() {},
};

/** An absolute-form target (`GET http://host/path`) means its path. */
export function toOriginForm(target: string): string {
  if (target.startsWith("/")) return target;
  const path = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^#]*)/i.exec(target)?.[1] ?? "";
  return path.startsWith("/") ? path : `/${path}`;
}

/**
 * The body as it arrives, no faster than it is read. A reader that stops early leaves the connection open, so that the
 * client can read the refusal. @throws ClientGoneError if the client leaves before the end, or is cut off
 */
async function* readPieces(request: IncomingMessage, stopWatching: () => void): AsyncGenerator<Uint8Array> {
  let wake = () => {};
  const onChange = () => wake();
  const events = ["readable", "end", "close"];
  // Events rather than the stream's iterator, which takes as long as the rest of a small request.
  for (const event of events) request.on(event, onChange);
  try {
    while (!request.readableEnded && !request.destroyed) {
      const piece: Buffer | null = request.read();
      if (piece !== null) yield piece;
      else if (!request.readableEnded)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    for (const event of events) request.off(event, onChange);
    stopWatching();
  }
  if (!request.complete || !request.readableEnded) throw new ClientGoneError();
}

/**
 * Cuts off a client that sends nothing, unless the buffer is full: then the client waits for the reader. Returns a
 * function that stops watching.
 */
function watchClient(request: IncomingMessage): () => void {
  let receivedBytes = request.socket.bytesRead;
  let idleMs = 0;
  const stop = () => TIMERS.clearInterval(timer);
  const check = () => {
    if (request.complete || request.destroyed) return stop();
    const { bytesRead } = request.socket;
    const isFull = request.readableLength >= request.readableHighWaterMark;
    idleMs = bytesRead === receivedBytes && !isFull ? idleMs + CHECK_INTERVAL_MS : 0;
    receivedBytes = bytesRead;
    if (idleMs >= BODY_IDLE_MS) request.destroy();
  };
  const timer = TIMERS.setInterval(check, CHECK_INTERVAL_MS).unref();
  return stop;
}
