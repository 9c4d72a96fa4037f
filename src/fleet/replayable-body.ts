import type { ClientRequest, IncomingMessage } from "node:http";
import { endTogether } from "../hosts/node/batches.ts";

/** A larger body is not stored, and can be sent once. */
const MAX_STORED_BYTES = 64 * 1024;

/** The body of a forwarded request, sent piece by piece as it arrives; a small one can be sent again. */
export class ReplayableBody {
  private readonly request: IncomingMessage;
  readonly hasBody: boolean;
  /** Whether the body is larger than what is stored, or of unknown length. */
  readonly mayBeLarge: boolean;
  private storedPieces: Buffer[] = [];
  private size = 0;
  private hasEnded = false;
  private target: ClientRequest | undefined;

  constructor(request: IncomingMessage) {
    const { headers } = request;
    this.request = request;
    const isChunked = headers["transfer-encoding"] !== undefined;
    const length = headers["content-length"] ?? "0";
    this.hasBody = isChunked || length !== "0";
    this.mayBeLarge = isChunked || Number(length) > MAX_STORED_BYTES;
  }

  /** Whether part of it has been read. */
  get isStarted(): boolean {
    return this.hasBody && this.target !== undefined;
  }

  /** Whether `sendTo` can send all of it again. */
  get canRepeat(): boolean {
    return this.size <= MAX_STORED_BYTES;
  }

  /** Nothing is read before there is a target. */
  sendTo(target: ClientRequest): void {
    const isFirst = this.target === undefined;
    this.target = target;
    if (!this.hasBody) return void endTogether(target, undefined);
    if (this.hasEnded) return void target.end(Buffer.concat(this.storedPieces));
    for (const piece of this.storedPieces) target.write(piece);
    if (isFirst) this.begin();
    else this.request.resume();
  }

  private begin(): void {
    this.request.on("data", (piece: Buffer) => this.forward(piece));
    this.request.once("end", () => {
      this.hasEnded = true;
      this.target!.end();
    });
  }

  private forward(piece: Buffer): void {
    this.size += piece.length;
    if (this.canRepeat) this.storedPieces.push(piece);
    else this.storedPieces = [];
    const target = this.target!;
    if (target.write(piece)) return;
    this.request.pause();
    target.once("drain", () => this.request.resume());
  }
}
