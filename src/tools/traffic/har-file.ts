import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import type { HarEntry } from "../har/har-entry.ts";

const TAIL = "\n]}}\n";

/**
 * An HTTP Archive that grows by one entry at a time and can be read at any moment: an entry and the end of the
 * document are one write, over the previous end.
 */
export class HarFile {
  private readonly descriptor: number;
  /** Where the next entry goes. */
  private end = 0;
  private entries = 0;

  /** @throws the system's error; EEXIST for a file that is there, unless it may be replaced */
  constructor(file: string, { version, replace }: { version: string; replace: boolean }) {
    this.descriptor = openSync(file, replace ? "w" : "wx");
    const creator = JSON.stringify({ name: "Understudy", version });
    const head = `{"log":{"version":"1.2","creator":${creator},"pages":[],"entries":[`;
    writeSync(this.descriptor, head + TAIL);
    this.end = Buffer.byteLength(head);
  }

  get count(): number {
    return this.entries;
  }

  /** @throws the system's error, such as that of a full disk; the file is then as it was before */
  add(entry: HarEntry): void {
    const text = Buffer.from(`${this.entries === 0 ? "\n" : ",\n"}${JSON.stringify(entry)}${TAIL}`);
    try {
      for (let done = 0; done < text.length; )
        done += writeSync(this.descriptor, text, done, text.length - done, this.end + done);
    } catch (error) {
      writeSync(this.descriptor, TAIL, this.end);
      ftruncateSync(this.descriptor, this.end + TAIL.length);
      throw error;
    }
    this.end += text.length - TAIL.length;
    this.entries += 1;
  }

  close(): void {
    closeSync(this.descriptor);
  }
}
