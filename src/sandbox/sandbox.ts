import type { Settings } from "../contract/settings.ts";
import type { World, WorldValue } from "../state/world.ts";
import type { FaultGate } from "./fault-gate.ts";
import type { Journal } from "./journal.ts";
import type { OutcomeCounts } from "./outcome-counts.ts";
import type { RateWindows } from "./rate-windows.ts";

/** What a snapshot keeps (interfaces 4); settings, scenarios, faults and journal stay as they are. */
export interface SandboxValue {
  readonly world: WorldValue;
  readonly windows: RateWindows;
  /** Milliseconds since 1970, on the sandbox's clock. */
  readonly taken_at: number;
  /** What the keeper of half-finished uploads captured; opaque here (see BlobKeeper). */
  readonly blobs?: unknown;
}

/** One isolated world inside the server, with everything that belongs to it. */
export interface Sandbox {
  readonly name: string;
  /** The name of the fixture, or `inline`. */
  fixture: string;
  seed: number;
  settings: Settings;
  /** Milliseconds since 1970, wall clock. */
  readonly created_at: number;
  /** Counts resets; secrets are drawn from it (interfaces 5). */
  resets: number;
  world: World;
  journal: Journal;
  windows: RateWindows;
  faults: FaultGate;
  readonly outcomes: OutcomeCounts;
  readonly snapshots: Map<string, SandboxValue>;
}
