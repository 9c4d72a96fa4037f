import type { Settings } from "../contract/settings.ts";
import type { ClockMode } from "../state/clock.ts";
import type { Root } from "../state/root.ts";
import type { WorldParts } from "../state/world.ts";
import type { FaultGate } from "./fault-gate.ts";
import { ManagedSandbox } from "./managed-sandbox.ts";
import type { RequestTally } from "./request-tally.ts";
import type { Sandbox, SandboxValue } from "./sandbox.ts";

export type { ManagedSandbox };

export const SANDBOX_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Where a fixture's world comes from; the same (fixture, seed) gives the same root, by reference. */
export interface FixtureSource {
  /** @throws DocumentError when the fixture is unknown or wrong */
  load(fixture: string | object): LoadedFixture;
}

export interface LoadedFixture {
  name: string;
  /**
   * With settings, what runs on the first day goes on for as long as they say (G11, G14); by default without,
   * as what is kept on disk is told apart from.
   */
  root(seed: number, settings?: Settings): Root;
  /** The merged document that the roots are built from, as a saved sandbox or a bundle keeps it. */
  document(): object;
}

/** What a kept sandbox needs to be itself again. */
export interface Revival {
  created_at: number;
  resets: number;
  start: number;
  fixture: LoadedFixture;
  value: SandboxValue;
  snapshots: ReadonlyMap<string, SandboxValue>;
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
  scenarios?: readonly string[];
  settings?: Partial<Settings>;
}

/**
 * Keeps the bytes of half-finished uploads beside the values of a sandbox. `capture` must be cheap
 * (references, links), because snapshots and forks are.
 */
export interface BlobKeeper {
  capture(sandbox: Sandbox): unknown;
  restore(sandbox: Sandbox, captured: unknown): void;
  release(captured: unknown): void;
  /** On disk behind these, what they share counted once. */
  bytesOf(captured: Iterable<unknown>): number;
  /** Plain JSON, for the download of a snapshot, and back. */
  encode(captured: unknown): Promise<unknown>;
  decode(document: unknown): Promise<unknown>;
}

export type SandboxChange =
  | "created"
  | "settings"
  | "faults"
  | "reset"
  | "restored"
  | "snapshots"
  | "deleted";

export interface RegistryParts {
  fixtures: FixtureSource;
  defaults: { fixture: string | object; seed: number; clock: ClockSetting; settings: Partial<Settings> };
  wallClock: () => number;
  faults: (sandbox: () => Sandbox) => FaultGate;
  worldParts: (sandbox: () => ManagedSandbox) => WorldParts;
  /** A sandbox's world was replaced as a whole, or the sandbox is gone: uploads and queues follow. */
  onDiscard: (sandbox: Sandbox) => void;
  /** Something besides its world's records changed; commits are told by `worldParts().onCommit`. */
  onChange?: (sandbox: ManagedSandbox, change: SandboxChange) => void;
  blobs?: BlobKeeper;
  /** Counts the requests of all sandboxes. */
  tally?: RequestTally;
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

  get blobs(): BlobKeeper | undefined {
    return this.parts.blobs;
  }

  /** In order of creation. */
  all(): IterableIterator<ManagedSandbox> {
    return this.sandboxes.values();
  }

  /**
   * The caller has checked that the name is well-formed and free.
   * @throws DocumentError when the fixture is unknown or wrong, or a scenario is
   */
  create(options: SandboxOptions): ManagedSandbox {
    const { fixtures, defaults } = this.parts;
    return this.add(options, fixtures.load(options.fixture ?? defaults.fixture));
  }

  /** A second sandbox with the same data, clock, settings and random state (interfaces 4). */
  fork(source: ManagedSandbox, name: string): ManagedSandbox {
    const { seed, settings } = source;
    return this.add(
      { name, seed, settings, scenarios: source.faults.scenarios ?? [] },
      source.source,
      source,
    );
  }

  /** A sandbox that was kept on disk, as it was; an existing one of that name is replaced. */
  revive(options: SandboxOptions, revival: Revival): ManagedSandbox {
    this.sandboxes.get(options.name)?.close();
    const sandbox = this.add(options, revival.fixture);
    sandbox.revive(revival);
    return sandbox;
  }

  delete(name: string): void {
    const sandbox = this.sandboxes.get(name);
    if (sandbox === undefined) return;
    this.sandboxes.delete(name);
    sandbox.close();
    this.parts.onChange?.(sandbox, "deleted");
  }

  close(): void {
    for (const sandbox of this.sandboxes.values()) sandbox.close();
  }

  private add(options: SandboxOptions, fixture: LoadedFixture, original?: ManagedSandbox): ManagedSandbox {
    const sandbox = new ManagedSandbox(this.parts, options, fixture);
    try {
      if (options.scenarios?.length) sandbox.faults.setScenarios?.(options.scenarios, true);
      if (original) sandbox.adopt(original);
    } catch (error) {
      sandbox.close();
      throw error;
    }
    this.sandboxes.set(options.name, sandbox);
    this.parts.onChange?.(sandbox, "created");
    return sandbox;
  }
}
