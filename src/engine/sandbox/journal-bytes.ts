const FIRST_BLOCK_BYTES = 2 * 1024;
const MAX_BLOCK_BYTES = 64 * 1024;

/** A run of bytes outside V8's heap that several entries share. */
export class JournalBlock {
  readonly bytes: Buffer;
  used = 0;
  /** Entries of the journal that stand in it; when none does, it may be written anew ... */
  entries = 0;
  /** ... unless one of those that stood in it may still be read by somebody. */
  lent = false;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(size);
  }
}

/**
 * Where a journal's texts lie: in blocks outside the heap, written one after the other. As strings they would
 * live just long enough for every scavenge to copy them and for the old generation to be fed with what is
 * evicted a moment later; pauses of 10 ms under load were made of that.
 */
export class JournalBytes {
  private block: JournalBlock | undefined;
  private spare: JournalBlock | undefined;
  private size = FIRST_BLOCK_BYTES;

  /** A block with room for so many bytes, at its `used`; undefined for what deserves memory of its own. */
  room(bytes: number): JournalBlock | undefined {
    if (bytes > MAX_BLOCK_BYTES / 4) return undefined;
    if (this.block === undefined || this.block.bytes.length - this.block.used < bytes)
      this.block = this.next(bytes);
    return this.block;
  }

  /** An entry of this block is evicted. `lent`: somebody may still read it. */
  release(block: JournalBlock, lent: boolean): void {
    block.entries -= 1;
    block.lent ||= lent;
    if (block.entries > 0 || block === this.block || block.lent || block.bytes.length < MAX_BLOCK_BYTES)
      return;
    block.used = 0;
    this.spare = block;
  }

  clear(): void {
    this.block = undefined;
    this.spare = undefined;
    this.size = FIRST_BLOCK_BYTES;
  }

  /** Sandboxes begin small: most of ten thousand never see more than a few requests. */
  private next(bytes: number): JournalBlock {
    const again = this.spare;
    if (again !== undefined) {
      this.spare = undefined;
      return again;
    }
    while (this.size < bytes) this.size *= 2;
    const block = new JournalBlock(this.size);
    this.size = Math.min(MAX_BLOCK_BYTES, this.size * 2);
    return block;
  }
}
