import { createHash } from "node:crypto";
import { DEFAULT_SETTINGS, type Settings } from "../contract/settings.ts";
import { type ClockMode, makeClock } from "../state/clock.ts";
import type { Root } from "../state/root.ts";
import { World, type WorldParts } from "../state/world.ts";
import type { FaultGate } from "./fault-gate.ts";
import { Journal } from "./journal.ts";
import { RateWindows } from "./rate-windows.ts";
import type { Sandbox, SandboxValue } from "./sandbox.ts";

export const SANDBOX_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Where a fixture's world comes from; the same (fixture, seed) gives the same root, by reference. */
export interface FixtureSource {
  /** @throws DocumentError when the fixture is unknown or wrong */
  load(fixture: string | object): LoadedFixture;
}

export interface LoadedFixture {
  name: string;
  root(seed: number): Root;
}

export interface ClockSetting {
  mode: ClockMode;
  /** Milliseconds since 1970; the wall clock when absent. */
  now?: number;
  rate?: number;
}

export interface SandboxOptions {
  name: string;
  fixture?: string | object;
  seed?: number;
  clock?: ClockSetting;
  settings?: Partial<Settings>;
}

export interface RegistryParts {
  fixtures: FixtureSource;
  defaults: { fixture: string | object; seed: number; clock: ClockSetting; settings: Partial<Settings> };
  wallClock: () => number;
  faults: (sandbox: () => Sandbox) => FaultGate;
  worldParts: (sandbox: () => Sandbox) => WorldParts;
  /** A sandbox's world was replaced as a whole, or the sandbox is gone: uploads and queues follow. */
  onDiscard: (sandbox: Sandbox) => void;
}

/** All sandboxes of a server. */
export class SandboxRegistry {
  private readonly sandboxes = new Map<string, ManagedSandbox>();
  private readonly parts: RegistryParts;

  constructor(parts: RegistryParts) {
    this.parts = parts;
  }

  get(name: string): ManagedSandbox | undefined {
    return this.sandboxes.get(name);
  }

  get size(): number {
    return this.sandboxes.size;
  }

  /** In order of creation. */
  all(): IterableIterator<ManagedSandbox> {
    return this.sandboxes.values();
  }

  /** The caller has checked that the name is well-formed and free. */
  create(options: SandboxOptions, like?: ManagedSandbox): ManagedSandbox {
    const sandbox = new ManagedSandbox(this.parts, options, like);
    this.sandboxes.set(options.name, sandbox);
    return sandbox;
  }

  /** A second sandbox with the same data, clock, settings and random state (interfaces 4). */
  fork(source: ManagedSandbox, name: string): ManagedSandbox {
    const copy = this.create({ name, seed: source.seed, settings: source.settings }, source);
    copy.adopt(source);
    return copy;
  }

  delete(name: string): void {
    const sandbox = this.sandboxes.get(name);
    if (sandbox === undefined) return;
    this.sandboxes.delete(name);
    sandbox.close();
  }

  close(): void {
    for (const sandbox of this.sandboxes.values()) sandbox.close();
  }
}

/** A sandbox with the operations that replace its world. */
export class ManagedSandbox implements Sandbox {
  readonly name: string;
  readonly created_at: number;
  readonly snapshots = new Map<string, SandboxValue>();
  readonly faults: FaultGate;
  fixture: string;
  seed: number;
  settings: Settings;
  resets = 0;
  world: World;
  journal: Journal;
  windows = new RateWindows();
  /** What `reset` goes back to. */
  private source: LoadedFixture;
  private start: number;
  private readonly parts: RegistryParts;

  /** `like` lends its fixture as it was loaded: an inline one has no name to load it by again. */
  constructor(parts: RegistryParts, options: SandboxOptions, like?: ManagedSandbox) {
    const { defaults } = parts;
    this.parts = parts;
    this.name = options.name;
    this.created_at = parts.wallClock();
    this.seed = options.seed ?? defaults.seed;
    this.settings = { ...DEFAULT_SETTINGS, ...defaults.settings, ...options.settings };
    this.source = like?.source ?? parts.fixtures.load(options.fixture ?? defaults.fixture);
    this.fixture = this.source.name;
    this.journal = new Journal(this.settings.journal_limit);
    const clock = options.clock ?? defaults.clock;
    this.start = clock.now ?? parts.wallClock();
    this.world = this.freshWorld(clock.mode, this.start, clock.rate);
    this.faults = parts.faults(() => this);
  }

  /** Everything as on the first day; settings and snapshots stay, the clock keeps its mode. */
  reset(change: { fixture?: string | object; seed?: number } = {}): void {
    const source = change.fixture === undefined ? this.source : this.parts.fixtures.load(change.fixture);
    const { mode, rate } = this.world.clock;
    this.world.close();
    this.parts.onDiscard(this);
    this.source = source;
    this.fixture = source.name;
    this.seed = change.seed ?? this.seed;
    this.resets += 1;
    this.windows = new RateWindows();
    this.journal.clear();
    this.world = this.freshWorld(mode, mode === "real" ? this.parts.wallClock() : this.start, rate);
  }

  value(): SandboxValue {
    return { world: this.world.value(), windows: this.windows.copy(), taken_at: this.world.epochNow() };
  }

  restore(value: SandboxValue): void {
    this.windows = value.windows.copy();
    this.world.restore(value.world);
  }

  adopt(source: ManagedSandbox): void {
    this.source = source.source;
    this.fixture = source.fixture;
    this.start = source.start;
    this.restore(source.value());
  }

  close(): void {
    this.world.close();
    this.parts.onDiscard(this);
  }

  private freshWorld(mode: ClockMode, at: number, rate: number | undefined): World {
    return new World({
      root: this.source.root(this.seed),
      clock: makeClock(mode, at, this.parts.wallClock(), rate),
      origin: at,
      seed: this.seed,
      secretKey: createHash("sha256").update(`${this.seed}\u0000${this.name}\u0000${this.resets}`).digest("hex"),
      wallClock: this.parts.wallClock,
      parts: this.parts.worldParts(() => this),
    });
  }
}
