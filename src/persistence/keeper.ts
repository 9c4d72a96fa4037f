import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../log.ts";
import type { FaultState } from "../sandbox/fault-gate.ts";
import type { FixtureSource } from "../sandbox/fixture-source.ts";
import { RateWindows } from "../sandbox/rate-windows.ts";
import type { SandboxRegistry } from "../sandbox/registry.ts";
import type { Sandbox, SandboxChange, SandboxValue } from "../sandbox/sandbox.ts";
import { type ClockMode, readClock } from "../state/clock.ts";
import type { AnyCollection } from "../state/collection.ts";
import type { Root } from "../state/root.ts";
import type { WorldValue } from "../state/world.ts";
import { decodeWorld } from "../state/world-document.ts";
import { type LoggedChange, readChanges } from "./change-log.ts";
import { KeptSandbox } from "./kept-sandbox.ts";
import { lockFolder } from "./lock.ts";
import { SandboxAdapter } from "./sandbox-adapter.ts";
import type { SavedSandbox, SavedValue } from "./sandbox-file.ts";

export interface KeeperOptions {
  folder: string;
  /** Each acknowledged write is on disk before its answer. */
  durable: boolean;
  wallClock: () => number;
  log: Log;
}

/** Where kept sandboxes come from and go to (interfaces 2: `--persist`). */
export class Keeper {
  private readonly options: KeeperOptions;
  private readonly kept = new Map<string, KeptSandbox>();
  private readonly unlock: () => void;
  private readonly removals = new Set<Promise<void>>();
  /** While sandboxes are brought back, what happens to them is not news. */
  private loading = false;

  /** @throws PersistenceError when another process uses the folder */
  constructor(options: KeeperOptions) {
    this.options = options;
    mkdirSync(join(options.folder, "sandboxes"), { recursive: true });
    this.unlock = lockFolder(options.folder);
  }

  /**
   * Brings back every sandbox of the folder.
   * @throws PersistenceError for a file of a newer version
   */
  async load(
    registry: SandboxRegistry,
    parts: { fixtures: FixtureSource; collections: readonly AnyCollection[] },
  ): Promise<void> {
    for (const name of readdirSync(join(this.options.folder, "sandboxes")).sort()) {
      const adapter = new SandboxAdapter(join(this.folderOf(name), "world.json"));
      const kept = await adapter.read();
      for (const warning of adapter.warnings) this.options.log.warn(warning);
      if (kept === null || !("read" in kept)) {
        if (adapter.warnings.length > 0) {
          this.options.log.warn(`Sandbox ${name} starts anew from its fixture: no whole copy of it is left.`);
        }
        continue;
      }
      await this.revive(registry, parts, kept.read);
    }
  }

  onCommit(sandbox: Sandbox, touched: ReadonlySet<string>): void {
    this.kept.get(sandbox.name)?.noteCommit(touched);
  }

  onChange(sandbox: Sandbox, change: SandboxChange): void {
    if (this.loading) return;
    if (change === "deleted") {
      this.forget(sandbox.name);
      return;
    }
    if (change === "faults") {
      this.kept.get(sandbox.name)?.noteFaults();
      return;
    }
    if (change === "created" && !this.kept.has(sandbox.name)) this.keep(sandbox, 0);
    this.kept.get(sandbox.name)?.noteWhole();
  }

  /** Resolves when what the sandbox has committed is on disk. */
  flushed(sandbox: { name: string }): Promise<void> {
    return this.kept.get(sandbox.name)?.flushed() ?? Promise.resolve();
  }

  async close(): Promise<void> {
    await Promise.all([...this.kept.values()].map((kept) => kept.close()));
    await Promise.all(this.removals);
    this.unlock();
  }

  private forget(name: string): void {
    const kept = this.kept.get(name);
    if (kept === undefined) return;
    this.kept.delete(name);
    const removal = kept
      .remove()
      .catch((error) => this.options.log.error({ err: error }, `sandbox ${name} could not be removed`));
    this.removals.add(removal);
    void removal.finally(() => this.removals.delete(removal));
  }

  private keep(sandbox: Sandbox, generation: number): void {
    const folder = this.folderOf(sandbox.name);
    mkdirSync(folder, { recursive: true });
    const { durable, wallClock, log } = this.options;
    const onFailure = (error: Error) =>
      log.error(`Sandbox ${sandbox.name} could not be saved: ${error.message}`);
    this.kept.set(
      sandbox.name,
      new KeptSandbox(sandbox, { folder, durable, wallClock, onFailure }, generation),
    );
  }

  private async revive(
    registry: SandboxRegistry,
    { fixtures, collections }: { fixtures: FixtureSource; collections: readonly AnyCollection[] },
    saved: SavedSandbox,
  ): Promise<void> {
    const { header } = saved;
    const fixture = sameFixture(fixtures, header.fixture);
    const base = fixture.root(header.seed);
    const { blobs } = registry;
    const decode = async (value: SavedValue): Promise<SandboxValue> => ({
      taken_at: value.taken_at,
      windows: RateWindows.from(value.windows),
      blobs: value.blobs !== undefined ? await blobs.decode(value.blobs) : undefined,
      world: decodeWorld(value.world, collections, { base }),
    });
    const { overlay, last, faults = header.faults, generation } = this.replay(saved);
    const whole = await decode(saved.present);
    const present =
      last === undefined ? whole : { ...whole, windows: RateWindows.from(last.windows as never) };
    const snapshots = new Map<string, SandboxValue>();
    for (const [name, value] of Object.entries(saved.snapshots)) snapshots.set(name, await decode(value));
    const { name, seed, settings, created_at, resets, start } = header;
    const clock = last?.clock ?? { ...present.world.clock, wall: header.wall };
    // Frozen time stays where it was; a clock that moves has moved on while the server was away.
    const at = readClock({ ...clock, mode: present.world.clock.mode }, this.options.wallClock());
    const world: WorldValue = {
      ...present.world,
      requests: last?.requests ?? present.world.requests,
      clock: { mode: clock.mode as ClockMode, rate: clock.rate, wall: clock.wall, at },
      root: {
        draws: last?.draws ?? present.world.root.draws,
        tables: overlaid(present.world.root.tables, overlay),
      },
    };
    const revival = { created_at, resets, start, value: { ...present, world }, snapshots };
    this.loading = true;
    let sandbox: Sandbox;
    try {
      sandbox = registry.revive({ name, seed, settings }, fixture, revival);
      for (const lost of faults === undefined ? [] : sandbox.faults.restoreState(faults)) {
        this.options.log.warn(
          `The scenario ${lost} was on in sandbox ${name} and is not to be found any more.`,
        );
      }
    } finally {
      this.loading = false;
    }
    this.keep(sandbox, generation);
    this.kept.get(name)!.noteWhole();
  }

  /** What the logs from the saved generation on say: each record's last state wins. */
  private replay(saved: SavedSandbox): {
    overlay: Overlay;
    last: LoggedChange | undefined;
    faults: FaultState | undefined;
    generation: number;
  } {
    const folder = this.folderOf(saved.header.name);
    const overlay: Overlay = new Map();
    let last: LoggedChange | undefined;
    let faults: FaultState | undefined;
    let generation = saved.generation;
    for (let next = saved.generation; existsSync(join(folder, `changes.${next}.log`)); next++) {
      const { changes, warning } = readChanges(join(folder, `changes.${next}.log`));
      if (warning) this.options.log.warn(warning);
      for (const change of changes) {
        for (const [collection, records] of Object.entries(change.records)) {
          const byId = overlay.get(collection) ?? new Map<string, object | null>();
          overlay.set(collection, byId);
          for (const [id, record] of Object.entries(records)) byId.set(id, record);
        }
        last = change;
        faults = change.faults ?? faults;
      }
      generation = next;
    }
    return { overlay, last, faults, generation };
  }

  private folderOf(name: string): string {
    return join(this.options.folder, "sandboxes", name);
  }
}

/** The fixture by name where it still says what it said, so that editing it goes on working; else as saved. */
function sameFixture(fixtures: FixtureSource, { name, document }: SavedSandbox["header"]["fixture"]) {
  try {
    const present = fixtures.load(name);
    if (JSON.stringify(present.document()) === JSON.stringify(document)) return present;
  } catch {
    // Renamed, deleted or broken since: the saved document still says what the world was made from.
  }
  return { ...fixtures.load(document), name };
}

type Overlay = Map<string, Map<string, object | null>>;

function overlaid(tables: Root["tables"], overlay: Overlay): Root["tables"] {
  let result = tables;
  for (const [collection, records] of overlay) {
    let table = result.get(collection);
    if (table === undefined) continue;
    for (const [id, record] of records) table = record === null ? table.remove(id) : table.put(record);
    result = result.replaced(table);
  }
  return result;
}
