import type { ClientRequest, IncomingMessage } from "node:http";
import { flushTogether } from "../hosts/node/batch-responses.ts";

/** Of a larger body nothing is kept, and it is given once. */
const MOST_KEPT_BYTES = 64 * 1024;

/** The body of a request that is passed on, piece by piece as it comes; a small one again where it was refused. */
export class PassedBody {
  private readonly request: IncomingMessage;
  private readonly isThere: boolean;
  /** Larger than what is kept, or of a length that nobody has told. */
  readonly mayBeLarge: boolean;
  private kept: Buffer[] = [];
  private size = 0;
  private isWhole = false;
  private taker: ClientRequest | undefined;

  constructor(request: IncomingMessage) {
    const { headers } = request;
    this.request = request;
    const isChunked = headers["transfer-encoding"] !== undefined;
    const length = headers["content-length"] ?? "0";
    this.isThere = isChunked || length !== "0";
    this.mayBeLarge = isChunked || Number(length) > MOST_KEPT_BYTES;
  }

  get isEmpty(): boolean {
    return !this.isThere;
  }

  /** Whether something of it has been read. */
  get isTaken(): boolean {
    return this.isThere && this.taker !== undefined;
  }

  /** Whether `giveTo` can give all of it once more. */
  get canRepeat(): boolean {
    return this.size <= MOST_KEPT_BYTES;
  }

  /** Not a byte is taken before there is somebody to give it to. */
  giveTo(taker: ClientRequest): void {
    const isFirst = this.taker === undefined;
    this.taker = taker;
    // Also an empty piece would be written by itself.
    if (!this.isThere) return void flushTogether(taker, undefined, "latin1");
    if (this.isWhole) return void taker.end(Buffer.concat(this.kept));
    for (const piece of this.kept) taker.write(piece);
    if (isFirst) this.begin();
    else this.request.resume();
  }

  private begin(): void {
    this.request.on("data", (piece: Buffer) => this.pass(piece));
    this.request.once("end", () => {
      this.isWhole = true;
      this.taker!.end();
    });
  }

  private pass(piece: Buffer): void {
    this.size += piece.length;
    if (this.canRepeat) this.kept.push(piece);
    else this.kept = [];
    const taker = this.taker!;
    if (taker.write(piece)) return;
    this.request.pause();
    taker.once("drain", () => this.request.resume());
  }
}
