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

/** In the order of precedence. */
const EXTENSIONS = [".yaml", ".yml", ".json"];

/** `./my.yaml` and `worlds/my` are paths, `reference` is a name. */
export function isPath(document: string): boolean {
  return /[\\/]/.test(document) || document.startsWith(".") || hasExtension(document);
}

/** The files that may be the document of this name, by their real paths, in the order of the folders. */
export function* findDocumentFiles(name: string, folders: readonly string[]): Generator<string> {
  if (isPath(name)) return;
  for (const file of listDocumentPaths(name, folders)) {
    const real = resolveFile(file);
    if (real !== undefined) yield real;
  }
}

/** The paths that a document of this name may have, in the order of precedence. */
export function listDocumentPaths(name: string, folders: readonly string[]): string[] {
  return folders.flatMap((folder) => EXTENSIONS.map((extension) => join(folder, name + extension)));
}

/**
 * The documents in a folder, by precedence: the real path of each, and its name in this folder, also if it is a link to
 * a file of another name. Hidden files are left out, since editors create them: Emacs locks a file with `.#mine.yaml`, a
 * symbolic link to a missing file.
 */
export function listDocumentFiles(folder: string): { name: string; file: string }[] {
  if (!isFolder(folder)) return [];
  const entries = readdirSync(folder)
    .filter((entry) => !entry.startsWith(".") && hasExtension(entry))
    .sort();
  const byPrecedence = EXTENSIONS.flatMap((extension) =>
    entries.filter((entry) => getExtension(entry) === extension),
  );
  return byPrecedence.flatMap((entry) => {
    const file = resolveFile(join(folder, entry));
    return file === undefined ? [] : [{ name: toDocumentName(entry), file }];
  });
}

/** The real path; undefined if there is no file. */
export function resolveFile(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const real = realpathSync(file);
  // The link /dev/stdin leads to a pipe, whose name cannot be opened.
  return existsSync(real) ? real : file;
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The name of a document that does not name itself. */
export function toDocumentName(file: string): string {
  return basename(file, extname(file));
}

/** A path as messages show it: relative if the file is below the current folder. */
export function formatPath(file: string, cwd: string): string {
  const short = relative(cwd, file);
  return short === "" || short.startsWith("..") || isAbsolute(short) ? file : short;
}

function hasExtension(file: string): boolean {
  return EXTENSIONS.includes(getExtension(file));
}

function getExtension(file: string): string {
  return extname(file).toLowerCase();
}

/** A file or named document cannot be used at all: missing, too large, of another kind, refused by the file system. */
export class UnreadableFile extends DocumentError {
  constructor(file: string, message: string, hint?: string) {
    super([{ file, ...NO_POSITION, field: "", message, ...(hint && { hint }) }]);
  }

  /** Most messages name the file, which is then not put before them. */
  override format(): string {
    const text = super.format();
    return this.message.includes(this.file) ? text.slice(`${this.file}: `.length) : text;
  }

  override formatWithFrames(): string {
    return this.format();
  }
}

/**
 * Reads the text of a user's file. Every file that a user gives is read by this function.
 * @throws DocumentError for an encoding other than UTF-8 and UTF-16; the system's error
 */
export function readUserText(file: string, displayName = file): string {
  return decodeText(readBytes(file), displayName);
}

/** @throws the system's error with the path, which it lacks for a folder */
function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw Object.assign(error as Error, { path: file });
  }
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
 * Reads a document's file; messages call it `displayName` and, by its kind, `noun`, such as "a fixture". An edit changes
 * its `version`.
 * @throws UnreadableFile
 */
export function readFileText(
  file: string,
  { displayName, noun, maxBytes }: { displayName: string; noun: string; maxBytes: number },
): { text: string; version: string } {
  const refuse = (message: string): never => {
    throw new UnreadableFile(displayName, message);
  };
  try {
    const stats = statSync(file);
    // Reading a pipe or a device could wait for ever, and a huge file would fill the memory first.
    if (stats.isDirectory()) return refuse(`${displayName} is a folder, not ${noun}`);
    if (!stats.isFile()) return refuse(`${displayName} is not an ordinary file`);
    if (stats.size > maxBytes) return refuse(`${displayName} is larger than ${maxBytes / 1024 / 1024} MB`);
    const version = getFileVersion(file);
    return { text: readUserText(file, displayName), version };
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return refuse(`there is no file ${displayName}`);
    return refuse(`${displayName} cannot be read${code === undefined ? "" : ` (${code})`}`);
  }
}
