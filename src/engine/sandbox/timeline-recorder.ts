import type { TimerKind } from "../state/clock.ts";
import { type Timer, timers } from "../state/timers.ts";
import type { World } from "../state/world.ts";
import type { Commit } from "../state/world-parts.ts";
import type { History, Provenance } from "./history.ts";
import type { ChangeSource, Environment, HistoryEntry, StateRef, WorldChange } from "./history-entry.ts";
import type { RateWindows } from "./rate-windows.ts";

/** The parts of a sandbox that a state refers to. */
export interface RecordedSandbox {
  readonly world: World;
  readonly windows: RateWindows;
  /** References to half-finished uploads. */
  peekUploads(): unknown;
}

/** A record of work to be done, and its `collection\0id`. */
interface Work {
  key: string;
  record: object;
}

/** A commit that belongs to a change. */
interface RecordedCommit extends Pick<Commit, "after" | "written"> {
  /** The version before it. */
  readonly from: number;
}

const UNKNOWN: Provenance = { cause: null, advanced_by: null };

/** Turns the commits of a world into the changes of its timeline. */
export class TimelineRecorder {
  private readonly history: History;
  private readonly sandbox: RecordedSandbox;
  /** The environment of the latest state. */
  private environment: Environment | undefined = undefined;
  /** The origin of pending work, by its record; records are values, so it stays correct after a restore. */
  private readonly origins = new WeakMap<object, Provenance>();

  constructor(history: History, sandbox: RecordedSandbox) {
    this.history = history;
    this.sandbox = sandbox;
  }

  /** Call this with each commit. */
  readonly recordCommit = (commit: Commit): void => {
    const { before, after, written, timer, source } = commit;
    const { history } = this;
    const { versions } = history;
    if (history.limit === 0) {
      versions.releaseAll();
      return;
    }
    // A random draw by itself changes no record.
    const isChange = before.tables !== after.tables && (timer ?? source) !== undefined;
    const from = isChange ? versions.getVersion(before) : 0;
    versions.record(commit);
    if (!isChange) return;
    const change = (source as ChangeSource | undefined)?.change;
    if (timer === undefined) this.recordChange({ from, after, written }, change!);
    else this.recordTimer({ from, after, written }, timer, change);
  };

  /** Records a request that has changed only the bytes of half-finished uploads. */
  recordBytes({ change }: ChangeSource): void {
    if (this.history.limit > 0 && change.entry === undefined) change.entry = this.add(change, UNKNOWN);
  }

  /** Call this at the end of a change, when its title is complete; it may have written no record. */
  complete(change: WorldChange): void {
    if (this.history.limit === 0) return;
    const entry = this.ensureEntry(change);
    entry.complete(change);
    const { states } = entry;
    // A change that has written records ended with its last write.
    if (states !== undefined && states.from === states.to) {
      states.after = this.present();
      states.end = this.history.lastSequence;
      if (change.kind === "restore") {
        states.from = states.before.version;
        states.to = states.after.version;
        states.written = undefined;
      }
    }
    this.history.touch(entry);
  }

  /** Call this after a rewind to the state after the entry at the position `parent`. */
  recordRewind(change: WorldChange, parent: number): void {
    if (this.history.limit === 0) return;
    const before = change.began!.state;
    const after = this.present();
    const { versions } = this.history;
    const [from, to] = [before.version, after.version];
    const states = { versions, before, after, from, to, written: undefined };
    change.entry = this.history.add(change, UNKNOWN, { at: after.now, states, parent });
    this.history.markUndone();
  }

  /** @param now the clock's instant, now or at the latest change */
  present(now = this.sandbox.world.epochNow()): StateRef {
    const { world, windows } = this.sandbox;
    return {
      version: this.history.versions.getVersion(world.root),
      environment: this.renderEnvironment(),
      now,
      requests: world.requests,
      windows: windows.counted,
      counted: undefined,
    };
  }

  private renderEnvironment(): Environment {
    const { clock, origin, seed, secretKey } = this.sandbox.world;
    const uploads = this.sandbox.peekUploads();
    const latest = this.environment;
    const isSame =
      latest?.clock === clock &&
      latest.origin === origin &&
      latest.seed === seed &&
      latest.secretKey === secretKey &&
      latest.uploads === uploads;
    if (!isSame) this.environment = { clock, origin, seed, secretKey, uploads };
    return this.environment!;
  }

  private recordChange(commit: RecordedCommit, change: WorldChange): void {
    if (change.kind === "restore") {
      this.recordCarriedOver(commit);
      return;
    }
    const { written } = commit;
    const earlier = change.entry;
    let entry = earlier;
    // Another commit of the same change, with no other change in between.
    const continuesEntry =
      earlier?.sequence === this.history.lastSequence && earlier.states?.to === commit.from;
    if (continuesEntry) this.history.extend(earlier, this.present(this.sandbox.world.changedAt), written);
    else {
      const from =
        earlier === undefined ? this.findProvenance(change) : { cause: earlier.id, advanced_by: null };
      entry = this.add(change, from, commit);
      change.entry ??= entry;
    }
    entry!.setSubject(written, change.named);
    this.recordWork(commit, entry!);
  }

  private recordTimer(commit: RecordedCommit, timer: Timer, advance: WorldChange | undefined): void {
    const provenance = this.origins.get(timer) ?? this.findSaved(`${timers.name}\0${timer.id}`);
    const { origin, steppedFrom } = this.sandbox.world;
    const now = Math.min(steppedFrom, origin + timer.due - 1);
    const advanced_by = advance === undefined ? null : this.ensureEntry(advance, commit.from).id;
    const state = { ...this.present(now), version: commit.from };
    const start = { state, position: this.history.lastSequence };
    const from = { cause: provenance.cause, advanced_by, start };
    // The resulting attempt has its own entry.
    if (timer.kind === "webhook.retry") {
      this.inheritOrigin(commit, from);
      return;
    }
    const { kind, subject } = timer;
    const entry = this.add({ kind: "timer", title: TIMER_TITLES[kind](subject), subject }, from, commit);
    this.recordWork(commit, entry, { timer, origin: provenance });
  }

  /** Links the work that a commit created to its entry. */
  private recordWork(
    commit: RecordedCommit,
    entry: HistoryEntry,
    ran?: { timer: Timer; origin: Provenance },
  ): void {
    for (const { key, record } of this.listNewWork(commit)) {
      // A timer that sets itself again keeps its origin.
      const again = ran !== undefined && key === `${timers.name}\0${ran.timer.id}`;
      this.origins.set(record, again ? ran.origin : { cause: entry.id, advanced_by: null });
      if (!again) entry.pendingWork = [...entry.pendingWork, key];
    }
  }

  /** Gives new work that a timer has created the origin of the timer. */
  private inheritOrigin(commit: RecordedCommit, from: Provenance): void {
    for (const { key, record } of this.listNewWork(commit)) {
      this.origins.set(record, from);
      const creator = from.cause === null ? undefined : this.history.find(from.cause);
      if (creator !== undefined) creator.pendingWork = [...creator.pendingWork, key];
    }
  }

  /** Records the origin of lease timers after a restore: it replaces the timers, while the leases continue. */
  private recordCarriedOver(commit: RecordedCommit): void {
    for (const { key, record } of this.listNewWork(commit))
      this.origins.set(record, { cause: this.history.findCreator(key), advanced_by: null });
  }

  private listNewWork({ after, written }: RecordedCommit): Work[] {
    const found: Work[] = [];
    for (const { collection, id } of written) {
      if (!collection.work) continue;
      const record: object | undefined = after.tables.get(collection.name)!.get(id);
      if (record !== undefined && !this.origins.has(record))
        found.push({ key: `${collection.name}\0${id}`, record });
    }
    return found;
  }

  private findProvenance({ work }: WorldChange): Provenance {
    if (work === undefined) return UNKNOWN;
    return this.origins.get(work.record) ?? this.findSaved(work.key);
  }

  private findSaved(key: string): Provenance {
    const cause = this.history.findSavedCreator(key);
    return cause === null ? UNKNOWN : { cause, advanced_by: null };
  }

  /** The entry of a change, created if it has none yet, since it is the cause of another entry. */
  private ensureEntry(change: WorldChange, from?: number): HistoryEntry {
    if (change.entry !== undefined) return change.entry;
    const { state, position } = change.began ?? {};
    const isLatest = position === this.history.lastSequence;
    const entry = this.add(change, UNKNOWN);
    const { states } = entry;
    if (states !== undefined)
      states.before = isLatest ? state! : { ...states.before, version: from ?? states.before.version };
    change.entry = entry;
    return entry;
  }

  private add(change: WorldChange, provenance: Provenance, commit?: RecordedCommit): HistoryEntry {
    const after = this.present(commit && this.sandbox.world.changedAt);
    const from = commit?.from ?? after.version;
    const justBefore = {
      ...after,
      version: from,
      ...(change.request && toStateBeforeRequest(change.request, after)),
    };
    const { versions } = this.history;
    const { start } = provenance;
    // A long attempt may have begun before the oldest state that is stored.
    const isStored = start !== undefined && versions.has(start.state.version);
    const before = isStored ? start.state : justBefore;
    const written = commit?.written ?? [];
    const states = { versions, before, after, from, to: after.version, written };
    const { cause, advanced_by } = provenance;
    const origin = isStored ? provenance : { cause, advanced_by };
    return this.history.add(change, origin, { at: after.now, states });
  }
}

/** The parts of the state that a request changes before its commit. */
function toStateBeforeRequest(
  { number, counted, uploads }: NonNullable<WorldChange["request"]>,
  { environment }: StateRef,
): Partial<StateRef> {
  return {
    requests: number,
    counted,
    ...(uploads !== undefined && { environment: { ...environment, uploads: uploads.seen } }),
  };
}

const TIMER_TITLES: Record<TimerKind, (subject: string) => string> = {
  "webhook.retry": (subject) => `The retry of ${subject} became due.`,
  "file.step": (subject) => `A step of processing ${subject} ended.`,
  "connector.job": (subject) => `The connector job ${subject} ended.`,
  "transcription.step": (subject) => `The transcription ${subject} was completed.`,
  "meeting.line": (subject) => `A participant spoke in ${subject}.`,
  invoice: (subject) => `${subject} was due to be invoiced or paid.`,
  expiry: (subject) => `${subject} expired.`,
  // The name of a stage has a slash; the id of a rule has none.
  lease: (subject) =>
    subject.includes("/") ? `The stage ${subject} ended.` : `The lease of the rule ${subject} ended.`,
};
