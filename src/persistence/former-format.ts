import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { FaultState } from "../engine/sandbox/fault-gate.ts";
import type { RateWindows } from "../engine/sandbox/rate-windows.ts";
import type { StoredRecord } from "../engine/state/collection.ts";
import type { WorldDocument } from "../engine/state/world-document.ts";
import { isProcessAlive } from "../hosts/node/storage/live-process.ts";
import { freeName } from "./free-name.ts";
import { PersistenceError } from "./persistence-error.ts";
import { type SavedFacts, type SavedSandbox, type SavedWorld, UnfitSandbox } from "./saved-sandbox.ts";

/** Format 1: a file per sandbox, closed by a checksum, and logs of what changed since. Only ever read. */
const VERSION = 1;

interface FormerFile {
  format: string;
  version: number;
  /** Logs of this generation and later say what came after. */
  generation: number;
  header: SavedSandbox["about"] & {
    fixture: { name: string; document: object };
    faults?: FaultState;
    /** The machine's instant at which the clock showed what it says. */
    wall: number;
  };
  present: FormerWorld;
  snapshots: Record<string, FormerWorld>;
}

interface FormerWorld {
  taken_at: number;
  windows: ReturnType<RateWindows["toJSON"]>;
  blobs?: unknown;
  world: Omit<WorldDocument, "tables"> & {
    tables: Record<string, { records: StoredRecord[] } | { put: StoredRecord[]; removed: string[] }>;
  };
}

interface LoggedChange {
  requests: number;
  draws: number;
  clock: { mode: WorldDocument["clock"]["mode"]; at: number; rate: number; wall: number };
  windows: ReturnType<RateWindows["toJSON"]>;
  /** By collection and id; null is gone. */
  records: Record<string, Record<string, StoredRecord | null>>;
  faults?: FaultState;
}

/** A folder as versions up to 0.1 kept it. */
export class FormerFolder {
  private readonly folder: string;
  private readonly sandboxes: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.sandboxes = join(folder, "sandboxes");
  }

  /**
   * Undefined where there is none.
   * @throws PersistenceError when a server of that version uses it, or a file in it is of a newer one
   */
  static in(folder: string): FormerFolder | undefined {
    const former = new FormerFolder(folder);
    if (!existsSync(former.sandboxes)) return undefined;
    former.requireUnused();
    for (const name of former.names()) former.requireVersion(name);
    return former;
  }

  names(): string[] {
    return readdirSync(this.sandboxes).sort();
  }

  /**
   * The newest whole copy of a sandbox, with what the logs say since; undefined for one that was never saved.
   * @throws UnfitSandbox when no copy is whole
   */
  read(idFieldOf: (collection: string) => string | undefined, name: string): SavedSandbox | undefined {
    const files = this.filesOf(name).filter((file) => existsSync(file));
    if (files.length === 0) return undefined;
    const text = files.map(wholeText).find((whole) => whole !== undefined);
    if (text === undefined) throw new UnfitSandbox(`${files[0]} is damaged, and so is the copy before it`);
    const file = JSON.parse(text) as FormerFile;
    const changes = this.changesSince(name, file.generation);
    const { header } = file;
    const { created_at, seed, settings, resets, start } = header;
    const fixture = header.fixture.name;
    const present = savedWorld(idFieldOf, file.present, header.wall);
    overlay(present, changes, idFieldOf);
    return {
      about: { created_at, fixture, seed, settings, resets, start, snapshots: Object.keys(file.snapshots) },
      fixture: header.fixture,
      faults: changes.findLast(({ faults }) => faults !== undefined)?.faults ?? header.faults,
      present,
      snapshots: Object.fromEntries(
        Object.entries(file.snapshots).map(([snap, world]) => [
          snap,
          savedWorld(idFieldOf, world, header.wall),
        ]),
      ),
    };
  }

  /** What it says stands elsewhere now. Returns where the files went. */
  moveAside(): string {
    const aside = freeName(join(this.folder, "former-format"));
    mkdirSync(aside);
    renameSync(this.sandboxes, join(aside, "sandboxes"));
    const lock = join(this.folder, "lock");
    if (existsSync(lock)) renameSync(lock, join(aside, "lock"));
    return aside;
  }

  private filesOf(name: string): string[] {
    const file = join(this.sandboxes, name, "world.json");
    return [file, `${file}.previous`];
  }

  private requireUnused(): void {
    try {
      const { pid, started } = JSON.parse(readFileSync(join(this.folder, "lock"), "utf8"));
      if (!Number.isInteger(pid) || !isProcessAlive(pid, started)) return;
      throw new PersistenceError(
        `${this.folder} is in use by process ${pid}; stop that server, or choose another folder with --persist.`,
      );
    } catch (error) {
      if (error instanceof PersistenceError) throw error;
    }
  }

  private requireVersion(name: string): void {
    for (const file of this.filesOf(name)) {
      const text = existsSync(file) ? wholeText(file) : undefined;
      const version = text === undefined ? VERSION : (JSON.parse(text) as FormerFile).version;
      if (version > VERSION) {
        throw new PersistenceError(
          `${file} was written by a newer Understudy (format ${version}, this one knows ${VERSION} there). Update Understudy, or choose another folder with --persist.`,
        );
      }
    }
  }

  private changesSince(name: string, generation: number): LoggedChange[] {
    const changes: LoggedChange[] = [];
    for (let next = generation; ; next++) {
      const file = join(this.sandboxes, name, `changes.${next}.log`);
      if (!existsSync(file)) return changes;
      for (const line of readFileSync(file, "utf8").split("\n")) {
        const json = line.slice(9);
        // The end of what was acknowledged: half a line was, to nobody.
        if (line.slice(0, 8) !== hex(crc32(json))) break;
        changes.push(JSON.parse(json) as LoggedChange);
      }
    }
  }
}

function wholeText(file: string): string | undefined {
  const bytes = readFileSync(file);
  const end = bytes.lastIndexOf("\ncrc32 ");
  if (end < 0) return undefined;
  const content = bytes.subarray(0, end);
  return bytes.subarray(end + 1).toString() === `crc32 ${hex(crc32(content))}\n`
    ? content.toString("utf8")
    : undefined;
}

const hex = (checksum: number) => checksum.toString(16).padStart(8, "0");

function savedWorld(
  idFieldOf: (collection: string) => string | undefined,
  { taken_at, windows, blobs, world }: FormerWorld,
  wall: number,
): SavedWorld {
  const { tables, clock, ...facts } = world;
  const saved: SavedWorld = {
    facts: { ...facts, taken_at, clock: { ...clock, wall } } as SavedFacts,
    windows,
    uploads: undefined,
    tables: {},
  };
  if (blobs !== undefined) saved.blobs = blobs;
  for (const [name, table] of Object.entries(tables)) {
    if (idFieldOf(name) === undefined) throw new UnfitSandbox(`${name} is no collection of this server`);
    saved.tables[name] = "put" in table ? table : { put: table.records, removed: [] };
  }
  return saved;
}

/** Each record's last state wins. */
function overlay(
  world: SavedWorld,
  changes: readonly LoggedChange[],
  idFieldOf: (collection: string) => string | undefined,
): void {
  const last = changes.at(-1);
  if (last === undefined) return;
  const { facts, tables } = world;
  const { mode, at, rate, wall } = last.clock;
  Object.assign(facts, { requests: last.requests, draws: last.draws, clock: { mode, now: at, rate, wall } });
  world.windows = last.windows;
  const byCollection = new Map<string, Map<string, StoredRecord | null>>();
  for (const { records } of changes) {
    for (const [name, byId] of Object.entries(records)) {
      const known = byCollection.get(name) ?? new Map<string, StoredRecord | null>();
      byCollection.set(name, known);
      for (const [id, record] of Object.entries(byId)) known.set(id, record);
    }
  }
  for (const [name, byId] of byCollection) {
    const idField = idFieldOf(name);
    if (idField === undefined) throw new UnfitSandbox(`${name} is no collection of this server`);
    const { put = [], removed = [] } = tables[name] ?? {};
    const isOlder = (id: unknown) => byId.has(id as string);
    const fresh = [...byId.values()].filter((record) => record !== null);
    const gone = [...byId].filter(([, record]) => record === null).map(([id]) => id);
    tables[name] = {
      put: [...put.filter((record) => !isOlder((record as Record<string, unknown>)[idField])), ...fresh],
      removed: [...removed.filter((id) => !isOlder(id)), ...gone],
    };
  }
}
