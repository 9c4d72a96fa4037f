import { copyFileSync, existsSync, renameSync } from "node:fs";
import { copyFile, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { Adapter } from "lowdb";
import { readUserText } from "../documents/files.ts";
import { findFreeName, syncFolder } from "../hosts/node/storage/folders.ts";
import { groupRows, type SandboxSections, type Sections } from "./sections-draft.ts";
import { PersistenceError, type Row } from "./store.ts";

const FORMAT = "understudy-worlds";
const VERSION = 2;
/** Number of characters that are written at a time. */
const WRITE_LENGTH = 256 * 1024;

/**
 * Stores all worlds in one readable file; an adapter for lowdb. In place of lowdb's own, which neither syncs nor keeps a backup,
 * it syncs, renames, keeps the previous version as `.previous`, and does not block requests while it writes.
 */
export class DocumentFile implements Adapter<SandboxSections> {
  private readonly file: string;
  private readonly previous: string;
  private readonly warn: (warning: string) => void;

  constructor(file: string, warn: (warning: string) => void) {
    this.file = file;
    this.previous = `${file}.previous`;
    this.warn = warn;
  }

  /** Call this before anything is written or renamed. @throws PersistenceError */
  requireKnownFormat(): void {
    if (!existsSync(this.file)) return;
    const document = readJson(this.file);
    // A damaged file; `read` keeps it under another name.
    if (document instanceof Error) return;
    const { format, version } = document;
    if (format !== FORMAT)
      throw new PersistenceError(
        `${this.file} is not a document with Understudy's worlds (its "format" would be "${FORMAT}"); nothing was touched.`,
      );
    if (typeof version !== "number" || version > VERSION)
      throw new PersistenceError(
        `${this.file} was written by a newer Understudy (format ${version}, this one knows ${VERSION}). Update Understudy, or choose another file with --persist.`,
      );
  }

  async read(): Promise<SandboxSections | null> {
    for (const candidate of [this.file, this.previous]) {
      if (!existsSync(candidate)) continue;
      const document = readJson(candidate);
      if (!(document instanceof Error)) {
        if (candidate === this.previous) this.warn(`${candidate} is used instead.`);
        const sections = toSections(document.sandboxes);
        this.keepChanged(candidate, findChanges(document, sections));
        return sections;
      }
      const damagedFile = findFreeName(`${candidate}.damaged`);
      renameSync(candidate, damagedFile);
      this.warn(`${candidate} cannot be read and was kept as ${damagedFile}: ${document.message}.`);
    }
    return null;
  }

  /** An edit and damage look alike, so a changed document is used; a copy of it and of the previous one is kept. */
  private keepChanged(candidate: string, changes: readonly string[]): void {
    if (changes.length === 0) return;
    const copy = `${this.file}.changed`;
    const hasPrevious = candidate !== this.previous && existsSync(this.previous);
    copyFileSync(candidate, copy);
    if (hasPrevious) copyFileSync(this.previous, `${copy}.previous`);
    this.warn(
      `${candidate} is not as it was saved: ${changes.join(", ")}. It is used nevertheless. If you have edited it, ignore this; without "checksums" in it, edits cause no warning. If you have not, it is damaged: a copy was kept as ${copy}${hasPrevious ? `, and the document saved before as ${copy}.previous` : ""}.`,
    );
  }

  async write(sections: SandboxSections): Promise<void> {
    await replaceFile(this.file, async (draft) => {
      await writePieces(draft, renderDocument(sections));
      // The draft is complete now. The file is copied rather than renamed, so that it exists at every moment.
      if (existsSync(this.file)) await replaceFile(this.previous, (copy) => copyFile(this.file, copy));
    });
    await syncFolder(dirname(this.file));
  }
}

/** Replaces a file by a draft, which is removed if it cannot be written. */
async function replaceFile(file: string, write: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${file}.draft`;
  try {
    await write(draft);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

interface Document {
  format?: unknown;
  version?: unknown;
  sandboxes?: unknown;
  /** By sandbox and section; absent in a document of an earlier version. */
  checksums?: unknown;
}

/**
 * Reads a document, which users may have edited and saved in another encoding. Returns the error of a damaged one.
 * @throws the system's error, such as a missing permission, since the file is then not damaged
 */
function readJson(file: string): Document | Error {
  try {
    const document: unknown = JSON.parse(readUserText(file));
    return typeof document === "object" && document !== null ? document : new Error("it contains no object");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error;
    return error as Error;
  }
}

function toSections(sandboxes: unknown): SandboxSections {
  if (typeof sandboxes !== "object" || sandboxes === null) return new Map();
  const entries = Object.entries(sandboxes);
  return new Map(entries.map(([name, nested]) => [name, groupRows(readNestedRows(nested))]));
}

function* renderDocument(sandboxes: SandboxSections): IterableIterator<string> {
  yield `{\n  "format": "${FORMAT}",\n  "version": ${VERSION},\n  "sandboxes": {`;
  let isFirst = true;
  for (const [name, sections] of [...sandboxes].sort(compareKeys)) {
    yield `${isFirst ? "" : ","}\n    ${JSON.stringify(name)}: {`;
    yield* renderNested(sections, "      ");
    yield "\n    }";
    isFirst = false;
  }
  yield `\n  },\n  "checksums": ${JSON.stringify(toChecksums(sandboxes), null, 2).replaceAll("\n", "\n  ")}\n}\n`;
}

type Checksums = Record<string, Record<string, string>>;

/** Checksums of the contents of rows, so that indentation does not matter. */
function toChecksums(sandboxes: SandboxSections): Checksums {
  return mapSorted(sandboxes, (sections) =>
    mapSorted(sections, (rows) => {
      const texts = [...rows].sort(compareKeys).map(([id, text]) => `${JSON.stringify(id)}: ${text}\n`);
      return texts.reduce((sum, text) => crc32(text, sum), 0).toString(16);
    }),
  );
}

/** Describes sections whose checksums differ, and unknown parts. */
function findChanges(
  { format, version, sandboxes, checksums, ...others }: Document,
  stored: SandboxSections,
) {
  const unknownParts = Object.keys(others).map((key) => `"${key}" is not part of it`);
  if (checksums === undefined) return unknownParts;
  // An editor may have set it to null.
  const savedChecksums = (checksums ?? {}) as Partial<Checksums>;
  const currentChecksums = toChecksums(stored);
  const names = new Set([...Object.keys(savedChecksums), ...Object.keys(currentChecksums)]);
  const changed = [...names].sort().flatMap((name) => {
    const [oldSections, newSections] = [savedChecksums[name] ?? {}, currentChecksums[name] ?? {}];
    const sections = new Set([...Object.keys(oldSections), ...Object.keys(newSections)]);
    // Without rows, the checksum is 0.
    return [...sections]
      .sort()
      .filter((section) => (oldSections[section] ?? "0") !== (newSections[section] ?? "0"))
      .map((section) => `${section} of sandbox ${name}`);
  });
  return [...unknownParts, ...changed];
}

const compareKeys = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1);

function mapSorted<V, W>(map: ReadonlyMap<string, V>, convert: (value: V) => W): Record<string, W> {
  return Object.fromEntries([...map].sort(compareKeys).map(([key, value]) => [key, convert(value)]));
}

async function writePieces(file: string, pieces: Iterable<string>): Promise<void> {
  const handle = await open(file, "w", 0o600);
  try {
    let pending: string[] = [];
    let size = 0;
    for (const piece of pieces) {
      pending.push(piece);
      size += piece.length;
      if (size < WRITE_LENGTH) continue;
      // `writeFile` continues at the current position, and writes everything or fails.
      await handle.writeFile(pending.join(""));
      pending = [];
      size = 0;
      await nextTurn();
    }
    await handle.writeFile(pending.join(""));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Whether the section at the path contains rows; other sections contain sections. */
const isLeaf = (path: readonly string[]): boolean => {
  const pathInWorld = path[0] === "snapshots" ? path.slice(2) : path;
  return pathInWorld[0] === "records" ? pathInWorld.length === 2 : pathInWorld.length === 1;
};

/**
 * Yields a sandbox's rows in pieces as the text of one object that a person can read: `records.departments.dept_eng`,
 * `snapshots.before.records...`. Sections are split at slashes; ids may contain slashes. Each row is one line, so that a
 * change of one record changes one line.
 */
export function* renderNested(sections: Sections, indent: string): IterableIterator<string> {
  let openPath: readonly string[] = [];
  let isFirst = true;
  for (const [section, rows] of [...sections].sort(compareKeys)) {
    if (rows.size === 0) continue;
    const path = section.split("/");
    const sharedDepth = countShared(openPath, path);
    for (let depth = openPath.length; depth > sharedDepth; depth--) {
      yield `\n${indent}${"  ".repeat(depth - 1)}}`;
      isFirst = false;
    }
    for (let depth = sharedDepth; depth < path.length; depth++) {
      yield `${isFirst ? "" : ","}\n${indent}${"  ".repeat(depth)}${JSON.stringify(path[depth])}: {`;
      isFirst = true;
    }
    const margin = `\n${indent}${"  ".repeat(path.length)}`;
    for (const [id, text] of [...rows].sort(compareKeys)) {
      yield `${isFirst ? "" : ","}${margin}${JSON.stringify(id)}: ${text}`;
      isFirst = false;
    }
    openPath = path;
  }
  for (let depth = openPath.length; depth > 0; depth--) yield `\n${indent}${"  ".repeat(depth - 1)}}`;
}

/** Reads rows from the object that `renderNested` writes. Returns none for a value that is not such an object. */
export function* readNestedRows(nested: unknown, path: readonly string[] = []): IterableIterator<Row> {
  if (typeof nested !== "object" || nested === null || Array.isArray(nested)) return;
  for (const [key, value] of Object.entries(nested)) {
    if (isLeaf(path)) yield { section: path.join("/"), id: key, text: JSON.stringify(value) };
    else yield* readNestedRows(value, [...path, key]);
  }
}

function countShared(a: readonly string[], b: readonly string[]): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
