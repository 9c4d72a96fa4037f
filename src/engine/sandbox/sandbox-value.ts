import type { Resource } from "../contract/resource.ts";
import type { Settings } from "../contract/settings.ts";
import type { ClockMode } from "../state/clock.ts";
import type { Root } from "../state/tables.ts";
import type { WorldValue } from "../state/world-parts.ts";
import type { StoredHistory } from "./history.ts";
import type { RateWindows } from "./rate-windows.ts";

/** The content of a snapshot (interfaces.md 4); settings, scenarios, faults and journal are not part of it. */
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
  /** Resources of this sandbox alone. */
  ownResources?: readonly Resource[];
}

export interface SandboxResetOptions {
  fixture?: string | object;
  seed?: number;
  /** The number of resets including this one; default: one more than before. */
  resets?: number;
  /** Called with the fixture before a world is built from it; may throw to refuse it. */
  checkFixture?: (fixture: LoadedFixture) => void;
  /** Called with the new world; may throw to refuse it. */
  checkWorld?: (root: Root) => void;
}

/** A saved sandbox, from which another continues. */
export interface SavedState {
  created_at: number;
  resets: number;
  /** The initial instant of the clock, in milliseconds since 1970. */
  start: number;
  forked_from?: string | undefined;
  value: SandboxValue;
  snapshots: ReadonlyMap<string, SandboxValue>;
  history: StoredHistory | undefined;
}

/** The source of fixtures; the same fixture and seed give the same root, by reference. */
export interface FixtureSource {
  /** @throws DocumentError if the fixture is unknown or wrong */
  load(fixture: string | object): LoadedFixture;
}

export interface LoadedFixture {
  readonly name: string;
  /**
   * With settings, running work has the duration that they define (G11, G14). Without them, the root is the base that
   * saved records are compared with.
   */
  buildRoot(seed: number, settings?: Settings): Root;
  /** A lower bound of the number of its records, which does not build them. */
  getMinimumRecordCount(): number;
  /** The merged document that the roots are built from; saved sandboxes and bundles contain it. */
  getDocument(): object;
}
