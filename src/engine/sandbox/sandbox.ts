import { type Api, extendApi } from "../contract/api.ts";
import type { Resource } from "../contract/resource.ts";
import { DEFAULT_SETTINGS, type Settings } from "../contract/settings.ts";
import { sleep } from "../platform.ts";
import { type ClockMode, makeClock, moveClock, readClock } from "../state/clock.ts";
import { deriveSecretKey } from "../state/random.ts";
import type { Transaction } from "../state/transaction.ts";
import { World } from "../state/world.ts";
import type { WorldParts } from "../state/world-parts.ts";
import { OutcomeCounts, type RequestCounter } from "./counters.ts";
import type { FaultInjector, FaultState, UnusableScenario } from "./fault-types.ts";
import { HeldExchanges } from "./held.ts";
import { History, type HistorySnapshot } from "./history.ts";
import type { StateRef, UploadReferences } from "./history-entry.ts";
import { Journal } from "./journal.ts";
import { RateWindows } from "./rate-windows.ts";
import type {
  ClockSetting,
  FixtureSource,
  LoadedFixture,
  SandboxOptions,
  SandboxResetOptions,
  SandboxValue,
  SavedState,
} from "./sandbox-value.ts";
import { type BlobStore, Snapshots } from "./snapshots.ts";
import { Timeline } from "./timeline.ts";
import { TimelineRecorder } from "./timeline-recorder.ts";

/** The parts of a sandbox that a store saves, and that a refused change is rolled back to. */
export interface SandboxState {
  about: Pick<Sandbox, "created_at" | "fixture" | "seed" | "settings" | "resets" | "start" | "forked_from">;
  source: LoadedFixture;
  value: SandboxValue;
  faults: FaultState;
  snapshots: ReadonlyMap<string, SandboxValue>;
  history: HistorySnapshot;
  ownResources: readonly Resource[];
}

/** The reason why a sandbox's world was replaced. */
export type SandboxChange = "created" | "reset" | "restored";

/** The parts that all sandboxes of a server share. */
export interface SandboxParts {
  /** The API of all sandboxes without operations of their own. */
  api: () => Api;
  fixtures: FixtureSource;
  defaults: { seed: number; clock: ClockSetting; settings: Partial<Settings> };
  wallClock: () => number;
  /** Called in the sandbox's constructor, like `worldParts`, so neither may read the sandbox yet. */
  faults: (sandbox: Sandbox) => FaultInjector;
  worldParts: (sandbox: Sandbox) => WorldParts;
  followSettings: (tx: Transaction, settings: Settings) => void;
  /** Discards the uploads of a sandbox that is reset or closed. */
  onDiscard: (sandbox: Sandbox) => void;
  /** Called when the sandbox's world was replaced; `worldParts().onCommit` is called for changes of its records. */
  onChange: (sandbox: Sandbox, change: SandboxChange) => void;
  blobs: BlobStore;
  counter: RequestCounter;
  /** Secrets are derived from it, so that they cannot be computed from the seed; without it they are the same on every server. */
  serverKey?: Uint8Array | undefined;
}

/** One isolated world inside the server, with everything that belongs to it. */
export class Sandbox {
  readonly name: string;
  /** Milliseconds since 1970, wall clock; with a fraction for the order within one. */
  created_at: number;
  readonly snapshots: Snapshots;
  readonly faults: FaultInjector;
  readonly outcomes = new OutcomeCounts();
  /** The name of the sandbox from which this one was forked, if any. */
  forked_from?: string | undefined;
  /** The name of the fixture, or `inline`. */
  fixture: string;
  seed: number;
  settings: Settings;
  /** Counts resets; secrets are drawn from it (interfaces.md 5). */
  resets = 0;
  world: World;
  readonly timeline = new Timeline();
  readonly journal: Journal;
  readonly history: History;
  readonly recorder: TimelineRecorder;
  windows = new RateWindows();
  /** The number of requests that hang, are held, or wait because of their own delay header. */
  waitingRequests = 0;
  readonly held = new HeldExchanges(() => this.faults.rules.onHold());
  /** The fixture that `reset` starts from. */
  source: LoadedFixture;
  /** The initial instant, to which `reset` sets a clock that is not real. */
  start: number;
  /** The operations of the server, and its own. */
  api: Api;
  /** Resources of this sandbox alone. */
  ownResources: readonly Resource[];
  /** Functions that end the running delays; as listeners of `ended`, more than ten would make Node warn. */
  private readonly endDelays = new Set<() => void>();
  private readonly end = new AbortController();
  private readonly parts: SandboxParts;

  constructor(parts: SandboxParts, options: SandboxOptions, source: LoadedFixture) {
    const { defaults } = parts;
    this.parts = parts;
    this.ownResources = options.ownResources ?? [];
    this.api = extendApi(parts.api(), this.ownResources);
    this.name = options.name;
    this.created_at = parts.wallClock();
    this.snapshots = new Snapshots(parts.blobs);
    this.seed = options.seed ?? defaults.seed;
    this.settings = { ...DEFAULT_SETTINGS, ...defaults.settings, ...options.settings };
    this.source = source;
    this.fixture = source.name;
    this.journal = new Journal(this.settings.journal_limit, this.timeline, parts.counter);
    this.history = new History(this.settings.history_limit, this.timeline, this.journal);
    this.recorder = new TimelineRecorder(this.history, this);
    const clock = options.clock ?? defaults.clock;
    this.start = clock.now ?? parts.wallClock();
    this.world = this.createWorld(clock.mode, this.start, clock.rate);
    this.faults = parts.faults(this);
    this.applySettings();
  }

  /**
   * Restores the initial state; settings and snapshots stay, the clock keeps its mode.
   * @throws DocumentError if the fixture is unknown or wrong; nothing has changed then
   */
  reset(change: SandboxResetOptions = {}): void {
    const source = change.fixture === undefined ? this.source : this.parts.fixtures.load(change.fixture);
    change.checkFixture?.(source);
    const seed = change.seed ?? this.seed;
    // Built before the old world is discarded, in case the fixture cannot be built, or is too large for this server.
    const root = source.buildRoot(seed, this.settings);
    change.checkWorld?.(root);
    const { mode, rate } = this.world.clock;
    this.held.releaseAll();
    for (const end of this.endDelays) end();
    this.world.close();
    this.parts.onDiscard(this);
    this.source = source;
    this.fixture = source.name;
    this.seed = seed;
    this.resets = change.resets ?? this.resets + 1;
    this.windows = new RateWindows();
    this.journal.clear();
    this.history.startAgain(this.resets);
    this.world = this.createWorld(mode, mode === "real" ? this.parts.wallClock() : this.start, rate);
    // The leases of the first scenarios start again in the new world, so it is created before.
    this.faults.reset();
    this.applySettings();
    this.parts.onChange(this, "reset");
  }

  /**
   * Loads the fixture's current version and keeps the clock (interfaces.md 6). Returns false, and does nothing, unless the
   * world is untouched, since only a reset may discard changes.
   */
  reloadFixture(): boolean {
    if (!this.world.isUntouched) return false;
    const value = this.toValue();
    this.restoreAndRelease({
      ...value,
      world: { ...value.world, root: this.source.buildRoot(this.seed, this.settings) },
    });
    this.world.isUntouched = true;
    return true;
  }

  /** Changes settings that were checked before. */
  configure(settings: Partial<Settings>): void {
    this.settings = { ...this.settings, ...settings };
    this.applySettings();
  }

  /**
   * Replaces the resources of this sandbox alone, and removes the records of collections that are gone.
   * @returns the active scenarios that end, since they were derived from operations that are gone
   */
  setResources(ownResources: readonly Resource[]): readonly UnusableScenario[] {
    const previousNames = this.ownResources.flatMap(({ collections }) => collections.map(({ name }) => name));
    this.ownResources = ownResources;
    const ended = this.updateApi();
    const currentNames = new Set(this.api.collections.map(({ name }) => name));
    this.world.dropTables(previousNames.filter((name) => !currentNames.has(name)));
    return ended;
  }

  /** Called when operations of the server or of this sandbox have changed: adds tables, and reads rules again. @returns as `setResources` */
  updateApi(): readonly UnusableScenario[] {
    this.api = extendApi(this.parts.api(), this.ownResources);
    this.world.addMissingTables();
    return this.faults.restoreState(this.faults.toState());
  }

  /** Adjusts the limits, and the world's own timers, to the current settings; a restored world may have had others. */
  private applySettings(): void {
    this.journal.resize(this.settings.journal_limit);
    this.history.resize(this.settings.history_limit);
    this.world.setUp((tx) => this.parts.followSettings(tx, this.settings));
  }

  toValue(): SandboxValue {
    return {
      world: this.world.toValue(),
      windows: new RateWindows(this.windows.table),
      taken_at: this.world.epochNow(),
      blobs: this.parts.blobs.capture(this),
    };
  }

  /** Makes a value of this or another sandbox the current state. */
  restore(value: SandboxValue): void {
    this.windows = new RateWindows(value.windows.table);
    this.parts.blobs.restore(this, value.blobs);
    const before = this.world.epochNow();
    this.world.restore(value.world);
    for (const end of this.endDelays) end();
    this.faults.rules.moveLeases(this.world.epochNow() - before);
    this.applySettings();
    this.parts.onChange(this, "restored");
  }

  /**
   * Makes a moment of this sandbox's history the current state (interfaces.md 10). Returns the ids of the uploads that
   * have lost bytes since then.
   */
  rewind(moment: StateRef): string[] {
    const { value, lostUploads } = this.toPastValue(moment);
    this.restoreAndRelease(value);
    return lostUploads;
  }

  private restoreAndRelease(value: SandboxValue): void {
    this.restore(value);
    this.parts.blobs.release(value.blobs);
  }

  peekUploads(): UploadReferences {
    return this.parts.blobs.peek(this);
  }

  /** A moment of the history as a snapshot; the caller releases its blobs. */
  private toPastValue(moment: StateRef): { value: SandboxValue; lostUploads: string[] } {
    const { version, now, requests, counted } = moment;
    const { uploads, clock, ...environment } = moment.environment;
    const root = this.history.versions.getRoot(version);
    if (root === undefined) throw new Error(`the history has released version ${version}`);
    const windows = new RateWindows(moment.windows);
    if (counted !== undefined) windows.uncount(counted.key_id, counted.minute);
    const { captured, lostUploads } = this.parts.blobs.tryRecover(uploads);
    const world = { ...environment, requests, root, clock: moveClock(clock, now, now) };
    return { value: { world, windows, taken_at: now, blobs: captured }, lostUploads };
  }

  saveSnapshot(name: string, value: SandboxValue = this.toValue()): SandboxValue {
    this.snapshots.set(name, value);
    return value;
  }

  /** Copies another sandbox, or a moment of its history; returns the ids of the uploads that have lost bytes since then. */
  copyFrom(original: Sandbox, moment?: StateRef): string[] {
    this.forked_from = original.name;
    this.start = original.start;
    this.resets = original.resets;
    this.history.startAgain(this.resets);
    const { value, lostUploads } =
      moment === undefined ? { value: original.toValue(), lostUploads: [] } : original.toPastValue(moment);
    this.restoreAndRelease(value);
    const shift_ms = moment === undefined ? 0 : moment.now - original.world.epochNow();
    this.faults.restoreState(original.faults.toState(), shift_ms);
    return lostUploads;
  }

  restoreSaved({ created_at, resets, start, forked_from, value, snapshots, history }: SavedState): void {
    Object.assign(this, { created_at, forked_from, resets, start });
    for (const [name, snapshot] of snapshots) this.snapshots.set(name, snapshot);
    if (history === undefined) this.history.startAgain(resets);
    else this.history.restoreSaved(history, resets);
    this.restore(value);
  }

  /** Restores the saved state, because later changes could not be saved; a running clock continues. */
  rollbackTo({ about, source, value, faults, snapshots, history, ownResources }: SandboxState): void {
    const began = { state: this.recorder.getState(), position: this.history.lastSequence };
    const { created_at, fixture, seed, settings, resets, start, forked_from } = about;
    Object.assign(this, { created_at, fixture, seed, settings, resets, start, forked_from, source });
    if (ownResources !== this.ownResources) this.setResources(ownResources);
    const { clock } = value.world;
    const wall = this.parts.wallClock();
    this.restore({
      ...value,
      world: { ...value.world, clock: moveClock(clock, readClock(clock, wall), wall) },
    });
    this.faults.restoreState(faults);
    const title = "Changes that could not be saved were undone.";
    this.recorder.recordRewind({ kind: "restore", title, subject: undefined, began }, history.about.next - 1);
    this.snapshots.clear();
    for (const [name, snapshot] of snapshots) {
      this.parts.blobs.hold(snapshot.blobs);
      this.snapshots.set(name, snapshot);
    }
  }

  get blobs(): BlobStore {
    return this.parts.blobs;
  }

  /** Resolves after this time of the wall clock, or when the sandbox ends, is reset or restored. */
  delay(ms: number): Promise<void> {
    if (this.ended.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        this.endDelays.delete(end);
        resolve();
      };
      this.endDelays.add(end);
      void sleep(ms).then(end);
    });
  }

  /** Aborted when the sandbox is deleted or the server closes. */
  get ended(): AbortSignal {
    return this.end.signal;
  }

  /**
   * Ends the streams that follow the sandbox, hanging requests, and the waiting of held and delayed ones; requests in
   * progress are still answered.
   */
  endStreams(): void {
    this.world.close();
    this.journal.close();
    this.history.close();
    this.held.close();
    for (const end of this.endDelays) end();
    this.end.abort(new TypeError("The sandbox has ended."));
  }

  close(): void {
    this.endStreams();
    this.faults.close();
    this.snapshots.clear();
    this.parts.onDiscard(this);
  }

  private createWorld(mode: ClockMode, at: number, rate: number | undefined): World {
    const worldParts = this.parts.worldParts(this);
    return new World({
      root: this.source.buildRoot(this.seed, this.settings),
      clock: makeClock(mode, at, this.parts.wallClock(), rate),
      origin: at,
      seed: this.seed,
      secretKey: deriveSecretKey(this, this.parts.serverKey),
      wallClock: this.parts.wallClock,
      parts: {
        ...worldParts,
        collections: () => this.api.collections,
        onCommit: (world, commit) => {
          this.recorder.recordCommit(commit);
          worldParts.onCommit(world, commit);
        },
      },
    });
  }
}
