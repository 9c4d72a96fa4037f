import { decodeText } from "../engine/documents/decode-text.ts";
import { DocumentError, NO_POSITION } from "../engine/documents/document-error.ts";
import {
  basename,
  existsSync,
  extname,
  isAbsolute,
  join,
  readdirSync,
  readFileSync,
  realpathSync,
  relative,
  statSync,
} from "./node-files.ts";

const EXTENSIONS = [".yaml", ".yml", ".json"];

/** `./my.yaml` and `worlds/my` are paths, `reference` is a name. */
export function isPath(document: string): boolean {
  return /[\\/]/.test(document) || document.startsWith(".") || hasExtension(document);
}

/** The files in these folders that may hold the document of this name, by their real paths, nearest first. */
export function* findDocumentFiles(name: string, folders: readonly string[]): Generator<string> {
  if (isPath(name)) return;
  for (const folder of folders) {
    for (const extension of EXTENSIONS) {
      const file = join(folder, name + extension);
      const real = resolveFile(file);
      if (real !== undefined) yield real;
    }
  }
}

/**
 * The documents in a folder, by their real paths. Hidden files are editors' own: `.#mine.yaml` is a lock that
 * points nowhere.
 */
export function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => !file.startsWith(".") && hasExtension(file))
    .sort()
    .map((file) => join(folder, file))
    .filter((file) => existsSync(file))
    .map((file) => realpathSync(file));
}

/** Undefined if there is no file. */
export function resolveFile(file: string): string | undefined {
  return existsSync(file) ? realpathSync(file) : undefined;
}

/** The name of a document that does not name itself. */
export function nameOfFile(file: string): string {
  return basename(file, extname(file));
}

/** A path as messages show it: relative if the file is below the current folder. */
export function showFile(file: string, cwd: string): string {
  const short = relative(cwd, file);
  return short === "" || short.startsWith("..") || isAbsolute(short) ? file : short;
}

function hasExtension(file: string): boolean {
  return EXTENSIONS.includes(extname(file).toLowerCase());
}

/** The file system refused, or the path leads to something other than a document. */
export class UnreadableFile extends DocumentError {
  constructor(file: string, message: string) {
    super([{ file, ...NO_POSITION, field: "", message }]);
  }
}

/**
 * Reads the text of a user's file. Every file that a user gives is read by this function.
 * @throws DocumentError for an encoding other than UTF-8 and UTF-16; the system's error
 */
export function readUserText(file: string, shown = file): string {
  return decodeText(readFileSync(file), shown);
}

export interface FileText {
  text: string;
  /** Identifies the version of the file: an edit changes it. */
  mark: string;
}

/** The version of a missing file. */
const GONE = "gone";

/** Changes with every edit that the file system reports. Never throws. */
export function getFileVersion(file: string): string {
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
    if (!stats.isFile()) return refuse(`${shown} is not an ordinary file`);
    if (stats.size > maxBytes) return refuse(`${shown} is larger than ${maxBytes / 1024 / 1024} MB`);
    const mark = getFileVersion(file);
    return { text: readUserText(file, shown), mark };
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return refuse(`there is no file ${shown}`);
    return refuse(`${shown} cannot be read${code === undefined ? "" : ` (${code})`}`);
  }
}
