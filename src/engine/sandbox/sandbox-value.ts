import type { Settings } from "../contract/settings.ts";
import type { ClockMode } from "../state/clock.ts";
import type { Root } from "../state/root.ts";
import type { WorldValue } from "../state/world-parts.ts";
import type { LoadedFixture } from "./fixture-source.ts";
import type { StoredHistory } from "./history-story.ts";
import type { RateWindows } from "./rate-windows.ts";

/** What a snapshot keeps (interfaces 4); settings, scenarios, faults and journal stay as they are. */
export interface SandboxValue {
  readonly world: WorldValue;
  readonly windows: RateWindows;
  /** Milliseconds since 1970, on the sandbox's clock. */
  readonly taken_at: number;
  /** What the keeper of half-finished uploads captured; opaque here. */
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

/** What a kept sandbox needs to be itself again. */
export interface Revival {
  created_at: number;
  resets: number;
  start: number;
  value: SandboxValue;
  snapshots: ReadonlyMap<string, SandboxValue>;
  history: StoredHistory | undefined;
}
