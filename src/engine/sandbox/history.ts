import { platform } from "../platform.ts";
import type { WrittenRecord } from "../state/transaction.ts";
import { UndoLog } from "../state/undo-log.ts";
import {
  type BeforeAfter,
  type Change,
  HistoryEntry,
  type StateRef,
  type StoredEntry,
} from "./history-entry.ts";
import type { Journal } from "./journal.ts";
import type { Timeline } from "./timeline.ts";

/** Of the states of one sandbox. */
const MAX_STATE_BYTES = 32 * 1024 * 1024;
/**
 * Bytes that an entry's states take, roughly: the entry with its references and rate windows, and each record that was
 * written with what it was before. `bench history` measures it.
 */
const STATES_BYTES = 1024;
const WRITTEN_BYTES = 512;

/** The origin of a change, as ids of entries. */
export interface Provenance {
  cause: string | null;
  advanced_by: string | null;
}

/** A history at one moment, for persistence: its entries, each with its revision. */
export interface HistorySnapshot {
  about: { next: number; base: number; dropped: number };
  entries: ReadonlyMap<HistoryEntry, number>;
}

/** A history as it was saved. */
export interface StoredHistory {
  about: HistorySnapshot["about"];
  entries: readonly StoredEntry[];
}

/**
 * The changes of a timeline, in the order in which they happened, within bounds (interfaces 10): the oldest entries
 * release their states first, and are dropped later.
 */
export class History {
  limit: number;
  size = 0;
  /** Entries lost to the bound since the sandbox began or was reset. */
  dropped = 0;
  /** The position of the newest entry, 0 before the first. */
  lastSequence = 0;
  /** Grows with every entry that is added or changed. */
  revision = 0;
  isClosed = false;
  /** The versions of the world that the states refer to. */
  readonly versions = new UndoLog();
  /** Position before the first entry since the last reset, and what the ids since then begin with. */
  private base = 0;
  private prefix = "h_";
  /** The newest entry that an earlier server saved. */
  private revived = 0;
  private stateBytes = 0;
  private isNotifying = false;
  private readonly timeline: Timeline;
  private readonly journal: Pick<Journal, "lastSequence">;
  private readonly listeners = new Set<() => void>();

  constructor(limit: number, timeline: Timeline, journal: Pick<Journal, "lastSequence">) {
    this.limit = limit;
    this.timeline = timeline;
    this.journal = journal;
  }

  /** After a reset; ids go on differing from those before. */
  begin(resets: number): void {
    this.prefix = prefixFor(resets);
    this.base = this.lastSequence;
    this.clear(0);
    this.notify();
  }

  /**
   * @param at milliseconds since 1970 on the sandbox's clock
   * @param parent the entry whose state it goes on from, by position
   */
  add(
    change: Change,
    from: Provenance,
    { at, states, parent = this.lastSequence }: { at: number; states: BeforeAfter; parent?: number },
  ): HistoryEntry {
    const sequence = this.lastSequence + 1;
    const id = this.prefix + (sequence - this.base);
    const origin = { id, sequence, at, parent, journal: this.journal.lastSequence, ...from };
    const entry = this.timeline.append();
    states.end = sequence;
    entry.change = new HistoryEntry(entry, origin, change, states);
    this.lastSequence = sequence;
    this.size += 1;
    this.stateBytes += stateBytes(states);
    this.touch(entry.change);
    this.evictExcess();
    return entry.change;
  }

  /** The same change has written more, which led to this state. */
  extend(entry: HistoryEntry, after: StateRef, written: readonly WrittenRecord[]): void {
    this.stateBytes += written.length * WRITTEN_BYTES;
    entry.extend(after, written);
    this.touch(entry);
  }

  /** Marks as undone whatever the newest entry's state does not go on from, and takes the mark from all else. */
  markUndone(): void {
    const entries = new Map(this.entries().map((entry) => [entry.sequence, entry]));
    const line = new Set<HistoryEntry>();
    for (let at = entries.get(this.lastSequence); at !== undefined; at = entries.get(at.parent)) line.add(at);
    for (const change of entries.values()) {
      const isUndone = !line.has(change);
      if (change.entry.isUndone === isUndone) continue;
      change.entry.isUndone = isUndone;
      this.touch(change);
    }
  }

  /** An entry has changed. */
  touch(entry: HistoryEntry): void {
    entry.revision = this.timeline.touch();
    this.notify();
  }

  get newest(): HistoryEntry | undefined {
    return this.timeline.entries.findLast(({ change }) => change !== undefined)?.change;
  }

  /** Oldest first. */
  entries(): readonly HistoryEntry[] {
    return this.timeline.entries.flatMap(({ change }) => change ?? []);
  }

  /** Those after a position, oldest first. */
  since(sequence: number): readonly HistoryEntry[] {
    return sequence >= this.lastSequence ? [] : this.entries().filter((entry) => entry.sequence > sequence);
  }

  find(id: string): HistoryEntry | undefined {
    return this.entries().findLast((entry) => entry.id === id);
  }

  /** Ids of what led to an entry, from the nearest up to the first (interfaces 10). */
  listCauses(entry: HistoryEntry): string[] {
    const ids = new Set<string>();
    let level: readonly HistoryEntry[] = [entry];
    while (level.length > 0) {
      const above = level.flatMap(({ cause, advanced_by }) => [cause, advanced_by]);
      const fresh = above.filter((id) => id !== null && !ids.has(id)) as string[];
      for (const id of fresh) ids.add(id);
      level = fresh.flatMap((id) => this.find(id) ?? []);
    }
    return [...ids];
  }

  /** Ids of the direct effects of an entry, oldest first. */
  listEffects({ id }: HistoryEntry): string[] {
    return this.entries().flatMap((effect) =>
      effect.cause === id || effect.advanced_by === id ? [effect.id] : [],
    );
  }

  /** The id of the newest entry that left this work to be done, `collection\0id`, and was not undone. */
  findMaker(key: string): string | null {
    return this.findMakerUpTo(this.lastSequence, key);
  }

  /** The same among the entries that an earlier server saved, whose records are other objects by now. */
  findRevivedMaker(key: string): string | null {
    return this.revived === 0 ? null : this.findMakerUpTo(this.revived, key);
  }

  private findMakerUpTo(newest: number, key: string): string | null {
    const left = ({ sequence, entry, leaves }: HistoryEntry) =>
      sequence <= newest && !entry.isUndone && leaves.includes(key);
    return this.entries().findLast(left)?.id ?? null;
  }

  resize(limit: number): void {
    this.limit = limit;
    this.evictExcess();
  }

  /** Releases the oldest states until the rest take at most so many bytes; their entries stay. */
  releaseStates(maxBytes: number): void {
    if (this.stateBytes <= maxBytes) return;
    for (const entry of this.entries()) {
      if (this.stateBytes <= maxBytes) break;
      if (entry.states === undefined) continue;
      this.forgetStates(entry);
      this.touch(entry);
    }
    this.releaseVersions();
  }

  snapshot(): HistorySnapshot {
    const entries = new Map(this.entries().map((entry) => [entry, entry.revision]));
    return { about: { next: this.lastSequence + 1, base: this.base, dropped: this.dropped }, entries };
  }

  /** Goes on from a history that was saved; its states are gone. */
  revive({ about: { next, base, dropped }, entries }: StoredHistory, resets: number): void {
    this.prefix = prefixFor(resets);
    this.base = base;
    this.revived = next - 1;
    this.lastSequence = next - 1;
    this.clear(dropped);
    const bySequence = new Map(entries.map((entry) => [entry.sequence, entry]));
    // Entries before a gap could not be found by their positions.
    let first = next;
    while (bySequence.has(first - 1)) first -= 1;
    for (let sequence = first; sequence < next; sequence++) {
      const stored = bySequence.get(sequence)!;
      const entry = this.timeline.append(stored.seq ?? sequence);
      entry.change = HistoryEntry.fromStored(entry, stored);
      entry.change.revision = this.timeline.touch();
      this.size += 1;
    }
    this.evictExcess();
  }

  /** Calls back some time after an entry was added or changed, and at the end; returns the way to stop. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.isClosed = true;
    for (const listener of this.listeners) listener();
    this.listeners.clear();
  }

  private clear(dropped: number): void {
    this.timeline.dropAll("change");
    this.versions.releaseAll();
    this.size = 0;
    this.dropped = dropped;
    this.stateBytes = 0;
  }

  private evictExcess(): void {
    if (this.size > this.limit) {
      while (this.size > this.limit) {
        const oldest = this.timeline.oldestWith("change")!;
        this.forgetStates(oldest.change!);
        this.timeline.drop(oldest, "change");
        this.size -= 1;
        this.dropped += 1;
      }
      this.releaseVersions();
    }
    this.releaseStates(MAX_STATE_BYTES);
  }

  private forgetStates(entry: HistoryEntry): void {
    if (entry.states === undefined) return;
    this.stateBytes -= stateBytes(entry.states);
    entry.releaseStates();
  }

  /** Versions before those of the oldest entry that has states. */
  private releaseVersions(): void {
    const oldest =
      this.timeline.oldestWith("change")?.change?.states ??
      this.entries().find(({ states }) => states !== undefined)?.states;
    if (oldest !== undefined) this.versions.release(Math.min(oldest.before.version, oldest.from));
  }

  /** Once for a burst, after its cause was answered. */
  private notify(): void {
    this.revision += 1;
    if (this.isNotifying || this.listeners.size === 0) return;
    this.isNotifying = true;
    void platform()
      .nextTurn()
      .then(() => {
        this.isNotifying = false;
        for (const listener of this.listeners) listener();
      });
  }
}

function stateBytes({ written }: BeforeAfter): number {
  return STATES_BYTES + (written?.length ?? 0) * WRITTEN_BYTES;
}

/** Each reset has its own, so that no id comes twice. */
function prefixFor(resets: number): string {
  return resets === 0 ? "h_" : `h_${resets}_`;
}
