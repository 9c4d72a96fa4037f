import { once } from "node:events";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Exchange } from "../../engine/pipeline/exchange.ts";
import { standardHead } from "../../engine/pipeline/response-headers.ts";
import type { InjectedEffect, Wire } from "../../engine/sandbox/fault-gate.ts";
import { headText } from "./head.ts";

type WireInjection = Extract<InjectedEffect, { kind: "wire" }>;

/** A body that is made while it is sent is taken so far: a stream may never end by itself. */
const STREAM_BYTES = 16 * 1024 * 1024;
const STREAM_MS = 1_000;

/** Breaks connections, and lets go of those that hang when the server ends. */
export interface WirePerformer {
  perform(effect: WireInjection, exchange: Exchange, answer: Answer): Promise<void>;
  close(): void;
}

export function createWirePerformer(): WirePerformer {
  const underWay = new Set<AbortController>();
  return {
    async perform(effect, exchange, answer) {
      const { request, response } = exchange;
      const gone = new AbortController();
      underWay.add(gone);
      const { socket } = request;
      const left = () => gone.abort();
      socket.once("close", left);
      try {
        // Of pipelined requests, those before this one are answered first.
        if (response.socket === null) await once(response, "socket", { signal: gone.signal });
        const body = await bodyOf(answer, gone.signal);
        const head = headOf(exchange, answer, body.length);
        const { over_ms } = effect;
        await effect.wire.perform({ ...connectionOf(request, gone.signal), head, body, over_ms });
      } catch {
        // Whatever goes wrong with a connection that is to be broken, broken it is.
        socket.destroy();
      } finally {
        socket.off("close", left);
        underWay.delete(gone);
        gone.abort();
      }
    },
    close() {
      for (const gone of underWay) gone.abort();
    },
  };
}

/** A body that is still on its way is waited for this long, in wall milliseconds. */
const DRAIN_MS = 5_000;

function connectionOf(request: IncomingMessage, gone: AbortSignal): Omit<Wire, "head" | "body" | "over_ms"> {
  const { socket } = request;
  const left = () =>
    new Promise<void>((resolve) => {
      // Node notices that a client has left only while the connection is read.
      request.resume();
      if (gone.aborted) return resolve();
      gone.addEventListener("abort", () => resolve(), { once: true });
    });
  return {
    gone,
    left,
    async drain() {
      if (request.readableEnded || request.destroyed) return;
      const ended = new Promise<void>((resolve) => request.once("end", resolve).once("close", resolve));
      await Promise.race([ended, left(), sleep(DRAIN_MS, undefined, { ref: false })]);
    },
    write(bytes) {
      socket.write(bytes);
    },
    finish(bytes) {
      return new Promise((resolve) => {
        if (socket.destroyed) return resolve();
        socket.once("close", () => resolve());
        if (bytes !== undefined) socket.write(bytes);
        socket.destroySoon();
      });
    },
    reset() {
      socket.resetAndDestroy();
    },
    destroy() {
      socket.destroy();
    },
  };
}

/** The status line and headers as `send` would have written them; the connection ends with this answer. */
function headOf(exchange: Exchange, answer: Answer, length: number): Buffer {
  const head = standardHead(exchange);
  const { headers } = head;
  for (const [name, value] of Object.entries(answer.headers)) headers.push(name, value);
  if (answer.content_type !== undefined) headers.push("Content-Type", answer.content_type);
  headers.push("Content-Length", String(length), "Date", new Date().toUTCString(), "Connection", "close");
  const first = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? "Unknown"}`;
  return Buffer.from(`${first}\r\n${headText(head)}\r\n`, "latin1");
}

async function bodyOf(answer: Answer, gone: AbortSignal): Promise<Buffer> {
  if (answer.stream === undefined) return Buffer.from(answer.body ?? "");
  const enough = new AbortController();
  const timer = setTimeout(() => enough.abort(), STREAM_MS);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer.stream(AbortSignal.any([gone, enough.signal]))) {
      const bytes = Buffer.from(chunk);
      chunks.push(bytes);
      size += bytes.length;
      if (size > STREAM_BYTES || enough.signal.aborted) break;
    }
  } catch (error) {
    if (!enough.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks);
}
