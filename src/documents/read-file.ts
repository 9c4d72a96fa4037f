import { readFileSync, statSync } from "node:fs";
import { DocumentError } from "../engine/documents/document-error.ts";

/** The file system refused, or there is something else than a document. */
export class UnreadableFile extends DocumentError {
  constructor(file: string, message: string) {
    super([{ file, line: 0, column: 0, field: "", message }]);
  }
}

export interface FileText {
  text: string;
  /** By which an edit that comes after this reading is noticed. */
  mark: string;
}

/** Of a file that is not there. */
const GONE = "gone";

/** Changes with every edit that a file system tells of. Never throws. */
export function markOf(file: string): string {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats === undefined ? GONE : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

/**
 * Reads a document's file; `shown` is how messages name it, `noun` what it should be.
 * @throws UnreadableFile
 */
export function readFileText(
  file: string,
  { shown, noun, maxBytes }: { shown: string; noun: string; maxBytes: number },
): FileText {
  const refuse = (message: string): never => {
    throw new UnreadableFile(shown, message);
  };
  try {
    const stats = statSync(file);
    // Reading a pipe or a device could wait for ever, and a huge file would fill the memory first.
    if (stats.isDirectory()) return refuse(`${shown} is a folder, not a ${noun}`);
    if (!stats.isFile()) return refuse(`${shown} is no ordinary file`);
    if (stats.size > maxBytes) return refuse(`${shown} is larger than ${maxBytes / 1024 / 1024} MB`);
    const mark = markOf(file);
    return { text: readFileSync(file, "utf8"), mark };
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return refuse(`there is no file ${shown}`);
    return refuse(`${shown} cannot be read${code === undefined ? "" : ` (${code})`}`);
  }
}
