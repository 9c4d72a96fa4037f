import { platform } from "../platform.ts";
import type { WrittenRecord } from "../state/transaction.ts";
import { UndoLog } from "../state/undo-log.ts";
import {
  type BeforeAfter,
  HistoryEntry,
  type StateRef,
  type StoredEntry,
  type WorldChange,
} from "./history-entry.ts";
import type { Journal } from "./journal.ts";
import { type Timeline, TimelinePart } from "./timeline.ts";

/** Limit for the stored states of one sandbox. */
const MAX_STATE_BYTES = 32 * 1024 * 1024;
/**
 * Estimated bytes of an entry's states: the entry with its references and rate windows, and each written record with
 * its earlier version. `bench history` measures it.
 */
const STATES_BYTES = 1024;
const WRITTEN_BYTES = 512;

/** The origin of a change, as ids of entries. */
export interface Provenance {
  cause: string | null;
  advanced_by: string | null;
  /** The moment just before the timer that began the change, with the timer still pending. */
  start?: { state: StateRef; position: number };
}

type RecordedStates = Omit<BeforeAfter, "versions" | "startPosition" | "endPosition">;

/** A history at one moment, for persistence: its entries, each with its revision. */
export interface HistorySnapshot {
  /** Positions of the next entry and before the first since the last reset; the number of dropped entries. */
  about: { next: number; base: number; dropped: number };
  entries: ReadonlyMap<HistoryEntry, number>;
}

export interface StoredHistory {
  about: HistorySnapshot["about"];
  entries: readonly StoredEntry[];
}

/**
 * The changes of a timeline, in the order in which they happened, within bounds (interfaces.md 10): the oldest entries
 * release their states first, and are dropped later. Listeners are called some time after an entry was added or changed.
 */
export class History extends TimelinePart<"change", HistoryEntry> {
  /** Grows with every entry that is added or changed. */
  revision = 0;
  /** The versions of the world that the states refer to. */
  readonly versions = new UndoLog();
  /** Position before the first entry since the last reset. */
  private base = 0;
  /** The beginning of the ids since the last reset. */
  private idPrefix = "h_";
  /** Position of the newest entry that an earlier server saved; 0 if none did. */
  private lastRestored = 0;
  private stateBytes = 0;
  private isNotifying = false;
  private readonly journal: Pick<Journal, "lastSequence">;

  constructor(limit: number, timeline: Timeline, journal: Pick<Journal, "lastSequence">) {
    super("change", limit, timeline);
    this.journal = journal;
  }

  /** Starts again after a reset; earlier ids are not reused. */
  startAgain(resets: number): void {
    this.idPrefix = toIdPrefix(resets);
    this.base = this.lastSequence;
    this.clear(0);
    this.notify();
  }

  /** @param parent position of the entry whose state it continues from: after a rewind, not the newest */
  add(
    change: WorldChange,
    { cause, advanced_by, start }: Provenance,
    states: RecordedStates,
    parent = this.lastSequence,
  ): HistoryEntry {
    const sequence = this.lastSequence + 1;
    const id = this.idPrefix + (sequence - this.base);
    // A restore may set the clock back, and a later entry of one change continues it: both count from the new time.
    const began = change.kind === "restore" || change.entry !== undefined ? undefined : change.began;
    const at = began?.state.now ?? states.after.now;
    const journal_position = this.journal.lastSequence;
    const context = { id, sequence, at, parent, journal_position, cause, advanced_by };
    const entry = this.timeline.append();
    const startPosition = start?.position ?? sequence - 1;
    const beforeAfter = { versions: this.versions, ...states, startPosition, endPosition: sequence };
    entry.change = new HistoryEntry(entry, context, change, beforeAfter);
    this.lastSequence = sequence;
    this.size += 1;
    this.stateBytes += estimateStateBytes(states);
    this.touch(entry.change);
    this.evictExcess();
    return entry.change;
  }

  /** Adds further records of the same change. @param after the state that it led to */
  extend(entry: HistoryEntry, after: StateRef, written: readonly WrittenRecord[]): void {
    this.stateBytes += written.length * WRITTEN_BYTES;
    entry.extend(after, written);
    this.touch(entry);
  }

  /** Marks as undone the entries that the newest entry's state does not continue from, and unmarks the others. */
  markUndone(): void {
    const entries = new Map(this.entries().map((entry) => [entry.sequence, entry]));
    const currentEntries = new Set<HistoryEntry>();
    let ancestor = entries.get(this.lastSequence);
    for (; ancestor !== undefined; ancestor = entries.get(ancestor.parent)) currentEntries.add(ancestor);
    for (const change of entries.values()) {
      const isUndone = !change.stays && !currentEntries.has(change);
      if (change.timelineEntry.isUndone === isUndone) continue;
      change.timelineEntry.isUndone = isUndone;
      this.touch(change);
    }
  }

  /** Call this after an entry has changed. */
  touch(entry: HistoryEntry): void {
    entry.revision = this.timeline.increaseRevision();
    this.notify();
  }

  get newest(): HistoryEntry | undefined {
    return this.timeline.entries.findLast(({ change }) => change !== undefined)?.change;
  }

  find(id: string): HistoryEntry | undefined {
    return this.entries().findLast((entry) => entry.id === id);
  }

  /** Ids of the causes of an entry, from the nearest up to the first (interfaces.md 10). */
  listCauses(entry: HistoryEntry): string[] {
    const ids = new Set<string>();
    let level: readonly HistoryEntry[] = [entry];
    while (level.length > 0) {
      const above = level.flatMap(({ cause, advanced_by }) => [cause, advanced_by]);
      const newIds = above.filter((id) => id !== null && !ids.has(id)) as string[];
      for (const id of newIds) ids.add(id);
      level = newIds.flatMap((id) => this.find(id) ?? []);
    }
    return [...ids];
  }

  /** Ids of the direct effects of an entry, oldest first. */
  listEffects({ id }: HistoryEntry): string[] {
    const effects = this.entries().filter(({ cause, advanced_by }) => cause === id || advanced_by === id);
    return effects.map((effect) => effect.id);
  }

  /**
   * The id of the newest entry that created this pending work, `collection\0id`, and was not undone.
   * @param newest the position of the newest entry that is searched
   */
  findCreator(key: string, newest = this.lastSequence): string | null {
    const isCreator = ({ sequence, timelineEntry, pendingWork }: HistoryEntry) =>
      sequence <= newest && !timelineEntry.isUndone && pendingWork.includes(key);
    return this.entries().findLast(isCreator)?.id ?? null;
  }

  /** The same among the entries that an earlier server saved; the timeline's recorder knows only the work of this one. */
  findSavedCreator(key: string): string | null {
    return this.lastRestored === 0 ? null : this.findCreator(key, this.lastRestored);
  }

  /** Releases the oldest states until the others take at most `maxBytes`; their entries stay. */
  releaseStates(maxBytes: number): void {
    if (this.stateBytes <= maxBytes) return;
    for (const entry of this.entries()) {
      if (this.stateBytes <= maxBytes) break;
      if (entry.states === undefined) continue;
      this.stateBytes -= estimateStateBytes(entry.states);
      entry.releaseStates();
      this.touch(entry);
    }
    this.releaseVersions();
  }

  toSnapshot(): HistorySnapshot {
    const entries = new Map(this.entries().map((entry) => [entry, entry.revision]));
    return { about: { next: this.lastSequence + 1, base: this.base, dropped: this.dropped }, entries };
  }

  /** Continues a saved history; `restoreStates` adds the states, if they were saved too. */
  restoreSaved({ about: { next, base, dropped }, entries }: StoredHistory, resets: number): void {
    this.idPrefix = toIdPrefix(resets);
    this.base = base;
    this.lastRestored = next - 1;
    this.lastSequence = next - 1;
    this.clear(dropped);
    const bySequence = new Map(entries.map((entry) => [entry.sequence, entry]));
    // Entries before a gap are left out, since they could not be found by their positions.
    let firstWithoutGap = next;
    while (bySequence.has(firstWithoutGap - 1)) firstWithoutGap -= 1;
    for (let sequence = firstWithoutGap; sequence < next; sequence++) {
      const storedEntry = bySequence.get(sequence)!;
      const entry = this.timeline.append(storedEntry.seq);
      entry.change = HistoryEntry.fromStored(entry, storedEntry);
      entry.change.revision = this.timeline.increaseRevision();
      this.size += 1;
    }
    this.evictExcess();
  }

  /** Adds the states of a saved history. @param findStates by the entry's position; undefined if it has none */
  restoreStates(findStates: (sequence: number) => BeforeAfter | undefined): void {
    for (const entry of this.entries()) {
      entry.states = findStates(entry.sequence);
      if (entry.states !== undefined) this.stateBytes += estimateStateBytes(entry.states);
    }
    this.releaseStates(MAX_STATE_BYTES);
  }

  private clear(dropped: number): void {
    this.dropAll(dropped);
    this.versions.releaseAll();
    this.stateBytes = 0;
  }

  protected evictExcess(): void {
    const isOver = this.size > this.limit;
    while (this.size > this.limit) {
      const { states } = this.oldest;
      if (states !== undefined) this.stateBytes -= estimateStateBytes(states);
      this.dropOldest();
    }
    if (isOver) this.releaseVersions();
    this.releaseStates(MAX_STATE_BYTES);
  }

  /** Releases the versions before those of the oldest entry that has states. */
  private releaseVersions(): void {
    // Usually the oldest entry has some, and is found without a search.
    const oldest =
      this.timeline.findOldestWith("change")?.change?.states ??
      this.entries().find(({ states }) => states !== undefined)?.states;
    if (oldest !== undefined) this.versions.release(Math.min(oldest.before.version, oldest.fromVersion));
  }

  /** Calls the listeners once for a burst of changes, in a later turn of the event loop. */
  private notify(): void {
    this.revision += 1;
    if (this.isNotifying || this.listeners.size === 0) return;
    this.isNotifying = true;
    void platform()
      .nextTurn()
      .then(() => {
        this.isNotifying = false;
        this.listeners.notify(undefined);
      });
  }
}

function estimateStateBytes({ written }: RecordedStates): number {
  return STATES_BYTES + (written?.length ?? 0) * WRITTEN_BYTES;
}

/** Each reset has another prefix, so that no id is used twice. */
function toIdPrefix(resets: number): string {
  return resets === 0 ? "h_" : `h_${resets}_`;
}
