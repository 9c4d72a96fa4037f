import { copyFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { crc32c, crc32cText } from "../../../engine/crc32c.ts";
import type { Sandbox } from "../../../engine/sandbox/sandbox.ts";
import type { StorableUploads, StoredUploads, UploadsDocument } from "../../../engine/sandbox/snapshots.ts";
import { DAMAGED, PersistentFolder, TemporaryFolder } from "./folders.ts";
import { type ByteFolders, SandboxBytes } from "./sandbox-bytes.ts";
import { type Blob, digestFiles, dropBlob, readBlob, retainBlob, Segment, syncBlob } from "./segment.ts";

type CapturedBlobs = ReadonlyMap<string, Blob>;

/**
 * Disk space of a sandbox on a local server. A shared server enforces the limits of interfaces 7; this bound only keeps
 * a runaway client from filling the disk, and 1 GB files must fit.
 */
const LOCAL_UPLOAD_BYTES = 4 * 1024 ** 3;

/** A snapshot's document is one JSON text in memory. */
const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;

/** The upload bytes of all sandboxes of a server, in one temporary folder unless they are stored. */
export class UploadStore implements StorableUploads {
  private readonly disk = new TemporaryFolder();
  private readonly folders: { forms: ByteFolders["forms"]; uploads: ByteFolders["uploads"] } = {
    forms: this.disk,
    uploads: this.disk,
  };
  private persistent: PersistentFolder | undefined;
  /** Files named since the start, by path: two sandboxes may share one. */
  private readonly segments = new Map<string, Segment>();
  private readonly sandboxes = new WeakMap<Sandbox, SandboxBytes>();
  private readonly limit: number;
  private readonly textBytes: (sandbox: Sandbox) => number;

  /**
   * @param limit bytes per sandbox
   * @param textBytes returns the size of the texts that a sandbox has read from its files
   */
  constructor(limit = LOCAL_UPLOAD_BYTES, textBytes: (sandbox: Sandbox) => number) {
    this.limit = limit;
    this.textBytes = textBytes;
  }

  forSandbox(sandbox: Sandbox): SandboxBytes {
    let bytes = this.sandboxes.get(sandbox);
    if (bytes === undefined) {
      bytes = new SandboxBytes(this.folders, this.limit, () => this.textBytes(sandbox));
      this.sandboxes.set(sandbox, bytes);
    }
    return bytes;
  }

  /** Stores the bytes of uploads in this folder from now on; they outlive the process. */
  keepIn(folder: string): void {
    this.persistent = new PersistentFolder(folder);
    this.folders.uploads = this.persistent;
  }

  /** Grows with each change of the sandbox's bytes. */
  getRevision(sandbox: Sandbox): number {
    return this.sandboxes.get(sandbox)?.revision ?? 0;
  }

  /** Call this after the sandbox was reset or removed. */
  discard(sandbox: Sandbox): void {
    this.sandboxes.get(sandbox)?.replace(undefined);
  }

  close(): void {
    this.disk.remove();
  }

  capture(sandbox: Sandbox): CapturedBlobs | undefined {
    return this.sandboxes.get(sandbox)?.capture();
  }

  peek(sandbox: Sandbox): CapturedBlobs | undefined {
    return this.sandboxes.get(sandbox)?.peek();
  }

  tryRecover(seen: unknown): { captured: CapturedBlobs | undefined; lostUploads: string[] } {
    const captured = new Map<string, Blob>();
    const lostUploads: string[] = [];
    for (const [id, blob] of (seen as CapturedBlobs | undefined) ?? []) {
      // A segment without holders has lost its file, and its length is 0.
      if (blob.parts.some(({ segment, length }) => segment.written < length)) lostUploads.push(id);
      else {
        retainBlob(blob);
        captured.set(id, blob);
      }
    }
    return { captured: captured.size === 0 ? undefined : captured, lostUploads };
  }

  hold(captured: unknown): void {
    for (const blob of (captured as CapturedBlobs | undefined)?.values() ?? []) retainBlob(blob);
  }

  /** Syncs the bytes to disk. */
  async sync(captured: unknown): Promise<void> {
    let any = false;
    for (const blob of (captured as CapturedBlobs | undefined)?.values() ?? [])
      any = (await syncBlob(blob)) || any;
    if (any) await this.persistent?.sync();
  }

  *listPaths(captured: unknown): IterableIterator<{ path: string; length: number }> {
    for (const { parts } of (captured as CapturedBlobs | undefined)?.values() ?? [])
      for (const { segment, length } of parts) yield { path: segment.path, length };
  }

  /** The names of the files with these bytes, for a store. */
  listFiles(captured: unknown): StoredUploads {
    const files: StoredUploads = {};
    for (const [id, { crc, parts }] of (captured as CapturedBlobs | undefined) ?? []) {
      files[id] = {
        crc,
        parts: parts.map(({ segment, length }) => ({ file: basename(segment.path), length })),
      };
    }
    return files;
  }

  /**
   * The inverse of `listFiles`. An upload with missing or damaged bytes is left out: a client that asks how much has
   * arrived starts it again.
   * @param warn called with one sentence for each upload that is left out
   * @param folder where the files are, if not in the store's own folder
   */
  async fromFiles(
    files: StoredUploads,
    warn: (warning: string) => void,
    folder?: string,
  ): Promise<CapturedBlobs | undefined> {
    const captured = new Map<string, Blob>();
    for (const [id, { crc, parts }] of Object.entries(files)) {
      const found: Blob["parts"][number][] = [];
      for (const { file, length } of parts) {
        const segment = await this.readSegment(file, folder);
        if (segment !== undefined && segment.written >= length) found.push({ segment, length });
      }
      if (found.length < parts.length) {
        warn(`Some bytes of the upload ${id} are missing, so the client has to start it again.`);
        continue;
      }
      const paths = found.map(({ segment: { path }, length }) => ({ path, length }));
      if ((await digestFiles(paths, "crc32c")) !== crc32cText(crc)) {
        for (const { path } of paths) await copyFile(path, path + DAMAGED);
        const names = paths.map(({ path }) => path + DAMAGED).join(", ");
        warn(
          `Bytes of the upload ${id} are damaged (kept as ${names}), so the client has to start it again.`,
        );
        continue;
      }
      const size = found.reduce((sum, { length }) => sum + length, 0);
      const blob: Blob = { parts: found, size, crc };
      retainBlob(blob);
      captured.set(id, blob);
    }
    return captured.size === 0 ? undefined : captured;
  }

  /** Removes stored files that nothing has named since the start. */
  sweep(): void {
    this.persistent?.removeAllBut(new Set([...this.segments.keys()].map((path) => basename(path))));
  }

  private async readSegment(file: string, folder = this.persistent?.path): Promise<Segment | undefined> {
    if (folder === undefined) return undefined;
    const path = join(folder, file);
    const known = this.segments.get(path);
    if (known !== undefined) return known;
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) return undefined;
    // Counts for the sandbox that restores it.
    const segment = new Segment(path, { used: 0 });
    segment.recordWrite(found.size);
    this.segments.set(path, segment);
    return segment;
  }

  restore(sandbox: Sandbox, captured: unknown): void {
    if (captured === undefined) this.discard(sandbox);
    else this.forSandbox(sandbox).replace(captured as CapturedBlobs);
  }

  release(captured: unknown): void {
    for (const blob of (captured as CapturedBlobs | undefined)?.values() ?? []) dropBlob(blob);
  }

  countBytes(captured: Iterable<unknown>): number {
    const segments = new Set<Segment>();
    for (const one of captured) {
      for (const { parts } of (one as CapturedBlobs | undefined)?.values() ?? []) {
        for (const { segment } of parts) segments.add(segment);
      }
    }
    let bytes = 0;
    for (const { written } of segments) bytes += written;
    return bytes;
  }

  /**
   * An upload that does not fit into a document is left out: its record stays without bytes, so a client that asks how
   * much has arrived starts it again.
   */
  async encode(captured: unknown): Promise<UploadsDocument | undefined> {
    if (captured === undefined) return undefined;
    const uploads: Record<string, string> = {};
    const left_out: string[] = [];
    let room = MAX_DOCUMENT_BYTES;
    for (const [id, blob] of captured as CapturedBlobs) {
      if (blob.size > room) left_out.push(id);
      else {
        room -= blob.size;
        uploads[id] = (await readBlob(blob, blob.size)).toString("base64");
      }
    }
    return { uploads, left_out };
  }

  /** Decodes a document that fits `UploadsDocument`. */
  async decode(document: unknown): Promise<CapturedBlobs | undefined> {
    if (document === undefined || document === null) return undefined;
    const entries = Object.entries((document as UploadsDocument).uploads);
    const captured = new Map<string, Blob>();
    for (const [id, text] of entries) {
      const bytes = Buffer.from(text, "base64");
      // Counts for the sandbox that restores it.
      const segment = new Segment(this.folders.uploads.newPath("blob"), { used: 0 });
      await writeFile(segment.path, bytes, { mode: 0o600 });
      segment.recordWrite(bytes.length);
      const blob = { parts: [{ segment, length: bytes.length }], size: bytes.length, crc: crc32c(bytes) };
      retainBlob(blob);
      captured.set(id, blob);
    }
    return captured;
  }
}
