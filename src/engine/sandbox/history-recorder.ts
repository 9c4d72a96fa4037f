import type { KeptRoot, RootLine } from "../state/kept-root.ts";
import type { Root } from "../state/root.ts";
import { type Timer, timers } from "../state/timers.ts";
import type { World } from "../state/world.ts";
import type { Commit } from "../state/world-parts.ts";
import { costOf, EntryStates, type KeptFrame, type KeptState } from "./entry-states.ts";
import type { History, Provenance } from "./history.ts";
import { type Act, type Actor, type HistoryEntry, idOf } from "./history-entry.ts";
import { timerAct } from "./history-titles.ts";
import type { RateWindows } from "./rate-windows.ts";

/** What the recorder looks at when it keeps a state. */
export interface Recorded {
  readonly world: World;
  readonly windows: RateWindows;
  /** References to what there is of half-finished uploads. */
  peekUploads(): unknown;
}

/** A record of something that is to be done, and its `collection\0id`. */
interface Work {
  key: string;
  work: object;
}

/** A commit that belongs into the history. */
interface NotedCommit extends Pick<Commit, "after" | "written"> {
  readonly from: KeptRoot;
}

const UNKNOWN: Provenance = { cause: null, advanced_by: null };
const NO_WORK: readonly Work[] = [];

/**
 * Writes the history of a sandbox from what it is told of its commits. It keeps references alone; what is shown
 * of an entry is worked out when somebody asks, so that a request pays next to nothing.
 */
export class HistoryRecorder {
  private readonly history: History;
  private readonly of: Recorded;
  private readonly roots: RootLine;
  /** As it was when a root was kept last. */
  private timesLent = 0;
  /** Of the state that was kept last. */
  private frame: KeptFrame | undefined = undefined;
  /** Whom the work that stands in a root comes from: its records are values, so it holds after a restore too. */
  private readonly makers = new WeakMap<object, Provenance>();

  constructor(history: History, of: Recorded) {
    this.history = history;
    this.roots = history.roots;
    this.of = of;
  }

  /** To be told of each commit. */
  readonly note = (commit: Commit): void => {
    const { before, after, timer, by } = commit;
    if (this.history.limit === 0) {
      this.roots.forget();
      return;
    }
    // A random draw by itself is nothing that anybody could see.
    if (before.tables === after.tables || (timer ?? by) === undefined) {
      this.roots.pass(commit);
      return;
    }
    const act = (by as Actor | undefined)?.act;
    const noted = { from: this.keep(before), after, written: commit.written };
    this.roots.pass(commit);
    if (timer === undefined) this.noteAct(noted, act!);
    else this.noteTimer(noted, timer, act);
  };

  /** A request has changed nothing but the bytes of half-finished uploads. */
  noteBytes({ act }: Actor): void {
    if (this.history.limit > 0 && this.history.nameOf(act) === null) act.entry = this.add(act, UNKNOWN);
  }

  /** An act has ended that changed something, be it besides records; its sentence is complete now. */
  finish(act: Act): void {
    if (this.history.limit === 0) return;
    const entry = this.entryOf(act, this.keep(this.of.world.root));
    entry.settle(act);
    const { states } = entry;
    // What has changed records of its own ended when it had.
    if (states !== undefined && states.from === states.to) {
      states.after = this.ownPresent();
      states.end = this.history.lastSequence;
      if (act.kind === "restore") {
        states.from = states.before.root;
        states.to = states.after.root;
      }
      this.endLineOf(entry);
    }
    this.history.touch(entry);
  }

  /** The sandbox was rewound to what came after the entry at `line`. */
  rewound(act: Act, line: number): void {
    if (this.history.limit === 0) return;
    const state = act.began!.state;
    const present = this.ownPresent();
    const states = new EntryStates(state.root, present, { cost: costOf(0) });
    states.before = state;
    act.entry = this.history.add(act, UNKNOWN, { at: present.now, states, parent: line });
    this.history.settleLine();
  }

  /** The present, for whoever wants to keep it. */
  present(): KeptState {
    const present = this.ownPresent();
    this.roots.forget();
    return present;
  }

  /** @param now what the clock shows, or showed at the latest change */
  private ownPresent(now = this.of.world.epochNow()): KeptState {
    const { world, windows } = this.of;
    return {
      root: this.keep(world.root),
      frame: this.frameOf(world),
      now,
      requests: world.requests,
      windows: windows.counted,
      counted: undefined,
    };
  }

  private keep(root: Root): KeptRoot {
    // Whoever holds an entry must not hold all that follows it.
    const { timesLent } = this.history;
    if (timesLent !== this.timesLent) this.roots.forget();
    this.timesLent = timesLent;
    return this.roots.keep(root);
  }

  /** Whoever holds the entry holds its new root too. */
  private endLineOf(entry: HistoryEntry): void {
    if (this.history.isLent(entry)) this.roots.forget();
  }

  private frameOf({ clock, origin, seed, currentSecretKey: secretKey }: World): KeptFrame {
    const uploads = this.of.peekUploads();
    const { frame } = this;
    const agrees =
      frame?.clock === clock &&
      frame.origin === origin &&
      frame.seed === seed &&
      frame.secretKey === secretKey &&
      frame.uploads === uploads;
    if (!agrees) this.frame = { clock, origin, seed, secretKey, uploads };
    return this.frame!;
  }

  private noteAct(commit: NotedCommit, act: Act): void {
    if (act.kind === "restore") this.noteCarriedOver(commit);
    else if (this.goesOn(act, commit)) this.extend(act, commit);
    else {
      const earlier = this.history.nameOf(act);
      const from = earlier === null ? this.makerOf(act) : { cause: idOf(earlier), advanced_by: null };
      const entry = this.add(act, from, commit);
      if (earlier === null) act.entry = entry;
      entry.choose(commit.written, act.named);
      this.noteWork(commit, entry);
    }
  }

  /** Whether it is another commit of the same act, with none in between. */
  private goesOn(act: Act, { from }: NotedCommit): boolean {
    if (!this.history.isNewest(act)) return false;
    return this.history.entryOf(act)?.states?.to.agreesWith(from) === true;
  }

  private extend(act: Act, commit: NotedCommit): void {
    const entry = this.history.entryOf(act)!;
    entry.extend(this.ownPresent(this.of.world.changedAt));
    this.endLineOf(entry);
    entry.choose(commit.written, act.named);
    this.noteWork(commit, entry);
    this.history.touch(entry);
  }

  private noteTimer(commit: NotedCommit, timer: Timer, advance: Act | undefined): void {
    const maker = this.makers.get(timer) ?? this.revived(`${timers.name}\0${timer.id}`);
    const from = {
      cause: maker.cause,
      advanced_by: advance === undefined ? null : this.entryOf(advance, commit.from).id,
    };
    // The attempt that it leads to tells of it.
    if (timer.kind === "webhook.retry") {
      this.passOn(commit, from);
      return;
    }
    const entry = this.add(timerAct(timer), from, commit);
    entry.choose(commit.written, undefined);
    this.noteWork(commit, entry, { timer, maker });
  }

  /** What an entry leaves to be done. */
  private noteWork(
    commit: NotedCommit,
    entry: HistoryEntry,
    running?: { timer: Timer; maker: Provenance },
  ): void {
    const left = this.newWork(commit);
    if (left.length === 0) return;
    const mine: Provenance = { cause: entry.id, advanced_by: null };
    for (const { key, work } of left) {
      // A timer that sets itself again goes on doing what it was first set for.
      const again = running !== undefined && key === `${timers.name}\0${running.timer.id}`;
      this.makers.set(work, again ? running.maker : mine);
      if (!again) entry.leaves = [...entry.leaves, key];
    }
  }

  /** What is left to be done comes from where the timer came from that has run. */
  private passOn(commit: NotedCommit, from: Provenance): void {
    for (const { key, work } of this.newWork(commit)) {
      this.makers.set(work, from);
      if (from.cause !== null) this.history.leave(from.cause, key);
    }
  }

  /** Leases outlive a restore in timers that are new. */
  private noteCarriedOver(commit: NotedCommit): void {
    for (const { key, work } of this.newWork(commit)) {
      this.makers.set(work, { cause: this.history.leaving(key), advanced_by: null });
    }
  }

  /** Most commits leave nothing to be done. */
  private newWork({ after, written }: NotedCommit): readonly Work[] {
    let found: Work[] | undefined;
    for (const { collection, id } of written) {
      if (!collection.work) continue;
      const work: object | undefined = after.tables.get(collection.name)!.get(id);
      if (work === undefined || this.makers.has(work)) continue;
      found ??= [];
      found.push({ key: `${collection.name}\0${id}`, work });
    }
    return found ?? NO_WORK;
  }

  private makerOf({ work }: Act): Provenance {
    if (work === undefined) return UNKNOWN;
    return this.makers.get(work.record) ?? this.revived(work.key);
  }

  private revived(key: string): Provenance {
    const cause = this.history.revivedLeaving(key);
    return cause === null ? UNKNOWN : { cause, advanced_by: null };
  }

  /** The entry of an act, made now where it has none: something happens because of it. */
  private entryOf(act: Act, root: KeptRoot): HistoryEntry {
    const found = this.history.entryOf(act);
    if (found !== undefined) return found;
    const { state, position } = act.began ?? {};
    const isAsThen = position === this.history.lastSequence;
    const entry = this.add(act, UNKNOWN);
    act.entry = entry;
    const { states } = entry;
    if (states !== undefined) states.before = isAsThen ? state! : { ...states.before, root };
    return entry;
  }

  private add(act: Act, from: Provenance, commit?: NotedCommit): HistoryEntry {
    const after = this.ownPresent(commit && this.of.world.changedAt);
    const begin = commit?.from ?? after.root;
    const by = { cost: costOf(commit?.written.length ?? 0), request: act.request };
    return this.history.add(act, from, { at: after.now, states: new EntryStates(begin, after, by) });
  }
}
