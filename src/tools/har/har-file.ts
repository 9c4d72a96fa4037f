import { closeSync, createReadStream, fchmodSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { JSONParser } from "@streamparser/json";
import {
  createEncodingError,
  detectEncoding,
  requireTextFormat,
  type TextEncoding,
} from "../../engine/documents/decode-text.ts";
import { InputError } from "../input.ts";
import type { HarEntry } from "./har-entry.ts";

/** An object in an archive; a file may contain anything, so every field is checked. */
export type HarObject = Readonly<Record<string, unknown>>;

interface HarFacts {
  /** The program that wrote it, such as `Firefox`. */
  creator: string;
  entries: number;
}

const PIECE_BYTES = 1024 * 1024;
/** Limit for one entry: a file is read piece by piece, but each entry as a whole. */
const MAX_ENTRY_MB = 64;

/**
 * Reads an HTTP Archive of any length and calls `onEntry` with one entry after the other, in the file's
 * order; only one is in memory at a time.
 * @throws InputError; the system's error for a file that cannot be read
 */
export async function readHar(file: string, onEntry: (entry: HarObject) => void): Promise<HarFacts> {
  const reader = new HarReader(file, onEntry);
  try {
    for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES }))
      reader.add(piece as Buffer);
  } catch (error) {
    // An error while reading, of a folder for example, does not name the file.
    if ((error as NodeJS.ErrnoException).syscall === "read") Object.assign(error as Error, { path: file });
    throw error;
  }
  return reader.end();
}

class HarReader {
  private readonly facts = { creator: "", entries: 0 };
  private readonly file: string;
  private readonly parser = new JSONParser({
    paths: ["$.log.version", "$.log.creator.name", "$.log.entries.*"],
    keepStack: false,
    stringBufferSize: 64 * 1024,
  });
  /** Whether something shows that this is an archive. */
  private isArchive = false;
  private bytesRead = 0;
  /** The bytes read when the latest entry ended. */
  private lastEnd = 0;
  /** Detected in the first piece. */
  private encoding: TextEncoding | undefined;
  private decoder: InstanceType<typeof TextDecoder> | undefined;
  /** An error of `onEntry`, not of the text. */
  private entryError: unknown;

  constructor(file: string, onEntry: (entry: HarObject) => void) {
    this.file = file;
    this.parser.onValue = ({ key, value }) => {
      this.isArchive = true;
      if (key === "name") this.facts.creator = String(value);
      if (typeof key !== "number") return;
      this.facts.entries += 1;
      this.lastEnd = this.bytesRead;
      try {
        onEntry((typeof value === "object" && value !== null ? value : {}) as HarObject);
      } catch (error) {
        this.entryError = error;
        throw error;
      }
    };
  }

  /** @throws InputError, and what `onEntry` throws */
  add(piece: Buffer): void {
    this.bytesRead += piece.length;
    const text = this.decode(piece);
    this.parse(() => this.parser.write(text));
    if (this.bytesRead - this.lastEnd <= MAX_ENTRY_MB * 1024 * 1024) return;
    throw new InputError(
      `${this.file}: entry ${this.facts.entries + 1} is larger than ${MAX_ENTRY_MB} MB; export it without such a body`,
    );
  }

  /** @throws InputError */
  end(): HarFacts {
    if (!this.parser.isEnded) this.parse(() => this.parser.end());
    if (this.isArchive) return this.facts;
    throw new InputError(`${this.file} is not an HTTP Archive: it has no log with entries`);
  }

  private decode(piece: Buffer): string {
    try {
      if (this.encoding === undefined) requireTextFormat(piece, this.file);
      this.encoding ??= detectEncoding(piece);
      this.decoder ??= new TextDecoder(this.encoding, { fatal: true });
      return this.decoder.decode(piece, { stream: true });
    } catch (error) {
      const { encoding, file } = this;
      const reason = encoding === undefined ? (error as Error) : createEncodingError(piece, encoding, file);
      throw new InputError(`${file}: ${reason.message}`);
    }
  }

  private parse(step: () => void): void {
    try {
      step();
    } catch {
      if (this.entryError !== undefined) throw this.entryError;
      if (!this.isArchive) throw new InputError(`${this.file} is not an HTTP Archive, which would be JSON`);
      throw new InputError(
        `${this.file} is cut short or broken after ${this.facts.entries} entries, within its first ${this.bytesRead} bytes; export it again`,
      );
    }
  }
}

const TAIL = "\n]}}\n";

/**
 * An HTTP Archive that grows by one entry at a time and is complete at any moment: one write replaces the
 * end of the document by an entry and a new end.
 */
export class HarFile {
  private readonly descriptor: number;
  /** Where the next entry goes. */
  private end = 0;
  /** Entries so far. */
  count = 0;

  /** @throws the system's error; EEXIST if the file exists and may not be replaced */
  constructor(file: string, { version, replace }: { version: string; replace: boolean }) {
    this.descriptor = openSync(file, replace ? "w" : "wx", 0o600);
    // Needed for a file that is replaced, which keeps its mode.
    fchmodSync(this.descriptor, 0o600);
    const creator = JSON.stringify({ name: "Understudy", version });
    const head = `{"log":{"version":"1.2","creator":${creator},"pages":[],"entries":[`;
    writeSync(this.descriptor, head + TAIL);
    this.end = Buffer.byteLength(head);
  }

  /** @throws the system's error, such as that of a full disk; the file is then as it was before */
  add(entry: HarEntry): void {
    const text = Buffer.from(`${this.count === 0 ? "\n" : ",\n"}${JSON.stringify(entry)}${TAIL}`);
    try {
      for (let done = 0; done < text.length; )
        done += writeSync(this.descriptor, text, done, text.length - done, this.end + done);
    } catch (error) {
      writeSync(this.descriptor, TAIL, this.end);
      ftruncateSync(this.descriptor, this.end + TAIL.length);
      throw error;
    }
    this.end += text.length - TAIL.length;
    this.count += 1;
  }

  close(): void {
    closeSync(this.descriptor);
  }
}
