import { createHash } from "node:crypto";

/** What the journal keeps of an answer that was made while it was sent; the rest is known by its digest. */
const MAX_KEPT_BYTES = 64 * 1024;

export interface StreamedBody {
  bytes: number;
  sha256: string;
  /** All of it, where it was short. */
  body: Buffer | undefined;
}

export class KeptAnswer {
  private readonly hash = createHash("sha256");
  private chunks: Buffer[] = [];
  private size = 0;

  add(chunk: string | Buffer): void {
    const bytes = Buffer.from(chunk);
    this.hash.update(bytes);
    this.size += bytes.length;
    if (this.size <= MAX_KEPT_BYTES) this.chunks.push(bytes);
    else this.chunks = [];
  }

  end(): StreamedBody {
    const body = this.size <= MAX_KEPT_BYTES ? Buffer.concat(this.chunks) : undefined;
    return { bytes: this.size, sha256: this.hash.digest("hex"), body };
  }
}
