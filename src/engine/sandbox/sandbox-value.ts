import type { Settings } from "../contract/settings.ts";
import type { ClockMode } from "../state/clock.ts";
import type { Root } from "../state/tables.ts";
import type { WorldValue } from "../state/world-parts.ts";
import type { StoredHistory } from "./history.ts";
import type { RateWindows } from "./rate-windows.ts";

/** What a snapshot keeps (interfaces 4); settings, scenarios, faults and journal stay as they are. */
export interface SandboxValue {
  readonly world: WorldValue;
  readonly windows: RateWindows;
  /** Milliseconds since 1970, on the sandbox's clock. */
  readonly taken_at: number;
  /** Half-finished uploads, as the `BlobStore` captured them. */
  readonly blobs?: unknown;
}

export interface ClockSetting {
  mode: ClockMode;
  /** Milliseconds since 1970; the wall clock when absent. */
  now?: number;
  rate?: number;
}

export interface SandboxOptions {
  name: string;
  seed?: number;
  clock?: ClockSetting;
  settings?: Partial<Settings>;
}

export interface SandboxReset {
  fixture?: string | object;
  seed?: number;
  /** How many resets there have been then; one more unless given. */
  resets?: number;
  /** Looks at the fixture before a world is built of it, and may refuse it by throwing. */
  judge?: (fixture: LoadedFixture) => void;
  /** Looks at the world to be, and may refuse it by throwing. */
  admit?: (root: Root) => void;
}

/** A sandbox that was saved, for one that is to continue it. */
export interface Revival {
  created_at: number;
  resets: number;
  start: number;
  value: SandboxValue;
  snapshots: ReadonlyMap<string, SandboxValue>;
  history: StoredHistory | undefined;
}

/** Where a fixture's world comes from; the same (fixture, seed) gives the same root, by reference. */
export interface FixtureSource {
  /** @throws DocumentError when the fixture is unknown or wrong */
  load(fixture: string | object): LoadedFixture;
}

export interface LoadedFixture {
  readonly name: string;
  /**
   * With settings, what runs on the first day goes on for as long as they say (G11, G14); by default without,
   * as what is kept on disk is told apart from.
   */
  root(seed: number, settings?: Settings): Root;
  /** A lower bound of the number of its records, found without building them. */
  leastRecords(): number;
  /** The merged document that the roots are built from, as a saved sandbox or a bundle keeps it. */
  document(): object;
}
