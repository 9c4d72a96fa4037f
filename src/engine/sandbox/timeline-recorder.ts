import type { TimerKind } from "../state/clock.ts";
import { type Timer, timers } from "../state/timers.ts";
import type { World } from "../state/world.ts";
import type { Commit } from "../state/world-parts.ts";
import type { History, Provenance } from "./history.ts";
import type {
  ChangeSource,
  Environment,
  HistoryEntry,
  StateRef,
  UploadReferences,
  WorldChange,
} from "./history-entry.ts";
import type { RateWindows } from "./rate-windows.ts";

/** The parts of a sandbox that a state refers to. */
interface RecordedSandbox {
  readonly world: World;
  readonly windows: RateWindows;
  peekUploads(): UploadReferences;
}

/** A record of pending work, and its key `collection\0id`. */
interface Work {
  key: string;
  record: object;
}

/** A commit that belongs to a change. */
interface RecordedCommit extends Pick<Commit, "after" | "writes"> {
  /** The version before it. */
  readonly from: number;
}

const UNKNOWN_PROVENANCE: Provenance = { cause: null, advanced_by: null };

/** Turns the commits of a world into the changes of its timeline. */
export class TimelineRecorder {
  private readonly history: History;
  private readonly sandbox: RecordedSandbox;
  /** The environment of the latest state. */
  private environment: Environment | undefined = undefined;
  /** The origin of pending work by its record; records are immutable, so it stays correct after a restore. */
  private readonly origins = new WeakMap<object, Provenance>();

  constructor(history: History, sandbox: RecordedSandbox) {
    this.history = history;
    this.sandbox = sandbox;
  }

  /** Call this with each commit. */
  readonly recordCommit = (commit: Commit): void => {
    const { before, after, writes, timer, source } = commit;
    const { history } = this;
    const { versions } = history;
    if (history.limit === 0) {
      versions.releaseAll();
      return;
    }
    // A random draw by itself changes no record.
    const isChange = before.tables !== after.tables && (timer ?? source) !== undefined;
    const from = isChange ? versions.keepVersion(before) : 0;
    versions.record(commit);
    if (!isChange) return;
    const change = (source as ChangeSource | undefined)?.change;
    if (timer === undefined) this.recordChange({ from, after, writes }, change!);
    else this.recordTimer({ from, after, writes }, timer, change);
  };

  /** Records a request that has changed only the bytes of half-finished uploads. */
  recordBytes({ change }: ChangeSource): void {
    if (this.history.limit > 0 && change.entry === undefined)
      change.entry = this.add(change, UNKNOWN_PROVENANCE);
  }

  /** Call this at the end of a change, when its title is complete; it may have written no record. */
  complete(change: WorldChange): void {
    if (this.history.limit === 0) return;
    const entry = this.ensureEntry(change);
    entry.complete(change);
    const { states } = entry;
    // A change that has written records ended with its last write.
    if (states !== undefined && states.fromVersion === states.toVersion) {
      states.after = this.getState();
      states.endPosition = this.history.lastSequence;
      if (change.kind === "restore") {
        states.fromVersion = states.before.version;
        states.toVersion = states.after.version;
        states.written = undefined;
      }
    }
    this.history.touch(entry);
  }

  /** Call this after a rewind. @param parent position of the entry whose state was restored */
  recordRewind(change: WorldChange, parent: number): void {
    if (this.history.limit === 0) return;
    const before = change.began!.state;
    const after = this.getState();
    const states = {
      before,
      after,
      fromVersion: before.version,
      toVersion: after.version,
      written: undefined,
    };
    change.entry = this.history.add(change, UNKNOWN_PROVENANCE, states, parent);
    this.history.markUndone();
  }

  /** @param now the clock's instant, now or at the latest change */
  getState(now = this.sandbox.world.epochNow()): StateRef {
    const { world, windows } = this.sandbox;
    return {
      version: this.history.versions.keepVersion(world.root),
      environment: this.getEnvironment(),
      now,
      requests: world.requests,
      windows: windows.table,
      counted: undefined,
    };
  }

  private getEnvironment(): Environment {
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
      this.recordRestoredLeases(commit);
      return;
    }
    const { writes } = commit;
    let { entry } = change;
    // Another commit of the same change, with no other change in between.
    if (entry?.sequence === this.history.lastSequence && entry.states?.toVersion === commit.from)
      this.history.extend(entry, this.getState(this.sandbox.world.changedAt), writes);
    else {
      const provenance =
        entry === undefined ? this.findProvenance(change) : { cause: entry.id, advanced_by: null };
      entry = this.add(change, provenance, commit);
      change.entry ??= entry;
    }
    entry.setSubject(writes, change.pathIds);
    this.recordWork(commit, entry);
  }

  private recordTimer(commit: RecordedCommit, timer: Timer, advance: WorldChange | undefined): void {
    const provenance = this.origins.get(timer) ?? this.findSavedProvenance(`${timers.name}\0${timer.id}`);
    const { origin, instantBeforeStep, changedAt } = this.sandbox.world;
    // An instant before the timer is due, so that a rewind to the state before it leaves the timer pending.
    const now = Math.min(instantBeforeStep, origin + timer.due - 1, changedAt);
    const advanced_by = advance === undefined ? null : this.ensureEntry(advance, commit.from).id;
    const state = { ...this.getState(now), version: commit.from };
    const start = { state, position: this.history.lastSequence };
    const timerProvenance = { cause: provenance.cause, advanced_by, start };
    // The resulting attempt has its own entry.
    if (timer.kind === "webhook.retry") {
      this.inheritOrigin(commit, timerProvenance);
      return;
    }
    const { kind, subject } = timer;
    const entry = this.add(
      { kind: "timer", title: TIMER_TITLES[kind](subject), subject },
      timerProvenance,
      commit,
    );
    this.recordWork(commit, entry, { timer, origin: provenance });
  }

  /** Links the work that a commit created to its entry. */
  private recordWork(
    commit: RecordedCommit,
    entry: HistoryEntry,
    fired?: { timer: Timer; origin: Provenance },
  ): void {
    for (const { key, record } of this.listNewWork(commit)) {
      // A timer that sets itself again keeps its origin.
      const isRepeated = fired !== undefined && key === `${timers.name}\0${fired.timer.id}`;
      this.origins.set(record, isRepeated ? fired.origin : { cause: entry.id, advanced_by: null });
      if (!isRepeated) entry.pendingWork = [...entry.pendingWork, key];
    }
  }

  /** Passes the origin of a timer on to the work that the timer has created. */
  private inheritOrigin(commit: RecordedCommit, provenance: Provenance): void {
    for (const { key, record } of this.listNewWork(commit)) {
      this.origins.set(record, provenance);
      const creator = provenance.cause === null ? undefined : this.history.find(provenance.cause);
      if (creator !== undefined) creator.pendingWork = [...creator.pendingWork, key];
    }
  }

  /** Records the origin of lease timers after a restore, which replaces the timers while the leases continue. */
  private recordRestoredLeases(commit: RecordedCommit): void {
    for (const { key, record } of this.listNewWork(commit))
      this.origins.set(record, { cause: this.history.findCreator(key), advanced_by: null });
  }

  private listNewWork({ after, writes }: RecordedCommit): Work[] {
    const newWork: Work[] = [];
    for (const { collection, id } of writes) {
      if (!collection.describesLaterWork) continue;
      const record: object | undefined = after.tables.get(collection.name)!.get(id);
      if (record !== undefined && !this.origins.has(record))
        newWork.push({ key: `${collection.name}\0${id}`, record });
    }
    return newWork;
  }

  private findProvenance({ work }: WorldChange): Provenance {
    if (work === undefined) return UNKNOWN_PROVENANCE;
    return this.origins.get(work.record) ?? this.findSavedProvenance(work.key);
  }

  private findSavedProvenance(key: string): Provenance {
    const cause = this.history.findSavedCreator(key);
    return cause === null ? UNKNOWN_PROVENANCE : { cause, advanced_by: null };
  }

  /** The entry of a change, created when the change ends or first runs a timer. `from`: the version before that timer. */
  private ensureEntry(change: WorldChange, from?: number): HistoryEntry {
    if (change.entry !== undefined) return change.entry;
    const { state, position } = change.began ?? {};
    const hasNoEntrySince = position === this.history.lastSequence;
    const entry = this.add(change, UNKNOWN_PROVENANCE);
    const { states } = entry;
    if (states !== undefined)
      states.before = hasNoEntrySince ? state! : { ...states.before, version: from ?? states.before.version };
    change.entry = entry;
    return entry;
  }

  private add(change: WorldChange, provenance: Provenance, commit?: RecordedCommit): HistoryEntry {
    const after = this.getState(commit && this.sandbox.world.changedAt);
    const from = commit?.from ?? after.version;
    const stateBefore = {
      ...after,
      version: from,
      ...(change.request && toStateBeforeRequest(change.request, after)),
    };
    const { start } = provenance;
    // A long attempt may have begun before the oldest state that is stored.
    const isStored = start !== undefined && this.history.versions.has(start.state.version);
    const before = isStored ? start.state : stateBefore;
    const written = commit?.writes ?? [];
    const states = { before, after, fromVersion: from, toVersion: after.version, written };
    return this.history.add(change, isStored ? provenance : { ...provenance, start: undefined }, states);
  }
}

/** The parts of the state that a request changes before its commit. */
function toStateBeforeRequest(
  { number, counted, upload }: NonNullable<WorldChange["request"]>,
  { environment }: StateRef,
): Partial<StateRef> {
  if (upload === undefined) return { requests: number, counted };
  const uploads = new Map(environment.uploads);
  if (upload.before === undefined) uploads.delete(upload.id);
  else uploads.set(upload.id, upload.before);
  return { requests: number, counted, environment: { ...environment, uploads } };
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
