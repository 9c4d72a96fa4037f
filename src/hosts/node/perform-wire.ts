import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { EMPTY_BYTES } from "../../engine/bytes.ts";
import type { CompleteAnswer } from "../../engine/pipeline/plain-http.ts";
import { readWireBody } from "../../engine/pipeline/wire-body.ts";
import type { Wire } from "../../engine/sandbox/fault-types.ts";
import { whenAborted } from "../../engine/state/concurrency.ts";
import { resetSocket } from "./linger.ts";

/** Performs wire faults on connections. */
export class WireBreaker {
  private readonly running = new Set<AbortController>();

  /** Resolves when the connection is closed. */
  async send(request: IncomingMessage, response: ServerResponse, answer: CompleteAnswer): Promise<void> {
    const { fault, over_ms, ended } = answer.wire!;
    const { socket } = request;
    const clientLeft = new AbortController();
    this.running.add(clientLeft);
    const onClose = () => clientLeft.abort();
    socket.once("close", onClose);
    try {
      // Pipelined requests before this one are answered first.
      if (response.socket === null) await once(response, "socket", { signal: clientLeft.signal });
      const body = await readWireBody(request.method!, answer, clientLeft.signal);
      const head = renderHead(answer, body?.length);
      const signal = ended === undefined ? clientLeft.signal : AbortSignal.any([clientLeft.signal, ended]);
      const wire = openWire(request, signal);
      await fault.perform({ ...wire, head, body: body ?? EMPTY_BYTES, over_ms });
    } catch {
      // The fault breaks the connection anyway, so an error only closes it.
      socket.destroy();
    } finally {
      socket.off("close", onClose);
      this.running.delete(clientLeft);
      clientLeft.abort();
    }
  }

  /** Ends the connections that a fault keeps open. */
  close(): void {
    for (const controller of this.running) controller.abort();
  }
}

/** Maximum wait for the rest of a request's body, in wall milliseconds. */
const DRAIN_MS = 5_000;

function openWire(
  request: IncomingMessage,
  clientLeft: AbortSignal,
): Omit<Wire, "head" | "body" | "over_ms"> {
  const { socket } = request;
  // Node detects that a client has left only while it reads the connection.
  request.resume();
  return {
    clientLeft,
    async drain() {
      if (request.readableEnded || request.destroyed) return;
      const whenEnded = new Promise<void>((resolve) => request.once("end", resolve).once("close", resolve));
      await Promise.race([whenEnded, whenAborted(clientLeft), sleep(DRAIN_MS, undefined, { ref: false })]);
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
      resetSocket(socket);
    },
    destroy() {
      socket.destroy();
    },
  };
}

/**
 * Status line and headers as `sendCompleteAnswer` would have written them; the connection ends with this answer.
 * @param length of the body; undefined if there is none, as for HEAD or 204, which then gets no Content-Length
 */
function renderHead({ status, headers }: CompleteAnswer, length: number | undefined): Buffer {
  const notSent = length === undefined ? /^trailer$/i : /^(content-length|trailer)$/i;
  // Names and values alternate in `headers`.
  const allHeaders = headers.filter((_, index) => !notSent.test(headers[index - (index % 2)]!));
  if (length !== undefined) allHeaders.push("Content-Length", String(length));
  allHeaders.push("Date", new Date().toUTCString(), "Connection", "close");
  const statusLine = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Unknown"}`;
  const lines = allHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join("");
  return Buffer.from(`${statusLine}\r\n${lines}\r\n`, "latin1");
}
