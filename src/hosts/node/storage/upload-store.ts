import { copyFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { crc32c, formatCrc32c } from "../../../engine/crc32c.ts";
import { getOrAdd } from "../../../engine/maps.ts";
import { countTextBytes } from "../../../engine/resources/files/examine-file.ts";
import type { Sandbox } from "../../../engine/sandbox/sandbox.ts";
import type { StorableUploads, StoredUploads, UploadsDocument } from "../../../engine/sandbox/snapshots.ts";
import {
  DAMAGED_EXTENSION,
  PersistentFolder,
  syncFolder,
  TemporaryFolder,
  throwWithFolder,
} from "./folders.ts";
import { type ByteFolders, SandboxBytes } from "./sandbox-bytes.ts";
import {
  type Blob,
  digestFiles,
  dropBlob,
  listFiles,
  readBlob,
  retainBlob,
  Segment,
  syncBlob,
} from "./segment.ts";

type CapturedBlobs = ReadonlyMap<string, Blob>;

const listBlobs = (captured: unknown): Iterable<Blob> =>
  (captured as CapturedBlobs | undefined)?.values() ?? [];

/**
 * Disk space of a sandbox on a local server. A shared server enforces the limits of interfaces.md 7; this bound only keeps
 * a runaway client from filling the disk, and 1 GB files must fit.
 */
const LOCAL_UPLOAD_BYTES = 4 * 1024 ** 3;

/** The limit of uploads in a snapshot's document, which is one JSON text in memory. */
const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;

/** The upload bytes of all sandboxes of a server, in one temporary folder unless they are stored. */
export class UploadStore implements StorableUploads {
  private readonly temporaryFolder = new TemporaryFolder();
  private readonly folders: ByteFolders = {
    forms: this.temporaryFolder,
    uploads: this.temporaryFolder,
  };
  private persistentFolder: PersistentFolder | undefined;
  /** Files named since the start, by path: two sandboxes may share one. */
  private readonly segments = new Map<string, Segment>();
  private readonly sandboxes = new WeakMap<Sandbox, SandboxBytes>();
  private readonly limit: number;

  /** @param limit bytes per sandbox, including the texts that were read from its files */
  constructor(limit = LOCAL_UPLOAD_BYTES) {
    this.limit = limit;
  }

  forSandbox(sandbox: Sandbox): SandboxBytes {
    return getOrAdd(
      this.sandboxes,
      sandbox,
      () => new SandboxBytes(this.folders, this.limit, () => countTextBytes(sandbox)),
    );
  }

  /** Stores the bytes of uploads in this folder from now on; they outlive the process. */
  storeIn(folder: string): void {
    this.persistentFolder = new PersistentFolder(folder);
    this.folders.uploads = this.persistentFolder;
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
    this.temporaryFolder.remove();
  }

  capture(sandbox: Sandbox): CapturedBlobs | undefined {
    const captured = this.peek(sandbox);
    this.hold(captured);
    return captured;
  }

  peek(sandbox: Sandbox): CapturedBlobs | undefined {
    return this.sandboxes.get(sandbox)?.peek();
  }

  tryRecover(references: unknown): { captured: CapturedBlobs | undefined; lostUploads: string[] } {
    const captured = new Map<string, Blob>();
    const lostUploads: string[] = [];
    for (const [id, blob] of (references as CapturedBlobs | undefined) ?? []) {
      // A segment without holders has lost its file, and its length is 0.
      if (blob.parts.some(({ segment, length }) => segment.writtenBytes < length)) lostUploads.push(id);
      else {
        retainBlob(blob);
        captured.set(id, blob);
      }
    }
    return { captured: captured.size === 0 ? undefined : captured, lostUploads };
  }

  hold(captured: unknown): void {
    for (const blob of listBlobs(captured)) retainBlob(blob);
  }

  /** Syncs the bytes to disk. */
  async sync(captured: unknown): Promise<void> {
    let hasSynced = false;
    for (const blob of listBlobs(captured)) hasSynced = (await syncBlob(blob)) || hasSynced;
    if (hasSynced && this.persistentFolder !== undefined) await syncFolder(this.persistentFolder.path);
  }

  *listPaths(captured: unknown): IterableIterator<{ path: string; length: number }> {
    for (const blob of listBlobs(captured)) yield* listFiles(blob);
  }

  /** The names of the files with these bytes, for a store. */
  toStored(captured: unknown): StoredUploads {
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
   * The inverse of `toStored`. An upload with missing or damaged bytes is left out: a client that asks how much has
   * arrived starts it again.
   * @param warn called with one sentence for each upload that is left out
   * @param folder where the files are, if not in the store's own folder
   */
  async fromStored(
    files: StoredUploads,
    warn: (warning: string) => void,
    folder?: string,
  ): Promise<CapturedBlobs | undefined> {
    const captured = new Map<string, Blob>();
    for (const [id, { crc, parts }] of Object.entries(files)) {
      const storedParts: Blob["parts"][number][] = [];
      for (const { file, length } of parts) {
        const segment = await this.readSegment(file, folder);
        if (segment !== undefined && segment.writtenBytes >= length) storedParts.push({ segment, length });
      }
      if (storedParts.length < parts.length) {
        warn(`Some bytes of the upload ${id} are missing, so the client has to start it again.`);
        continue;
      }
      const storedFiles = listFiles({ parts: storedParts });
      if ((await digestFiles(storedFiles, "crc32c")) !== formatCrc32c(crc)) {
        for (const { path } of storedFiles) await copyFile(path, path + DAMAGED_EXTENSION);
        const names = storedFiles.map(({ path }) => path + DAMAGED_EXTENSION).join(", ");
        warn(
          `Bytes of the upload ${id} are damaged (kept as ${names}), so the client has to start it again.`,
        );
        continue;
      }
      const size = storedParts.reduce((sum, { length }) => sum + length, 0);
      const blob: Blob = { parts: storedParts, size, crc };
      retainBlob(blob);
      captured.set(id, blob);
    }
    return captured.size === 0 ? undefined : captured;
  }

  /** Removes stored files that nothing has named since the start. */
  sweep(): void {
    this.persistentFolder?.removeAllBut(new Set([...this.segments.keys()].map((path) => basename(path))));
  }

  private async readSegment(
    file: string,
    folder = this.persistentFolder?.path,
  ): Promise<Segment | undefined> {
    if (folder === undefined) return undefined;
    const path = join(folder, file);
    const existing = this.segments.get(path);
    if (existing !== undefined) return existing;
    const stats = await stat(path).catch(() => undefined);
    if (stats === undefined) return undefined;
    // With a disk usage of its own: each sandbox that restores the bytes counts them as shared ones.
    const segment = new Segment(path, { used: 0 });
    segment.recordWrite(stats.size);
    this.segments.set(path, segment);
    return segment;
  }

  restore(sandbox: Sandbox, captured: unknown): void {
    if (captured === undefined) this.discard(sandbox);
    else this.forSandbox(sandbox).replace(captured as CapturedBlobs);
  }

  release(captured: unknown): void {
    for (const blob of listBlobs(captured)) dropBlob(blob);
  }

  countBytes(captured: Iterable<unknown>): number {
    const segments = new Set<Segment>();
    for (const blobs of captured)
      for (const { parts } of listBlobs(blobs)) for (const { segment } of parts) segments.add(segment);
    return [...segments].reduce((sum, { writtenBytes }) => sum + writtenBytes, 0);
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
      if (bytes.length === 0) continue;
      // With a disk usage of its own: each sandbox that restores the bytes counts them as shared ones.
      const segment = new Segment(this.folders.uploads.createPath(), { used: 0 });
      await writeFile(segment.path, bytes, { mode: 0o600 }).catch((error) =>
        throwWithFolder(error, this.folders.uploads.path),
      );
      segment.recordWrite(bytes.length);
      const blob = { parts: [{ segment, length: bytes.length }], size: bytes.length, crc: crc32c(bytes) };
      retainBlob(blob);
      captured.set(id, blob);
    }
    return captured;
  }
}
