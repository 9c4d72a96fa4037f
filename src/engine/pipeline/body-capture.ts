import { concatBytes, toHex, toUtf8 } from "../bytes.ts";
import { type Digest, platform } from "../platform.ts";

/** Longer bodies would fill the journal, so only their size and digest are recorded. */
const MAX_CAPTURED_BYTES = 64 * 1024;

/** A streamed answer that was sent to its end. */
export interface CapturedStream {
  bytes: number;
  sha256: string;
  /** Undefined if the body is too long to record. */
  body: Uint8Array | undefined;
}

/** Records a body for the journal while it streams past. */
export class BodyCapture {
  size = 0;
  private chunks: Uint8Array[] = [];
  private readonly digest: Digest | undefined;

  constructor({ withDigest }: { withDigest: boolean }) {
    this.digest = withDigest ? platform().createDigest("sha256") : undefined;
  }

  add(chunk: string | Uint8Array): void {
    const bytes = typeof chunk === "string" ? toUtf8(chunk) : chunk;
    this.digest?.update(bytes);
    this.size += bytes.length;
    if (this.size <= MAX_CAPTURED_BYTES) this.chunks.push(bytes);
    else this.chunks = [];
  }

  /** The bytes so far; undefined if there were too many. */
  getBytes(): Uint8Array | undefined {
    return this.size <= MAX_CAPTURED_BYTES ? concatBytes(this.chunks) : undefined;
  }

  /** The result; to be called once, at the end. */
  end(): CapturedStream {
    return { bytes: this.size, sha256: toHex(this.digest!.digest()), body: this.getBytes() };
  }

  /** The same chunks, recorded as they are read. */
  async *capture(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      this.add(chunk);
      yield chunk;
    }
  }
}
