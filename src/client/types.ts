import type { Settings } from "../contract/settings.ts";

/** Shapes of the control API (interfaces 4), as a client sees them. */
export interface List<T> {
  items: T[];
  total: number;
}

export type FixtureInput = string | object;

export interface ClockState {
  mode: "real" | "frozen" | "scaled";
  now: string;
  rate?: number;
}

export interface ClockChange {
  mode: "real" | "frozen" | "scaled";
  now?: string;
  rate?: number;
}

export interface Pending {
  due_at: string;
  kind: string;
  subject: string;
}

export interface RanTimer {
  at: string;
  kind: string;
  subject: string;
}

export interface SandboxState {
  name: string;
  base_url: string;
  fixture: string;
  seed: number;
  clock: ClockState;
  scenarios: string[];
  settings: Settings;
  created_at: string;
  counts: Record<string, number>;
}

export interface SandboxOptions {
  name?: string;
  fixture?: FixtureInput;
  seed?: number;
  clock?: ClockChange;
  scenarios?: string[];
  settings?: Partial<Settings>;
}

export interface SnapshotState {
  name: string;
  [field: string]: unknown;
}

export type Difference = {
  [kind in "added" | "removed" | "changed"]: Record<string, unknown[]>;
};

export interface FaultRule {
  id: string;
  match: Record<string, unknown>;
  effect?: Record<string, unknown>;
  sequence?: (string | number)[];
  times?: number;
  every?: number;
  probability?: number;
  phase?: "before" | "after";
  lease?: { ttl?: string; hits?: number };
  hits: number;
}

export interface ScenarioState {
  name: string;
  description?: string;
  active: boolean;
  [field: string]: unknown;
}

export interface JournalFilter {
  operation?: string;
  status?: number | string;
  code?: string;
  method?: string;
  path?: string;
  since?: string;
  limit?: number;
}

export interface JournalEntry {
  id: string;
  at: string;
  operation: string | null;
  method: string;
  path: string;
  status: number;
  code: string | null;
  duration_ms: number;
  principal: string | null;
  decision: string;
  /** Which rule struck and what it drew, or which came nearest and why it did not match. */
  reasons: string[];
  request: Record<string, unknown>;
  response: Record<string, unknown>;
  warnings: string[];
  [field: string]: unknown;
}

export interface Verification {
  ok: boolean;
  found: number;
  nearest: Record<string, unknown>[];
}

export type ReceiverAnswer = number | "hang" | "reset" | { status: number; delay?: string };

export interface Receiver {
  id: string;
  url: string;
  [field: string]: unknown;
}

export interface ReceivedRequest {
  at: string;
  method: string;
  headers: Record<string, string>;
  body: string;
  verdict: "valid" | "invalid" | "missing";
  reason: string;
}

export interface CoverageMatrix {
  percent: number;
  operations: Record<string, unknown>[];
  [field: string]: unknown;
}

export type Bundle = Record<string, unknown>;
