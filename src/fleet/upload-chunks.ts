import { mkdir, open, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { getOrAdd } from "../engine/maps.ts";
import type { StoredUploads } from "../engine/sandbox/snapshots.ts";
import { type RedisStore, toSandboxKey } from "../persistence/redis-store.ts";
import type { SandboxImage } from "../persistence/sandbox-image.ts";
import type { Row } from "../persistence/store.ts";

const CHUNK_BYTES = 256 * 1024;

/** Numbers of bytes by file name. */
type Lengths = Map<string, number>;

/**
 * The upload bytes of a fleet's sandboxes in Redis: one hash per sandbox, whose fields are pieces of files. A file only
 * grows at its end and has a unique name, so writing a piece twice does no harm. Pieces of files that no row names are
 * removed after the commit that removed the names.
 */
export class UploadChunks {
  private readonly store: RedisStore;
  /** The bytes that Redis has, by sandbox. */
  private readonly storedLengths = new Map<string, Lengths>();

  constructor(store: RedisStore) {
    this.store = store;
  }

  /** Sends Redis the bytes of an image, before any row names them. */
  async save(image: SandboxImage): Promise<void> {
    const { name } = image.sandbox;
    const lengths = this.storedLengths.get(name);
    for (const [path, length] of listFiles(image)) {
      const from = lengths?.get(basename(path)) ?? 0;
      if (from < length) await this.send(name, path, { from, to: length });
    }
  }

  /** Removes the pieces that a committed image does not name. */
  async removeUnused(image: SandboxImage): Promise<void> {
    const { name } = image.sandbox;
    const lengths = this.storedLengths.get(name);
    if (lengths === undefined) return;
    const needed = new Set([...listFiles(image).keys()].map((path) => basename(path)));
    const unused = [...lengths].filter(([file]) => !needed.has(file));
    for (const [file, length] of unused) {
      lengths.delete(file);
      await this.deletePieces(name, listPieceNames(file, length));
    }
  }

  async remove(sandbox: string): Promise<void> {
    if (this.storedLengths.delete(sandbox))
      await this.store.connection.send(["UNLINK", toUploadsKey(sandbox)]);
  }

  /** Called when this node no longer owns the sandbox; Redis keeps the pieces. */
  release(sandbox: string): void {
    this.storedLengths.delete(sandbox);
  }

  /** Forgets what Redis has, so that the next `save` sends all pieces. */
  forgetStored(sandbox: string): void {
    this.storedLengths.get(sandbox)?.clear();
  }

  /**
   * Writes the files that a sandbox's rows name into a folder; pieces that no row names are removed. Nothing is appended to
   * these files: later bytes of an upload go to a new file.
   */
  async load(sandbox: string, rows: readonly Row[], folder: string): Promise<void> {
    const fields: string[] = await this.store.connection.send(["HKEYS", toUploadsKey(sandbox)]);
    if (fields.length === 0) return;
    const needed = readLengths(rows);
    const lengths: Lengths = new Map();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const [file, length] of needed) {
      const path = join(folder, file);
      await writeFile(path, "", { mode: 0o600 });
      let readBytes = 0;
      for (const piece of listPieceNames(file, length)) {
        const command = ["HGET", toUploadsKey(sandbox), piece];
        const bytes = await this.store.connection.send(command, { as: "bytes" });
        // A piece is missing: the client sees an upload that is too short, and starts it again.
        if (bytes === null) break;
        await writeFile(path, bytes, { flag: "a" });
        readBytes += (bytes as Buffer).length;
      }
      lengths.set(file, readBytes);
    }
    this.storedLengths.set(sandbox, lengths);
    await this.deletePieces(
      sandbox,
      fields.filter((field) => !needed.has(field.slice(0, field.lastIndexOf(":")))),
    );
  }

  private async send(
    sandbox: string,
    path: string,
    { from, to }: { from: number; to: number },
  ): Promise<void> {
    const file = basename(path);
    const handle = await open(path, "r");
    try {
      // Begins with the last piece, which may have grown.
      for (let at = from - (from % CHUNK_BYTES); at < to; at += CHUNK_BYTES) {
        const bytes = Buffer.alloc(Math.min(CHUNK_BYTES, to - at));
        await handle.read(bytes, 0, bytes.length, at);
        const command = ["HSET", toUploadsKey(sandbox), `${file}:${at / CHUNK_BYTES}`, bytes];
        await this.store.connection.send(command);
      }
    } finally {
      await handle.close();
    }
    getOrAdd(this.storedLengths, sandbox, () => new Map()).set(file, to);
  }

  private async deletePieces(sandbox: string, fields: readonly string[]): Promise<void> {
    if (fields.length > 0) await this.store.connection.send(["HDEL", toUploadsKey(sandbox), ...fields]);
  }
}

const toUploadsKey = (sandbox: string) => toSandboxKey(sandbox, "uploads");

function listPieceNames(file: string, length: number): string[] {
  return Array.from({ length: Math.ceil(length / CHUNK_BYTES) }, (_, i) => `${file}:${i}`);
}

/** The files of the current state and of the snapshots, by path, with the number of bytes that they need of each. */
function listFiles(image: SandboxImage): Map<string, number> {
  const files = new Map<string, number>();
  for (const { path, length } of image.listPaths()) files.set(path, Math.max(length, files.get(path) ?? 0));
  return files;
}

/** The files of uploads that rows name: those of a world, also of a snapshot's world. */
function readLengths(rows: readonly Row[]): Lengths {
  const files: Lengths = new Map();
  for (const { section, id, text } of rows) {
    if (id !== "uploads" || !/(^|\/)world$/.test(section)) continue;
    for (const { parts } of Object.values(JSON.parse(text) as StoredUploads)) {
      for (const { file, length } of parts) files.set(file, Math.max(length, files.get(file) ?? 0));
    }
  }
  return files;
}
