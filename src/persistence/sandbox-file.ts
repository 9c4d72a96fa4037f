import type { Settings } from "../contract/settings.ts";
import type { FaultState } from "../sandbox/fault-gate.ts";
import type { RateWindows } from "../sandbox/rate-windows.ts";
import type { SandboxValue } from "../sandbox/sandbox.ts";
import type { Root } from "../state/root.ts";
import type { AnyTable } from "../state/table.ts";
import type { WorldValue } from "../state/world.ts";
import type { WorldDocument } from "../state/world-document.ts";
import { PersistenceError } from "./persistence-error.ts";

export const FORMAT = "understudy-sandbox";
export const VERSION = 1;
const RECORDS_A_PIECE = 100;

/** What is kept of a sandbox besides its worlds. */
export interface SavedHeader {
  name: string;
  created_at: number;
  fixture: { name: string; document: object };
  seed: number;
  settings: Settings;
  resets: number;
  /** The first instant of its first day, which a frozen clock goes back to. */
  start: number;
  scenarios: readonly string[];
  faults: FaultState | undefined;
  /** Wall instant at which the clock showed what the world says. */
  wall: number;
}

/** A sandbox on its way to disk; a value, so that it can be written while requests go on. */
export interface SandboxToSave {
  header: SavedHeader;
  /** Logs of this generation and later hold what changed since. */
  generation: number;
  base: Root;
  present: SandboxValue;
  snapshots: ReadonlyMap<string, SandboxValue>;
}

export interface SavedSandbox {
  format: string;
  version: number;
  generation: number;
  header: SavedHeader;
  present: SavedValue;
  snapshots: Record<string, SavedValue>;
}

export interface SavedValue {
  taken_at: number;
  windows: ReturnType<RateWindows["toJSON"]>;
  blobs?: unknown;
  world: WorldDocument;
}

/** @throws PersistenceError for a file of a newer version, or of something else */
export function parseSandbox(text: string, file: string): SavedSandbox {
  const saved = JSON.parse(text) as SavedSandbox;
  if (saved.format !== FORMAT) throw new PersistenceError(`${file} is no sandbox that Understudy kept.`);
  if (saved.version > VERSION) {
    throw new PersistenceError(
      `${file} was written by a newer Understudy (format ${saved.version}, this one knows ${VERSION}). Update Understudy, or choose another folder with --persist.`,
    );
  }
  return saved;
}

/**
 * The file's text in pieces small enough to be made between two requests. Tables are written as their
 * difference from the fixture's, so that what nobody touched costs nothing.
 */
export function* sandboxPieces(
  sandbox: SandboxToSave,
  blobs: ReadonlyMap<SandboxValue, unknown>,
): IterableIterator<string> {
  const { header, generation, base, present, snapshots } = sandbox;
  yield `{"format":${JSON.stringify(FORMAT)},"version":${VERSION},"generation":${generation},"header":${JSON.stringify(header)},"present":`;
  yield* valuePieces(present, base, blobs.get(present));
  yield `,"snapshots":{`;
  let first = true;
  for (const [name, value] of snapshots) {
    yield `${first ? "" : ","}${JSON.stringify(name)}:`;
    yield* valuePieces(value, base, blobs.get(value));
    first = false;
  }
  yield "}}";
}

function* valuePieces(value: SandboxValue, base: Root, blobs: unknown): IterableIterator<string> {
  const { taken_at, windows } = value;
  yield `{"taken_at":${taken_at},"windows":${JSON.stringify(windows)},${blobs === undefined ? "" : `"blobs":${JSON.stringify(blobs)},`}"world":`;
  yield* worldPieces(value.world, base);
  yield "}";
}

function* worldPieces(world: WorldValue, base: Root): IterableIterator<string> {
  const { root, clock, origin, requests, seed, secretKey } = world;
  const facts = {
    seed,
    secret_key: secretKey,
    origin,
    clock: { mode: clock.mode, now: clock.at, rate: clock.rate },
    requests,
    draws: root.draws,
  };
  yield `${JSON.stringify(facts).slice(0, -1)},"tables":{`;
  let first = true;
  for (const [name, table] of root.tables) {
    const from = base.tables.get(name);
    if (from === table) continue;
    yield `${first ? "" : ","}${JSON.stringify(name)}:`;
    yield* tablePieces(table, from);
    first = false;
  }
  yield "}}";
}

function* tablePieces(table: AnyTable, from: AnyTable | undefined): IterableIterator<string> {
  if (from === undefined) {
    yield* listPieces("records", table.all());
    yield "}";
    return;
  }
  const removed: string[] = [];
  yield* listPieces("put", changed(from, table, removed));
  yield `,"removed":${JSON.stringify(removed)}}`;
}

function* changed(from: AnyTable, table: AnyTable, removed: string[]): IterableIterator<unknown> {
  for (const { id, after } of from.changesTo(table)) {
    if (after === undefined) removed.push(id);
    else yield after;
  }
}

function* listPieces(field: string, records: Iterable<unknown>): IterableIterator<string> {
  yield `{"${field}":[`;
  let piece: string[] = [];
  let first = true;
  for (const record of records) {
    piece.push(JSON.stringify(record));
    if (piece.length < RECORDS_A_PIECE) continue;
    yield (first ? "" : ",") + piece.join(",");
    first = false;
    piece = [];
  }
  if (piece.length > 0) yield (first ? "" : ",") + piece.join(",");
  yield "]";
}
