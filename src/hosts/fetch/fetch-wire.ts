import { concatBytes, EMPTY_BYTES, toLatin1, toUtf8 } from "../../engine/bytes.ts";
import { toPairs } from "../../engine/maps.ts";
import type { CompleteAnswer } from "../../engine/pipeline/plain-http.ts";
import { readWireBody } from "../../engine/pipeline/wire-body.ts";
import type { Wire } from "../../engine/sandbox/fault-types.ts";
import { keepProcessAlive } from "./await-answer.ts";

/** Represents status line and headers, which a fault may truncate like other bytes. */
const HEAD = "HTTP";

/**
 * Breaks an answer as `fetch` shows a broken connection: it rejects with a TypeError, or the body fails in the middle;
 * `hang` ends when the caller aborts.
 */
export async function breakAnswer(
  answer: CompleteAnswer,
  { method, signal }: Pick<Request, "method" | "signal">,
): Promise<Response> {
  const { fault, over_ms, ended } = answer.wire!;
  const clientLeft = ended === undefined ? signal : AbortSignal.any([signal, ended]);
  const body = await readWireBody(method, answer, clientLeft);
  return new Promise((resolve, reject) => {
    const wire = new FetchWire({ answer, body, over_ms, clientLeft, resolve, reject });
    fault.perform(wire).catch(reject);
  });
}

interface WireParts extends Pick<Wire, "over_ms" | "clientLeft"> {
  answer: CompleteAnswer;
  /** Undefined if the response has none, as for HEAD. */
  body: Uint8Array | undefined;
  resolve: (response: Response) => void;
  reject: (error: unknown) => void;
}

class FetchWire implements Wire {
  readonly head = toUtf8(HEAD);
  readonly body: Uint8Array;
  readonly over_ms: number;
  readonly clientLeft: AbortSignal;
  private readonly parts: WireParts;
  /** The bytes so far, until the head is complete. */
  private headBytes: Uint8Array = EMPTY_BYTES;
  private pieceStream: PieceStream | undefined;
  private sentBytes = 0;

  constructor(parts: WireParts) {
    this.parts = parts;
    this.body = parts.body ?? EMPTY_BYTES;
    this.over_ms = parts.over_ms;
    this.clientLeft = parts.clientLeft;
  }

  async drain(): Promise<void> {}

  write(bytes: Uint8Array): void {
    let bodyBytes = bytes;
    if (this.pieceStream === undefined) {
      this.headBytes = concatBytes([this.headBytes, bytes]);
      if (!toLatin1(this.headBytes).startsWith(HEAD)) return;
      bodyBytes = this.headBytes.subarray(HEAD.length);
      this.beginResponse();
    }
    this.sentBytes += bodyBytes.length;
    if (bodyBytes.length > 0) this.pieceStream!.push(bodyBytes);
  }

  async finish(bytes?: Uint8Array): Promise<void> {
    if (bytes !== undefined) this.write(bytes);
    if (this.pieceStream !== undefined && this.sentBytes === this.body.length) this.pieceStream.end();
    else this.destroy();
  }

  reset(): void {
    this.destroy();
  }

  destroy(): void {
    const { aborted, reason } = this.clientLeft;
    if (this.pieceStream !== undefined) this.pieceStream.end(aborted ? reason : new TypeError("terminated"));
    else this.parts.reject(aborted ? reason : new TypeError("fetch failed"));
  }

  private beginResponse(): void {
    const { answer, body, resolve } = this.parts;
    const { status, headers } = answer;
    this.pieceStream = new PieceStream();
    resolve(new Response(body && this.pieceStream.readable, { status, headers: toPairs(headers) }));
  }
}

/** A stream that delivers every piece before it fails; a standard stream drops pieces that were not read. */
class PieceStream {
  readonly readable: ReadableStream<Uint8Array>;
  private readonly pieces: Uint8Array[] = [];
  private result: { error: Error | undefined } | undefined;
  private wake = () => {};

  constructor() {
    this.readable = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          while (this.pieces.length === 0 && this.result === undefined)
            await keepProcessAlive(
              new Promise<void>((resolve) => {
                this.wake = resolve;
              }),
            );
          const piece = this.pieces.shift();
          if (piece !== undefined) controller.enqueue(piece);
          else if (this.result!.error === undefined) controller.close();
          else controller.error(this.result!.error);
        },
      },
      { highWaterMark: 0 },
    );
  }

  push(piece: Uint8Array): void {
    this.pieces.push(piece);
    this.wake();
  }

  end(error?: Error): void {
    this.result = { error };
    this.wake();
  }
}
