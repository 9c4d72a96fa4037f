import { concatBytes, EMPTY_BYTES, toLatin1, toUtf8 } from "../../engine/bytes.ts";
import { toPairs } from "../../engine/maps.ts";
import type { CompleteAnswer } from "../../engine/pipeline/plain-http.ts";
import { readWireBody } from "../../engine/pipeline/wire-body.ts";
import type { Wire } from "../../engine/sandbox/fault-types.ts";
import { keepProcessAlive } from "./await-answer.ts";

/** Stands for status line and headers: the response begins when all of these bytes are written, and a fault may truncate them. */
const HEAD = "HTTP";

/**
 * Performs a fault so that the caller sees what `fetch` shows of a broken connection: it rejects with a TypeError, or the body
 * fails in the middle. A `hang` lasts until the caller aborts.
 */
export async function breakAnswer(
  answer: CompleteAnswer,
  { method, signal }: Pick<Request, "method" | "signal">,
): Promise<Response> {
  const { fault, over_ms, ended } = answer.wire!;
  const clientLeft = ended === undefined ? signal : AbortSignal.any([signal, ended]);
  const body = await readWireBody(method, answer, clientLeft);
  return new Promise((resolve, reject) => {
    const wire = openWire({ answer, body, over_ms, clientLeft, resolve, reject });
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

function openWire({ answer, body, over_ms, clientLeft, resolve, reject }: WireParts): Wire {
  /** The bytes so far, until the head is complete. */
  let headBytes: Uint8Array = EMPTY_BYTES;
  let pieceStream: PieceStream | undefined;
  let sentBytes = 0;
  const sentBody = body ?? EMPTY_BYTES;
  const beginResponse = () => {
    const pieces = new PieceStream();
    const { status, headers } = answer;
    resolve(new Response(body && pieces.readable, { status, headers: toPairs(headers) }));
    return pieces;
  };
  const write = (bytes: Uint8Array) => {
    let bodyBytes = bytes;
    if (pieceStream === undefined) {
      headBytes = concatBytes([headBytes, bytes]);
      if (!toLatin1(headBytes).startsWith(HEAD)) return;
      bodyBytes = headBytes.subarray(HEAD.length);
      pieceStream = beginResponse();
    }
    sentBytes += bodyBytes.length;
    if (bodyBytes.length > 0) pieceStream.push(bodyBytes);
  };
  const destroy = () => {
    const { aborted, reason } = clientLeft;
    if (pieceStream !== undefined) pieceStream.end(aborted ? reason : new TypeError("terminated"));
    else reject(aborted ? reason : new TypeError("fetch failed"));
  };
  return {
    head: toUtf8(HEAD),
    body: sentBody,
    over_ms,
    clientLeft,
    async drain() {},
    write,
    async finish(bytes) {
      if (bytes !== undefined) write(bytes);
      if (pieceStream !== undefined && sentBytes === sentBody.length) pieceStream.end();
      else destroy();
    },
    reset: destroy,
    destroy,
  };
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
