import type { Root } from "../state/root.ts";
import type { Timer } from "../state/timers.ts";
import type { World } from "../state/world.ts";
import type { Commit } from "../state/world-parts.ts";
import { type Act, type Actor, countChanges, HistoryEntry, type KeptState } from "./history-entry.ts";
import { timerAct } from "./history-titles.ts";
import type { RateWindows } from "./rate-windows.ts";

/** Of all kept states of a sandbox, as they are estimated. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;
const STATE_BYTES = 2048;
const WRITTEN_BYTES = 1024;

/** What the history looks at when it keeps a state. */
export interface Remembered {
  readonly world: World;
  readonly windows: RateWindows;
  /** References to what there is of half-finished uploads. */
  glanceAtUploads(): unknown;
}

/** Where something that is to be done comes from. */
interface Provenance {
  cause: string | null;
  advanced_by: string | null;
}

const UNKNOWN: Provenance = { cause: null, advanced_by: null };

/**
 * What changed a sandbox's world, in the order in which it happened, with the state before and after by
 * reference (interfaces 10). What is shown of an entry is worked out when somebody asks, so that a request pays
 * for references alone.
 */
export class History {
  private ring: HistoryEntry[] = [];
  private first = 1;
  private next = 1;
  /** Position before the first entry of this epoch, and what its ids begin with. */
  private base = 0;
  private prefix = "h_";
  private lost = 0;
  private bytes = 0;
  /** The oldest entry whose states are kept. */
  private oldestKept = 1;
  private closed = false;
  /** Who made the work that stands in a root; the records are values, so it holds after a restore too. */
  private readonly makers = new WeakMap<object, Provenance>();
  private readonly listeners = new Set<() => void>();
  private isTelling = false;
  private readonly of: Remembered;
  limit: number;

  constructor(of: Remembered, limit: number) {
    this.of = of;
    this.limit = limit;
  }

  /** A new first day; ids go on differing from those before. */
  begin(resets: number): void {
    this.prefix = resets === 0 ? "h_" : `h_${resets}_`;
    this.base = this.next - 1;
    this.first = this.next;
    this.oldestKept = this.next;
    this.ring = [];
    this.lost = 0;
    this.bytes = 0;
    this.tell();
  }

  /** To be told of each commit. */
  readonly note = (commit: Commit): void => {
    if (this.limit === 0) return;
    const { timer } = commit;
    if (timer !== undefined) this.noteTimer(commit, timer);
    else if (commit.by !== undefined) this.noteAct(commit, (commit.by as Actor).act);
  };

  private noteAct(commit: Commit, act: Act): void {
    const known = act.entry;
    // A restore is told as a whole; see `restored`.
    if (act.kind === "restore") return;
    let entry: HistoryEntry;
    if (known?.states !== undefined && known.states.to === commit.before) {
      known.states.to = commit.after;
      known.states.after = this.present(commit.after);
      known.states.end = this.lastSequence;
      known.counts = undefined;
      entry = known;
    } else {
      const from: Provenance =
        known !== undefined
          ? { cause: known.id, advanced_by: null }
          : act.work === undefined
            ? UNKNOWN
            : (this.makers.get(act.work) ?? UNKNOWN);
      entry = this.add(act, from, commit);
      act.entry ??= entry;
    }
    this.noteWritten(commit, { cause: entry.id, advanced_by: null }, entry);
  }

  /** A request has changed nothing but the bytes of half-finished uploads. */
  noteBytes({ act }: Actor): void {
    if (this.limit > 0) act.entry ??= this.add(act, UNKNOWN, undefined);
  }

  private noteTimer(commit: Commit, timer: Timer): void {
    const from = this.makers.get(timer) ?? UNKNOWN;
    const advance = (commit.by as Actor | undefined)?.act;
    const made: Provenance = {
      cause: from.cause,
      advanced_by: advance === undefined ? null : this.entryOf(advance, commit.before).id,
    };
    // The attempt that it leads to tells of it.
    if (timer.kind === "webhook.retry") {
      this.noteWritten(commit, made, undefined);
      return;
    }
    const entry = this.add(timerAct(timer), made, commit);
    this.noteWritten(commit, { cause: entry.id, advanced_by: null }, entry, timer);
  }

  /** What was stored to be done later, and whom the entry is about. */
  private noteWritten(
    { after, touched }: Commit,
    maker: Provenance,
    entry: HistoryEntry | undefined,
    timer?: Timer,
  ): void {
    let subject: string | null = null;
    const leaves: string[] = [];
    for (const key of touched) {
      const at = key.indexOf("\0");
      const id = key.slice(at + 1);
      if (!key.startsWith("_")) {
        subject ??= id;
        continue;
      }
      const table = after.tables.get(key.slice(0, at));
      if (!table?.collection.work) continue;
      const work = table.get(id);
      if (work === undefined || this.makers.has(work)) continue;
      // A timer that sets itself again goes on doing what it was first set for.
      this.makers.set(
        work,
        timer !== undefined && id === timer.id ? (this.makers.get(timer) ?? maker) : maker,
      );
      leaves.push(key);
    }
    if (entry === undefined) return;
    entry.subject ??= subject;
    if (leaves.length > 0) entry.leaves = leaves;
  }

  /** The entry of an act, made now where it has none: something happens because of it. */
  private entryOf(act: Act, root: Root): HistoryEntry {
    if (act.entry === undefined) {
      const { state, position } = act.began ?? {};
      act.entry = this.add(act, UNKNOWN, undefined);
      act.entry.states!.before =
        position === act.entry.sequence - 1 ? state! : { ...act.entry.states!.before, root };
    }
    return act.entry;
  }

  /** An act has ended that changed something, be it besides records; its sentence is complete now. */
  finish(act: Act): void {
    if (this.limit === 0) return;
    const entry = this.entryOf(act, this.of.world.root);
    entry.subject = act.subject ?? entry.subject;
    const { states } = entry;
    // What has changed records of its own ended when it had.
    if (states !== undefined && states.from === states.to) {
      states.after = this.present();
      states.end = this.lastSequence;
      if (act.kind === "restore") {
        states.from = states.before.root;
        states.to = states.after.root;
      }
    }
    this.touch(entry);
  }

  /** The sandbox was rewound to what came after `line`: what leads there holds, all else is undone. */
  rewound(act: Act, line: number): void {
    if (this.limit === 0) return;
    const entry = this.add(act, UNKNOWN, undefined, line);
    entry.states!.before = act.began!.state;
    act.entry = entry;
    const onLine = new Set<number>();
    for (let at = entry.sequence; at >= this.first && at > 0; at = this.at(at)?.parent ?? 0) onLine.add(at);
    for (const one of this.entries()) {
      const isUndone = !onLine.has(one.sequence);
      if (one.isUndone === isUndone) continue;
      one.isUndone = isUndone;
      this.touch(one);
    }
  }

  /** The present as an entry keeps it. */
  present(root: Root = this.of.world.root): KeptState {
    const { world, windows } = this.of;
    return {
      root,
      clock: world.clock,
      now: world.epochNow(),
      origin: world.origin,
      seed: world.seed,
      secretKey: world.currentSecretKey,
      requests: world.requests,
      windows: windows.copy(),
      counted: undefined,
      uploads: this.of.glanceAtUploads(),
    };
  }

  get size(): number {
    return this.next - this.first;
  }

  /** Entries lost to the bound since the sandbox began or was reset. */
  get dropped(): number {
    return this.lost;
  }

  get lastSequence(): number {
    return this.next - 1;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** Oldest first. */
  entries(): readonly HistoryEntry[] {
    return this.ring.slice(this.ring.length - this.size);
  }

  /** Those after a position, oldest first. */
  since(sequence: number): readonly HistoryEntry[] {
    const newer = Math.min(this.size, this.lastSequence - sequence);
    return newer <= 0 ? [] : this.ring.slice(this.ring.length - newer);
  }

  at(sequence: number): HistoryEntry | undefined {
    if (sequence < this.first || sequence >= this.next) return undefined;
    return this.ring[this.ring.length - (this.next - sequence)];
  }

  find(id: string): HistoryEntry | undefined {
    const found = id.startsWith(this.prefix)
      ? this.at(this.base + Number(id.slice(this.prefix.length)))
      : undefined;
    return found?.id === id ? found : undefined;
  }

  /** Ids from the nearest up to the first. */
  causesOf(entry: HistoryEntry): string[] {
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

  /** Ids of what it led to at once, oldest first. */
  effectsOf({ id }: HistoryEntry): string[] {
    return this.entries()
      .filter(({ cause, advanced_by }) => cause === id || advanced_by === id)
      .map((effect) => effect.id);
  }

  countsOf(entry: HistoryEntry) {
    if (entry.counts === undefined) {
      const { states } = entry;
      entry.counts = states === undefined ? {} : countChanges(states.from, states.to);
    }
    return entry.counts;
  }

  resize(limit: number): void {
    this.limit = limit;
    this.keepWithin();
  }

  /** Calls back some time after there is something new, and at the end; returns the way to stop. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.closed = true;
    for (const listener of this.listeners) listener();
    this.listeners.clear();
  }

  private add(
    act: Act,
    { cause, advanced_by }: Provenance,
    commit: Commit | undefined,
    parent = this.lastSequence,
  ): HistoryEntry {
    const { request } = act;
    const sequence = this.next++;
    const after = this.present();
    const from = commit?.before ?? after.root;
    const before =
      request === undefined
        ? { ...after, root: from }
        : {
            ...after,
            root: from,
            requests: request.number,
            counted: request.counted,
            uploads: request.uploads === undefined ? after.uploads : request.uploads.seen,
          };
    const cost = STATE_BYTES + (commit?.touched.size ?? 0) * WRITTEN_BYTES;
    const place = {
      id: this.prefix + (sequence - this.base),
      sequence,
      at: after.now,
      parent,
      cause,
      advanced_by,
    };
    const entry = new HistoryEntry(place, act, { before, after, from, to: after.root, end: sequence, cost });
    this.ring.push(entry);
    this.bytes += cost;
    this.keepWithin();
    this.tell();
    return entry;
  }

  private touch(entry: HistoryEntry): void {
    entry.revision += 1;
    this.tell();
  }

  private keepWithin(): void {
    while (this.size > this.limit) this.drop();
    this.letGoOf(MAX_KEPT_BYTES);
  }

  /** Lets the oldest states go until the rest hold no more than so many bytes; their entries stay. */
  letGoOf(bytes: number): void {
    while (this.bytes > bytes && this.oldestKept < this.next) {
      const entry = this.at(this.oldestKept++);
      if (entry?.states === undefined) continue;
      this.countsOf(entry);
      this.bytes -= entry.states.cost;
      entry.states = undefined;
      entry.revision += 1;
    }
  }

  private drop(): void {
    const at = this.ring.length - this.size;
    this.bytes -= this.ring[at]!.states?.cost ?? 0;
    this.ring[at] = undefined as unknown as HistoryEntry;
    this.first += 1;
    this.lost += 1;
    if (this.oldestKept < this.first) this.oldestKept = this.first;
    if (at > 64 && at * 2 > this.ring.length) this.ring = this.ring.slice(at + 1);
  }

  /** Once for a burst, when what began it has been answered. */
  private tell(): void {
    if (this.isTelling || this.listeners.size === 0) return;
    this.isTelling = true;
    setImmediate(() => {
      this.isTelling = false;
      for (const listener of this.listeners) listener();
    });
  }
}
