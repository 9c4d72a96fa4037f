import type { BlobStore } from "./blob-store.ts";
import type { SandboxValue } from "./sandbox-value.ts";

/** A sandbox's snapshots by name. What goes, be it for another of its name, lets go of its uploads' bytes. */
export class Snapshots extends Map<string, SandboxValue> {
  private readonly blobs: BlobStore;

  constructor(blobs: BlobStore) {
    super();
    this.blobs = blobs;
  }

  override set(name: string, value: SandboxValue): this {
    this.release(name);
    return super.set(name, value);
  }

  override delete(name: string): boolean {
    this.release(name);
    return super.delete(name);
  }

  override clear(): void {
    for (const name of this.keys()) this.release(name);
    super.clear();
  }

  private release(name: string): void {
    const known = this.get(name);
    if (known?.blobs !== undefined) this.blobs.release(known.blobs);
  }
}
