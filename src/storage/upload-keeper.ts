import { writeFile } from "node:fs/promises";
import type { BlobKeeper } from "../sandbox/registry.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { crc32c } from "./crc32c.ts";
import { SandboxBytes } from "./sandbox-bytes.ts";
import { type Blob, dropBlob, holdBlob, readBlob, Segment } from "./segment.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

type Captured = ReadonlyMap<string, Blob>;

/**
 * What a sandbox of a local server may take on disk. A shared one enforces the limits of interfaces 7;
 * here the bound only keeps a runaway client from filling the disk, and 1 GB files must go through.
 */
export const LOCAL_UPLOAD_BYTES = 4 * 1024 ** 3;

/** A snapshot's document is one JSON text, and texts end somewhere. */
const LARGEST_DOCUMENT = 256 * 1024 * 1024;

/** What stands in a snapshot's document: per upload its bytes in base64. */
interface Encoded {
  uploads: Record<string, string>;
}

/** The upload bytes of all sandboxes of a server, in one temporary folder. */
export class UploadKeeper implements BlobKeeper {
  private readonly disk = new TemporaryFolder();
  private readonly sandboxes = new WeakMap<Sandbox, SandboxBytes>();
  private readonly limit: number;

  /** @param limit bytes on disk per sandbox */
  constructor(limit: number) {
    this.limit = limit;
  }

  of(sandbox: Sandbox): SandboxBytes {
    let bytes = this.sandboxes.get(sandbox);
    if (bytes === undefined) {
      bytes = new SandboxBytes(this.disk, this.limit);
      this.sandboxes.set(sandbox, bytes);
    }
    return bytes;
  }

  /** The sandbox begins anew or is gone. */
  discard(sandbox: Sandbox): void {
    this.sandboxes.get(sandbox)?.replace(undefined);
  }

  close(): void {
    this.disk.remove();
  }

  capture(sandbox: Sandbox): Captured | undefined {
    return this.sandboxes.get(sandbox)?.capture();
  }

  restore(sandbox: Sandbox, captured: unknown): void {
    if (captured === undefined) this.discard(sandbox);
    else this.of(sandbox).replace(captured as Captured);
  }

  release(captured: unknown): void {
    for (const blob of (captured as Captured | undefined)?.values() ?? []) dropBlob(blob);
  }

  /** @throws RangeError when the uploads are too large for a document */
  async encode(captured: unknown): Promise<Encoded | undefined> {
    if (captured === undefined) return undefined;
    const blobs = [...(captured as Captured)];
    const size = blobs.reduce((sum, [, blob]) => sum + blob.size, 0);
    if (size > LARGEST_DOCUMENT) {
      throw new RangeError(
        `half-finished uploads hold ${size} bytes; a snapshot's document takes ${LARGEST_DOCUMENT}`,
      );
    }
    const uploads: Encoded["uploads"] = {};
    for (const [id, blob] of blobs) uploads[id] = (await readBlob(blob, blob.size)).toString("base64");
    return { uploads };
  }

  /** @throws TypeError for a document that `encode` has not made */
  async decode(document: unknown): Promise<Captured | undefined> {
    if (document === undefined || document === null) return undefined;
    const { uploads } = document as Partial<Encoded>;
    if (typeof uploads !== "object" || uploads === null) throw new TypeError("uploads must be an object");
    const entries = Object.entries(uploads);
    for (const [id, text] of entries) {
      if (typeof text !== "string") throw new TypeError(`uploads.${id} must be base64 text`);
    }
    const captured = new Map<string, Blob>();
    for (const [id, text] of entries) {
      const bytes = Buffer.from(text, "base64");
      // Charged to whoever restores it: nobody's own space.
      const segment = new Segment(this.disk.newPath("blob"), { used: 0 });
      await writeFile(segment.path, bytes);
      segment.wrote(bytes.length);
      const blob = { parts: [{ segment, length: bytes.length }], size: bytes.length, crc: crc32c(bytes) };
      holdBlob(blob);
      captured.set(id, blob);
    }
    return captured;
  }
}
