import { createReadStream } from "node:fs";
import { JSONParser } from "@streamparser/json";
import { HarError } from "./har-error.ts";

/** What of an archive's entry is read; a file may say anything, so nothing of it is taken for granted. */
export type HarValue = Readonly<Record<string, unknown>>;

export interface HarFacts {
  /** Who wrote it, such as `Firefox`. */
  creator: string;
  entries: number;
}

const PIECE_BYTES = 1024 * 1024;
/** Of one entry: a file is read piece by piece, and what is larger would have to be held whole. */
const MAX_ENTRY_BYTES = 64 * 1024 * 1024;

/**
 * Reads an HTTP Archive of any length and calls `onEntry` with one entry after the other, in the file's order;
 * no more than one is held at a time.
 * @throws HarError; the system's error for a file that cannot be read
 */
export async function readHar(file: string, onEntry: (entry: HarValue) => void): Promise<HarFacts> {
  const reading = new Reading(file, onEntry);
  try {
    for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES }))
      reading.add(piece as Buffer);
  } catch (error) {
    // What fails while it is read, a folder for instance, does not say of itself which file it was.
    if ((error as NodeJS.ErrnoException).syscall === "read") Object.assign(error as Error, { path: file });
    throw error;
  }
  return reading.end();
}

class Reading {
  private readonly facts = { creator: "", entries: 0 };
  private readonly file: string;
  private readonly parser = new JSONParser({
    paths: ["$.log.version", "$.log.creator.name", "$.log.entries.*"],
    keepStack: false,
    stringBufferSize: 64 * 1024,
  });
  /** Whether anything says that this is an archive. */
  private known = false;
  private read = 0;
  private lastEnd = 0;
  /** What went wrong with an entry, and not with the text. */
  private thrown: unknown;

  constructor(file: string, onEntry: (entry: HarValue) => void) {
    this.file = file;
    this.parser.onValue = ({ key, value }) => {
      this.known = true;
      if (key === "name") this.facts.creator = String(value);
      if (typeof key !== "number") return;
      this.facts.entries += 1;
      this.lastEnd = this.read;
      try {
        onEntry((typeof value === "object" && value !== null ? value : {}) as HarValue);
      } catch (error) {
        this.thrown = error;
        throw error;
      }
    };
  }

  /** @throws HarError, and what `onEntry` throws */
  add(piece: Buffer): void {
    this.read += piece.length;
    this.parse(() => this.parser.write(piece));
    if (this.read - this.lastEnd <= MAX_ENTRY_BYTES) return;
    const most = MAX_ENTRY_BYTES / (1024 * 1024);
    const which = `entry ${this.facts.entries + 1}`;
    throw new HarError(`${this.file}: ${which} is larger than ${most} MB; export it without such a body`);
  }

  /** @throws HarError */
  end(): HarFacts {
    if (!this.parser.isEnded) this.parse(() => this.parser.end());
    if (this.known) return this.facts;
    throw new HarError(`${this.file} is no HTTP Archive: it holds no log with entries`);
  }

  private parse(step: () => void): void {
    try {
      step();
    } catch {
      if (this.thrown !== undefined) throw this.thrown;
      throw new HarError(this.known ? this.cut() : `${this.file} is no HTTP Archive, which would be JSON`);
    }
  }

  private cut(): string {
    const where = `after ${this.facts.entries} entries, within its first ${this.read} bytes`;
    return `${this.file} is cut short or broken ${where}; export it again`;
  }
}
