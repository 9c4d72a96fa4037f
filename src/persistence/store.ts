import { existsSync } from "node:fs";

/**
 * One thing that is kept of a sandbox, as JSON text: `about`, a fault state, a record. What sections there
 * are and what their rows say is the business of sandbox-rows.ts; a store only keeps them.
 */
export interface Row {
  section: string;
  id: string;
  text: string;
}

/** A row that is put (or, with null, removed), or everything of a sandbox below a section that goes. */
export type Change =
  | { sandbox: string; section: string; id: string; text: string | null }
  /** `""` is the whole sandbox. */
  | { sandbox: string; clear: string };

/**
 * Where kept sandboxes are: an embedded engine, a readable document, the Redis of a fleet. A store knows
 * sandboxes by name and rows by section and id, and nothing of what they mean.
 */
export interface Store {
  /** Names of the sandboxes of which anything is kept. */
  list(): Promise<string[]>;
  load(sandbox: string): Promise<Row[]>;
  /**
   * All of the changes of a sandbox in their order, or none of them. They come in pieces, so that whoever makes
   * them need not hold the event loop. Resolves once they are as safe as the store makes them.
   * @throws StoreRefusal; of a sandbox whose changes were refused nothing has changed then. Where a store is one
   * transaction (a file), that is so of all sandboxes; elsewhere others may have been taken, and taking the same
   * again does no harm.
   */
  commit(pieces: AsyncIterable<readonly Change[]>): Promise<void>;
  /** Lets go of everything; what was committed stays. */
  close(): Promise<void>;
}

/** A store in files of this machine. */
export interface FolderStore extends Store {
  /** Folder for the bytes of uploads, which rows name by their file. */
  readonly uploads: string;
  /** Folder for sandboxes that could not be brought back. */
  readonly aside: string;
}

/**
 * Those of a fleet's store: `unreachable`, no answer in time, so that nobody knows whether it was taken;
 * `behind`, it holds another state of the sandbox than the changes begin from, and wants all of it; `moved`,
 * another node owns the sandbox; `taken`, a sandbox of that name is there already; `limit`, the fleet has as many
 * sandboxes as it may.
 */
export type RefusalKind =
  | ("full" | "read-only" | "gone" | "failed")
  | ("unreachable" | "behind" | "moved" | "taken" | "limit");

/** The store did not take a commit; what it held before, it holds. */
export class StoreRefusal extends Error {
  override readonly name = "StoreRefusal";
  readonly kind: RefusalKind;
  /** Of a fleet's store, which may take it soon: after so many seconds a client may come again. */
  readonly retry_after: number | undefined;
  /** For the answer, besides. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: RefusalKind, message: string, retry_after?: number, headers = {}) {
    super(message);
    this.kind = kind;
    this.retry_after = retry_after;
    this.headers = headers;
  }
}

/** What a failing system call, or the engine's word for one, means for whoever wanted to save. */
export function refusalOf(error: unknown, place: string): StoreRefusal {
  if (error instanceof StoreRefusal) return error;
  const { code = "", message } = error as NodeJS.ErrnoException;
  const kind = KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? "failed";
  return new StoreRefusal(kind, `${WORDS[kind](place)} (${code === "" ? message : code})`);
}

const KINDS: readonly (readonly [RegExp, keyof typeof WORDS])[] = [
  [/^(ENOSPC|EDQUOT|SQLITE_FULL)/, "full"],
  [/^(EROFS|EACCES|EPERM|SQLITE_READONLY|SQLITE_PERM)/, "read-only"],
  [/^(ENOENT|ENOTDIR|ENODEV|ESTALE|SQLITE_CANTOPEN)/, "gone"],
];

const WORDS: Record<"full" | "read-only" | "gone" | "failed", (place: string) => string> = {
  full: (place) => `there is no room left for ${place}`,
  "read-only": (place) => `${place} cannot be written to`,
  gone: (place) => `${place} is gone`,
  failed: (place) => `${place} could not be written`,
};

/** Something about the kept worlds that the user must know before the server can run; one sentence or two. */
export class PersistenceError extends Error {
  override readonly name = "PersistenceError";
}

/** The name itself, or with a number behind it, so that nothing is written over. */
export function freeName(name: string): string {
  let free = name;
  for (let n = 2; existsSync(free); n++) free = `${name}-${n}`;
  return free;
}
