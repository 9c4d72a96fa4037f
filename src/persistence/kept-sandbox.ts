import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Low } from "lowdb";
import type { Sandbox, SandboxValue } from "../sandbox/sandbox.ts";
import type { Root } from "../state/root.ts";
import { ChangeLog, type LoggedChange } from "./change-log.ts";
import { type Kept, SandboxAdapter } from "./sandbox-adapter.ts";

/** Interfaces 2: saved within a second. */
const FLUSH_MS = 300;
const LONGEST_LOG = 8 * 1024 * 1024;

export interface KeptSandboxOptions {
  folder: string;
  durable: boolean;
  wallClock: () => number;
  onFailure: (error: Error) => void;
}

/**
 * Keeps one sandbox on disk: a whole file now and then, and a log of what changed since. The log is flushed
 * within a second, or in durable mode before each answer, many answers to one flush.
 */
export class KeptSandbox {
  private readonly options: KeptSandboxOptions;
  private readonly sandbox: Sandbox;
  private readonly db: Low<Kept | null>;
  private generation: number;
  private log: ChangeLog;
  private touched = new Set<string>();
  private faultsChanged = false;
  private timer: NodeJS.Timeout | undefined;
  private work: Promise<void> = Promise.resolve();
  private queued: Promise<void> | undefined;
  private needsWhole = true;
  private closed = false;

  constructor(sandbox: Sandbox, options: KeptSandboxOptions, generation = 0) {
    this.sandbox = sandbox;
    this.options = options;
    this.generation = generation;
    this.db = new Low<Kept | null>(new SandboxAdapter(join(options.folder, "world.json")), null);
    this.log = new ChangeLog(this.logFile(generation));
  }

  /** After a commit. */
  noteCommit(touched: ReadonlySet<string>): void {
    for (const key of touched) this.touched.add(key);
    this.soon();
  }

  /** Other rules are in force, or one has struck. */
  noteFaults(): void {
    this.faultsChanged = true;
    this.soon();
  }

  /** Something that the log cannot say changed: another world, settings, snapshots. */
  noteWhole(): void {
    this.needsWhole = true;
    this.soon();
  }

  /** Resolves when everything up to now is on disk. */
  flushed(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.queued === undefined) {
      // Whoever asks while a flush is under way shares the next one.
      this.queued = this.work.then(() => {
        this.queued = undefined;
        return this.flush();
      });
      this.work = this.queued.catch((error) => this.options.onFailure(error as Error));
    }
    return this.queued;
  }

  /** Writes a whole file and lets go. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.needsWhole = true;
    await this.flushed().catch(() => {});
    this.closed = true;
    clearTimeout(this.timer);
    await this.log.close();
  }

  /** Forgets the sandbox: the folder goes with it. */
  async remove(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.work;
    await this.log.close();
    await rm(this.options.folder, { recursive: true, force: true });
  }

  private soon(): void {
    if (this.closed || this.options.durable || this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.flushed().catch(() => {});
    }, FLUSH_MS);
    this.timer.unref();
  }

  private async flush(): Promise<void> {
    if (this.closed) return;
    if (this.needsWhole || this.log.size > LONGEST_LOG) return this.writeWhole();
    if (this.touched.size === 0 && !this.faultsChanged) return;
    const change = this.change();
    this.touched = new Set();
    this.faultsChanged = false;
    await this.log.append(change, this.options.durable);
  }

  private change(): LoggedChange {
    const { world, windows } = this.sandbox;
    const value = world.value();
    const records: LoggedChange["records"] = {};
    for (const key of this.touched) {
      const mark = key.indexOf("\u0000");
      const collection = key.slice(0, mark);
      const id = key.slice(mark + 1);
      const byId = records[collection] ?? {};
      records[collection] = byId;
      byId[id] = (value.root.tables.get(collection)?.get(id) as object | undefined) ?? null;
    }
    const { mode, at, rate } = value.clock;
    return {
      requests: value.requests,
      draws: value.root.draws,
      clock: { mode, at, rate, wall: this.options.wallClock() },
      windows,
      records,
      faults: this.faultsChanged ? this.sandbox.faults.state?.() : undefined,
    };
  }

  /**
   * Changes from here on go to the next generation's log, so whatever copy survives, the logs from its
   * generation on complete it.
   */
  private async writeWhole(): Promise<void> {
    const { sandbox } = this;
    this.touched = new Set();
    this.needsWhole = false;
    this.faultsChanged = false;
    const present = sandbox.value();
    const snapshots = new Map(sandbox.snapshots);
    const base: Root = sandbox.source.root(sandbox.seed);
    const previous = this.log;
    this.generation += 1;
    this.log = new ChangeLog(this.logFile(this.generation));
    await previous.close();
    const header = {
      name: sandbox.name,
      created_at: sandbox.created_at,
      fixture: { name: sandbox.fixture, document: sandbox.source.document() },
      seed: sandbox.seed,
      settings: sandbox.settings,
      resets: sandbox.resets,
      start: sandbox.start,
      scenarios: sandbox.faults.scenarios ?? [],
      faults: sandbox.faults.state?.(),
      wall: this.options.wallClock(),
    };
    const blobs = await this.encodedBlobs([present, ...snapshots.values()]);
    this.db.data = { save: { header, generation: this.generation, base, present, snapshots }, blobs };
    try {
      await this.db.write();
    } catch (error) {
      this.needsWhole = true;
      throw error;
    } finally {
      this.db.data = null;
    }
    sandbox.blobs.release(present.blobs);
    await rm(this.logFile(this.generation - 2), { force: true });
  }

  private async encodedBlobs(values: readonly SandboxValue[]): Promise<Map<SandboxValue, unknown>> {
    const encoded = new Map<SandboxValue, unknown>();
    const { blobs } = this.sandbox;
    if (blobs === undefined) return encoded;
    for (const value of values) {
      if (value.blobs !== undefined) encoded.set(value, await blobs.encode(value.blobs));
    }
    return encoded;
  }

  private logFile(generation: number): string {
    return join(this.options.folder, `changes.${generation}.log`);
  }
}
