import { toHex } from "../bytes.ts";
import { DEFAULT_SETTINGS, type Settings } from "../contract/settings.ts";
import { digest, hmac } from "../platform.ts";
import { type ClockMode, makeClock, moveClock, readClock } from "../state/clock.ts";
import type { Transaction } from "../state/transaction.ts";
import { World } from "../state/world.ts";
import type { WorldParts } from "../state/world-parts.ts";
import { OutcomeCounts, type RequestCounter } from "./counters.ts";
import type { FaultInjector, FaultState } from "./fault-injector.ts";
import { History, type HistorySnapshot } from "./history.ts";
import type { StateRef } from "./history-entry.ts";
import { Journal } from "./journal.ts";
import { RateWindows } from "./rate-windows.ts";
import type {
  ClockSetting,
  FixtureSource,
  LoadedFixture,
  Revival,
  SandboxOptions,
  SandboxReset,
  SandboxValue,
} from "./sandbox-value.ts";
import { type BlobStore, Snapshots } from "./snapshots.ts";
import { Timeline } from "./timeline.ts";
import { TimelineRecorder } from "./timeline-recorder.ts";

export type { ClockSetting, Revival, SandboxOptions, SandboxReset, SandboxValue };

/** A sandbox as it was saved. */
export interface SavedSandbox {
  about: Pick<Sandbox, "created_at" | "fixture" | "seed" | "settings" | "resets" | "start">;
  source: LoadedFixture;
  value: SandboxValue;
  faults: FaultState;
  snapshots: ReadonlyMap<string, SandboxValue>;
  history: HistorySnapshot;
}

/** Another world has begun in it. */
export type SandboxChange = "created" | "reset" | "restored";

/** What every sandbox of a server is made with. */
export interface SandboxParts {
  fixtures: FixtureSource;
  defaults: { seed: number; clock: ClockSetting; settings: Partial<Settings> };
  wallClock: () => number;
  /** Called while the sandbox is being made, as the next one is: neither may read it yet. */
  faults: (sandbox: Sandbox) => FaultInjector;
  worldParts: (sandbox: Sandbox) => WorldParts;
  followSettings: (tx: Transaction, settings: Settings) => void;
  /** A sandbox's world was replaced as a whole, or the sandbox is gone: uploads and queues follow. */
  onDiscard: (sandbox: Sandbox) => void;
  /** Something besides its world's records changed; commits are told by `worldParts().onCommit`. */
  onChange: (sandbox: Sandbox, change: SandboxChange) => void;
  blobs: BlobStore;
  /** Counts the requests of all sandboxes. */
  counter: RequestCounter;
  /**
   * A key of the server's own, of which secrets are made where the fixture, and so the seed, is known to more
   * people than may have them; without it, the same sandbox has the same secrets on every server.
   */
  serverKey?: Uint8Array | undefined;
}

/** One isolated world inside the server, with everything that belongs to it. */
export class Sandbox {
  readonly name: string;
  /** Milliseconds since 1970, wall clock. */
  created_at: number;
  readonly snapshots: Snapshots;
  readonly faults: FaultInjector;
  readonly outcomes = new OutcomeCounts();
  /** The name of the fixture, or `inline`. */
  fixture: string;
  seed: number;
  settings: Settings;
  /** Counts resets; secrets are drawn from it (interfaces 5). */
  resets = 0;
  world: World;
  readonly timeline = new Timeline();
  readonly journal: Journal;
  readonly history: History;
  readonly recorder: TimelineRecorder;
  windows = new RateWindows();
  /** Requests that are held up at the moment because they asked for it, or hang. */
  held = 0;
  /** What `reset` goes back to. */
  source: LoadedFixture;
  /** First instant of the first day, which a frozen clock goes back to. */
  start: number;
  private readonly parts: SandboxParts;

  constructor(parts: SandboxParts, options: SandboxOptions, source: LoadedFixture) {
    const { defaults } = parts;
    this.parts = parts;
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
    this.world = this.freshWorld(clock.mode, this.start, clock.rate);
    this.faults = parts.faults(this);
    this.followSettings();
  }

  /**
   * Everything as on the first day; settings and snapshots stay, the clock keeps its mode.
   * @throws DocumentError when the fixture is unknown or wrong; nothing has changed then
   */
  reset(change: SandboxReset = {}): void {
    const source = change.fixture === undefined ? this.source : this.parts.fixtures.load(change.fixture);
    change.judge?.(source);
    const seed = change.seed ?? this.seed;
    // Built before anything is thrown away: a fixture that cannot be built must not cost the old world.
    const root = source.root(seed, this.settings);
    // So must one that is too large for this server.
    change.admit?.(root);
    const { mode, rate } = this.world.clock;
    this.world.close();
    this.parts.onDiscard(this);
    this.source = source;
    this.fixture = source.name;
    this.seed = seed;
    this.resets = change.resets ?? this.resets + 1;
    this.windows = new RateWindows();
    this.journal.clear();
    this.history.begin(this.resets);
    this.world = this.freshWorld(mode, mode === "real" ? this.parts.wallClock() : this.start, rate);
    // After the new world, in which the leases of the first scenarios begin again.
    this.faults.reset();
    this.followSettings();
    this.parts.onChange(this, "reset");
  }

  /**
   * Moves to the version of the fixture that is in force now, keeping the clock (interfaces 6); not where a
   * request has changed something, which only a reset may throw away. Returns whether it moved.
   */
  renew(): boolean {
    if (!this.world.untouched) return false;
    const value = this.value();
    this.restore({ ...value, world: { ...value.world, root: this.source.root(this.seed, this.settings) } });
    this.parts.blobs.release(value.blobs);
    this.world.untouched = true;
    return true;
  }

  /** Changes settings that were checked before. */
  configure(settings: Partial<Settings>): void {
    this.settings = { ...this.settings, ...settings };
    this.journal.resize(this.settings.journal_limit);
    this.history.resize(this.settings.history_limit);
    this.followSettings();
  }

  /** What a world does by itself is what the settings of its sandbox say, whatever they were when it was kept. */
  private followSettings(): void {
    this.world.arrange((tx) => this.parts.followSettings(tx, this.settings));
  }

  value(): SandboxValue {
    return {
      world: this.world.value(),
      windows: this.windows.copy(),
      taken_at: this.world.epochNow(),
      blobs: this.parts.blobs.capture(this),
    };
  }

  /** Makes a value the present; it may come from another sandbox. */
  restore(value: SandboxValue): void {
    this.windows = value.windows.copy();
    this.parts.blobs.restore(this, value.blobs);
    const resumeLeases = this.faults.suspendLeases();
    this.world.restore(value.world);
    resumeLeases();
    this.followSettings();
    this.parts.onChange(this, "restored");
  }

  /**
   * Makes a moment of this sandbox's history the present (interfaces 10). Returns the ids of uploads of which
   * something was held then and is gone.
   */
  rewind(moment: StateRef): string[] {
    const { value, gone } = this.valueAt(moment);
    this.restore(value);
    this.parts.blobs.release(value.blobs);
    return gone;
  }

  peekUploads(): unknown {
    return this.parts.blobs.peek(this);
  }

  /** A moment of the history as a snapshot would hold it; the caller releases its blobs. */
  private valueAt(moment: StateRef): { value: SandboxValue; gone: string[] } {
    const { version, now, requests, counted } = moment;
    const { uploads, clock, ...environment } = moment.environment;
    const root = this.history.versions.at(version);
    if (root === undefined) throw new Error(`the history has released version ${version}`);
    const windows = RateWindows.from(moment.windows);
    if (counted !== undefined) windows.uncount(counted.key_id, counted.minute);
    const { captured, gone } = this.parts.blobs.tryRecover(uploads);
    const world = { ...environment, requests, root, clock: moveClock(clock, now, now) };
    return { value: { world, windows, taken_at: now, blobs: captured }, gone };
  }

  saveSnapshot(name: string, value: SandboxValue = this.value()): SandboxValue {
    this.snapshots.set(name, value);
    return value;
  }

  /** Becomes what another is, or was; returns the ids of uploads of which something is gone since. */
  adopt(original: Sandbox, moment?: StateRef): string[] {
    this.start = original.start;
    this.resets = original.resets;
    this.history.begin(this.resets);
    const { value, gone } =
      moment === undefined ? { value: original.value(), gone: [] } : original.valueAt(moment);
    this.restore(value);
    this.parts.blobs.release(value.blobs);
    this.faults.restoreState(original.faults.state());
    return gone;
  }

  revive({ created_at, resets, start, value, snapshots, history }: Revival): void {
    this.created_at = created_at;
    this.resets = resets;
    this.start = start;
    for (const [name, kept] of snapshots) this.snapshots.set(name, kept);
    if (history === undefined) this.history.begin(resets);
    else this.history.revive(history, resets);
    this.restore(value);
  }

  /** Becomes again what it was when it was saved, for what came since could not be; a clock that moves goes on. */
  rollbackTo({ about, source, value, faults, snapshots, history }: SavedSandbox): void {
    const began = { state: this.recorder.present(), position: this.history.lastSequence };
    const { created_at, fixture, seed, settings, resets, start } = about;
    Object.assign(this, { created_at, fixture, seed, settings, resets, start, source });
    this.journal.resize(settings.journal_limit);
    this.history.resize(settings.history_limit);
    const { clock } = value.world;
    const wall = this.parts.wallClock();
    this.restore({
      ...value,
      world: { ...value.world, clock: moveClock(clock, readClock(clock, wall), wall) },
    });
    this.faults.restoreState(faults);
    const title = "What could not be saved was undone.";
    this.recorder.recordRewind({ kind: "restore", title, subject: undefined, began }, history.about.next - 1);
    this.snapshots.clear();
    for (const [name, kept] of snapshots) {
      this.parts.blobs.hold(kept.blobs);
      this.snapshots.set(name, kept);
    }
  }

  get blobs(): BlobStore {
    return this.parts.blobs;
  }

  /** Whoever follows the world or the journal is told that it ends; requests under way are still answered. */
  endStreams(): void {
    this.world.close();
    this.journal.close();
    this.history.close();
  }

  close(): void {
    this.endStreams();
    this.faults.close();
    this.snapshots.clear();
    this.parts.onDiscard(this);
  }

  private freshWorld(mode: ClockMode, at: number, rate: number | undefined): World {
    const parts = this.parts.worldParts(this);
    return new World({
      root: this.source.root(this.seed, this.settings),
      clock: makeClock(mode, at, this.parts.wallClock(), rate),
      origin: at,
      seed: this.seed,
      secretKey: deriveSecretKey(this, this.parts.serverKey),
      wallClock: this.parts.wallClock,
      parts: {
        ...parts,
        onCommit: (world, commit) => {
          this.recorder.recordCommit(commit);
          parts.onCommit(world, commit);
        },
      },
    });
  }
}

/** interfaces 5: from seed, name and number of resets, and on a shared server from its own key too. */
function deriveSecretKey(
  { seed, name, resets }: Pick<Sandbox, "seed" | "name" | "resets">,
  serverKey: Uint8Array | undefined,
): string {
  const text = `${seed}\u0000${name}\u0000${resets}`;
  return toHex(serverKey === undefined ? digest("sha256", text) : hmac("sha256", serverKey, text));
}
