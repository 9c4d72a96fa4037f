import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { findFreeName } from "../hosts/node/storage/folders.ts";
import { PersistenceError, toOpeningError } from "./store.ts";

/** "Undy", the application id in the header of SQLite's file. */
export const FORMAT_ID = 0x556e6479;
export const FORMAT_VERSION = 3;

/** Offsets in the first page, from SQLite's documentation of its file format. */
const PAGE_SIZE_AT = 16;
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;
const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";

const MAX_LISTED_ROWS = 10;

/** The files of a folder of `--persist`, except those that SQLite manages. */
export class SqliteFiles {
  readonly folder: string;
  readonly database: string;
  /** The fallback copy: from the last clean end, or, if that made none, from the start. */
  readonly copy: string;
  /** Has the number of acknowledged commits; never ahead of the database, since it is written after each commit. */
  readonly acknowledgedFile: string;
  private readonly holderFile: string;

  constructor(folder: string) {
    this.folder = folder;
    this.database = join(folder, "understudy.db");
    this.copy = join(folder, "understudy.db.previous");
    this.acknowledgedFile = join(folder, "understudy.db.saved");
    this.holderFile = join(folder, "in-use-by.json");
  }

  /**
   * Reads the header without opening the database, so that a database of a newer version does not change by a byte.
   * @throws PersistenceError
   */
  requireKnownFormat(): void {
    const header = readHeader(this.database);
    if (header?.toString("latin1", 0, MAGIC.length) !== MAGIC) return;
    const version = header.readUInt32BE(USER_VERSION_AT);
    if (version > FORMAT_VERSION) throw this.toNewerFormatError(version);
    const id = header.readUInt32BE(APPLICATION_ID_AT);
    if (id !== FORMAT_ID && id !== 0)
      throw new PersistenceError(`${this.database} is not a database of Understudy; nothing was touched.`);
  }

  /** Why the folder cannot be used. The lock belongs to the operating system, so its holder is named in a file. */
  toOpeningError(error: unknown): PersistenceError {
    const { code, message } = error as NodeJS.ErrnoException;
    // From `sqlite-thread.js`; the message is the version.
    if (code === "NEWER") return this.toNewerFormatError(Number(message));
    return toOpeningError(error, this.folder, "folder", this.describeHolder());
  }

  private toNewerFormatError(version: number): PersistenceError {
    return new PersistenceError(
      `${this.database} was written by a newer Understudy (format ${version}, this one knows ${FORMAT_VERSION}). Update Understudy, or choose another folder with --persist.`,
    );
  }

  /** The database contains keys and secrets; by default SQLite would let all users read it. */
  makePrivate(): void {
    closeSync(openSync(this.database, "a", 0o600));
  }

  recordHolder(): void {
    writeFileSync(this.holderFile, JSON.stringify({ pid: process.pid, host: hostname() }), { mode: 0o600 });
  }

  clearHolder(): void {
    rmSync(this.holderFile, { force: true });
  }

  /** Whether a part of the last page is missing, which SQLite reads as zeros. With a log beside the database, SQLite repairs it. */
  isTruncated(): boolean {
    const header = readHeader(this.database);
    if (header === undefined || getFileSize(`${this.database}-wal`) > 0) return false;
    const page = header.readUInt16BE(PAGE_SIZE_AT);
    return page > 0 && getFileSize(this.database) % (page === 1 ? 65536 : page) !== 0;
  }

  /** Whether the database is missing or empty although something was saved; SQLite would create a new one. */
  isEmptied(): boolean {
    return (
      getFileSize(this.database) === 0 && (existsSync(this.copy) || this.readAcknowledged() !== undefined)
    );
  }

  /** Undefined if unknown; an Error if the file is damaged. */
  readAcknowledged(): AcknowledgedCounts | undefined | Error {
    if (getFileSize(this.acknowledgedFile) === 0) return undefined;
    try {
      const { checksum, ...saved } = JSON.parse(readFileSync(this.acknowledgedFile, "utf8"));
      if (checksum === undefined || checksum === crc32(JSON.stringify(saved))) return saved;
    } catch {
      // The file is damaged, which the error below says.
    }
    return new Error(`${this.acknowledgedFile} is damaged, so it is unknown whether saves were lost.`);
  }

  /** Keeps the database with damaged rows, and its previous copy; returns a warning. */
  keepDamaged(rows: readonly string[]): string {
    const aside = this.copyAside();
    const hasCopy = existsSync(this.copy);
    if (hasCopy) copyFileSync(this.copy, `${aside}.previous`);
    const more = rows.length > MAX_LISTED_ROWS ? ` and ${rows.length - MAX_LISTED_ROWS} more` : "";
    return `${this.database} is damaged, so these differ from their saved state: ${rows.slice(0, MAX_LISTED_ROWS).join(", ")}${more}. They are used nevertheless; the damaged database was kept as ${aside}${hasCopy ? `, and the copy before it as ${aside}.previous` : ""}.`;
  }

  /** Describes the lost acknowledged changes, and copies the files; undefined if nothing is lost. */
  reportLoss(
    acknowledged: AcknowledgedCounts | undefined,
    stored: SaveCounts,
    aside: string | undefined,
  ): string | undefined {
    if (acknowledged === undefined || acknowledged.saves <= stored.saves) return undefined;
    const copy = aside ?? this.copyAside();
    // Prevents another report at the next start.
    writeFileSync(
      this.acknowledgedFile,
      JSON.stringify({ saves: stored.saves, changes: stored.changes, at: acknowledged.at }),
      { mode: 0o600 },
    );
    const lostSaves = acknowledged.saves - stored.saves;
    const changes = Math.max(0, acknowledged.changes - stored.changes);
    return `${this.database} has lost the last ${lostSaves} of ${acknowledged.saves} saves (${changes} changes, the newest of ${acknowledged.at}), which were acknowledged; the damaged files were kept as ${copy}.`;
  }

  private copyAside(): string {
    const aside = findFreeName(`${this.database}.damaged`);
    for (const part of ["", "-wal"])
      if (existsSync(this.database + part)) copyFileSync(this.database + part, aside + part);
    return aside;
  }

  hasFreshCopy(): boolean {
    const copy = statSync(this.copy, { throwIfNoEntry: false });
    return copy !== undefined && copy.mtimeMs >= statSync(this.database).mtimeMs;
  }

  /** Sets the unreadable files aside, restores the copy, and reports it. */
  setDamagedAside(): { aside: string; message: string } {
    const aside = findFreeName(`${this.database}.damaged`);
    const isMissing = !existsSync(this.database);
    for (const part of ["", "-wal", "-shm"]) {
      if (existsSync(this.database + part)) renameSync(this.database + part, aside + part);
    }
    return { aside, message: this.restoreCopy(isMissing ? undefined : aside) };
  }

  private restoreCopy(aside: string | undefined): string {
    const problem = `${this.database} ${aside === undefined ? "is missing;" : `is damaged (cut short, emptied or overwritten) and was kept as ${aside};`}`;
    const copied = statSync(this.copy, { throwIfNoEntry: false })?.mtime;
    if (copied === undefined) return `${problem} there is no earlier copy, so everything starts empty.`;
    // Renames the copy, so that the next attempt does not use it again if it is damaged too.
    renameSync(this.copy, this.database);
    return `${problem} the copy of ${copied.toISOString()} is used instead.`;
  }

  private describeHolder(): string {
    try {
      const { pid, host } = JSON.parse(readFileSync(this.holderFile, "utf8")) as {
        pid: number;
        host: string;
      };
      return host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`;
    } catch {
      return "another process";
    }
  }
}

/** Number of saves, each of which is one commit, and of their changes. */
export interface SaveCounts {
  saves: number;
  changes: number;
}

interface AcknowledgedCounts extends SaveCounts {
  /** The wall clock's instant of the last commit. */
  at: string;
}

function getFileSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function readHeader(file: string): Buffer | undefined {
  if (!existsSync(file)) return undefined;
  const header = Buffer.alloc(HEADER_BYTES);
  const handle = openSync(file, "r");
  try {
    readSync(handle, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(handle);
  }
  return header;
}
