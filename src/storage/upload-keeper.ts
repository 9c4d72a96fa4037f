import { writeFile } from "node:fs/promises";
import Type, { type Static } from "typebox";
import type { BlobKeeper } from "../sandbox/blob-keeper.ts";
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

/** A snapshot's document is one JSON text, made and read in memory. */
const LARGEST_DOCUMENT = 32 * 1024 * 1024;

/** What stands in a snapshot's document: per upload its bytes in base64, and which were too large for it. */
export const UploadsDocument = Type.Object(
  {
    uploads: Type.Record(Type.String(), Type.String({ pattern: "^[A-Za-z0-9+/]*={0,2}$" })),
    left_out: Type.Array(Type.String()),
  },
  { additionalProperties: false },
);
type UploadsDocument = Static<typeof UploadsDocument>;

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

  bytesOf(captured: Iterable<unknown>): number {
    const segments = new Set<Segment>();
    for (const one of captured) {
      for (const { parts } of (one as Captured | undefined)?.values() ?? []) {
        for (const { segment } of parts) segments.add(segment);
      }
    }
    let bytes = 0;
    for (const { written } of segments) bytes += written;
    return bytes;
  }

  /**
   * An upload for which there is no room in a document is left out: its record stays, nothing of it is
   * held, and a client that asks starts again, as the protocol has it.
   */
  async encode(captured: unknown): Promise<UploadsDocument | undefined> {
    if (captured === undefined) return undefined;
    const uploads: Record<string, string> = {};
    const left_out: string[] = [];
    let room = LARGEST_DOCUMENT;
    for (const [id, blob] of captured as Captured) {
      if (blob.size > room) left_out.push(id);
      else {
        room -= blob.size;
        uploads[id] = (await readBlob(blob, blob.size)).toString("base64");
      }
    }
    return { uploads, left_out };
  }

  /** For a document that fits `UploadsDocument`. */
  async decode(document: unknown): Promise<Captured | undefined> {
    if (document === undefined || document === null) return undefined;
    const entries = Object.entries((document as UploadsDocument).uploads);
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
