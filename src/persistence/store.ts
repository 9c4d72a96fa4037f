/**
 * One stored value of a sandbox as JSON text, such as a record. sandbox-rows.ts defines the sections and
 * their contents; a store does not interpret them.
 */
export interface Row {
  section: string;
  id: string;
  text: string;
}

/** A row to store (with null: to remove), or the sections to remove whose names have a prefix. */
export type RowChange =
  | { sandbox: string; section: string; id: string; text: string | null }
  /** `""` removes the whole sandbox. */
  | { sandbox: string; clearPrefix: string };

/**
 * The storage of a single server's sandboxes: an embedded database, a readable document, or a browser's database. It
 * has sandboxes by name, and their rows by section and id. A fleet has its own (`redis-store.ts`).
 */
export interface Store {
  /** Names of the stored sandboxes. */
  list(): Promise<string[]>;
  load(sandbox: string): Promise<Row[]>;
  /**
   * Stores changes of one or several sandboxes in their order: all, or none. They are produced in pieces, so that they
   * do not block the event loop. Resolves once they are stored durably.
   * @throws StoreRefusal; nothing is stored then, and the call may be repeated
   */
  commit(pieces: AsyncIterable<readonly RowChange[]>): Promise<void>;
  /** Releases everything; committed changes stay. */
  close(): Promise<void>;
}

/** A store in files of this machine. */
export interface FileStore extends Store {
  /** Folder for the bytes of uploads, which rows name by their file. */
  readonly uploadsFolder: string;
  /** Folder for sandboxes that could not be restored. */
  readonly setAsideFolder: string;
}

/**
 * The last five are of a fleet's store. `unreachable`: no answer in time, so the outcome is unknown; `behind`: the
 * store's state of the sandbox is not the one before these changes, so the whole state must be sent; `moved`: another
 * node owns the sandbox; `taken`: a sandbox has the name, which is the error's `message`; `limit`: the fleet has as
 * many sandboxes as its limit allows, and `message` is the limit in words.
 */
type RefusalKind =
  | ("full" | "read-only" | "gone" | "failed")
  | ("unreachable" | "behind" | "moved" | "taken" | "limit");

export class StoreRefusal extends Error {
  override readonly name = "StoreRefusal";
  readonly kind: RefusalKind;
  /** Seconds after which a client may repeat the request; only from a fleet's store. */
  readonly retry_after: number | undefined;
  /** Further headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: RefusalKind, message: string, retry_after?: number, headers = {}) {
    super(message);
    this.kind = kind;
    this.retry_after = retry_after;
    this.headers = headers;
  }
}

/** Translates a failed system call, or an error of SQLite or a browser. */
export function toStoreRefusal(error: unknown, place: string): StoreRefusal {
  if (error instanceof StoreRefusal) return error;
  const { name, code: systemCode, message } = error as NodeJS.ErrnoException;
  // In a browser's error, `code` is a number.
  const code = typeof systemCode === "number" ? name : (systemCode ?? "");
  const kind = KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? "failed";
  return new StoreRefusal(kind, `${WORDS[kind](place)} (${code === "" ? message : code})`);
}

const KINDS: readonly (readonly [RegExp, keyof typeof WORDS])[] = [
  [/^(ENOSPC|EDQUOT|SQLITE_FULL|QuotaExceededError)/, "full"],
  [/^(EROFS|EACCES|EPERM|SQLITE_READONLY|SQLITE_PERM)/, "read-only"],
  [/^(ENOENT|ENOTDIR|ENODEV|ESTALE|SQLITE_CANTOPEN|InvalidStateError)/, "gone"],
];

const WORDS: Record<"full" | "read-only" | "gone" | "failed", (place: string) => string> = {
  full: (place) => `there is no room left for ${place}`,
  "read-only": (place) => `${place} cannot be written to`,
  gone: (place) => `${place} is gone`,
  failed: (place) => `${place} could not be written`,
};

/** A problem of the stored worlds that the user must solve before the server can run; one or two sentences. */
export class PersistenceError extends Error {
  override readonly name: string = "PersistenceError";
}

/**
 * Why a store in files cannot be opened, and what to do.
 * @param holder the server that uses it, if one does
 */
export function toOpeningError(
  error: unknown,
  place: string,
  type: "folder" | "file",
  holder = "another server",
): PersistenceError {
  if (error instanceof PersistenceError) return error;
  const { code = "" } = error as NodeJS.ErrnoException;
  if (/^(MODULE_NOT_FOUND|ERR_DLOPEN_FAILED)$/.test(code))
    return new PersistenceError(
      `--persist: SQLite cannot be loaded (${code}): its package for this system is missing, or does not run here. Delete node_modules and install again on this system, with optional dependencies.`,
    );
  // The lock is a transaction of SQLite, also for a document.
  if (/^SQLITE_BUSY/.test(code))
    return new PersistenceError(
      `${place} is in use by ${holder}; stop that server, or choose another ${type} with --persist.`,
    );
  const { kind, message } = toStoreRefusal(error, place);
  const advice = { full: "free some space, or ", "read-only": "make it writable, or " }[kind as string] ?? "";
  return new PersistenceError(`--persist: ${message}; ${advice}choose another ${type} with --persist.`);
}

/** A sandbox was saved with own operations that this server lacks; its rows stay as they are. */
export class MissingOperations extends PersistenceError {
  override readonly name = "MissingOperations";
}
