import { isEqual } from "../maps.ts";
import type { Clock } from "../state/clock.ts";
import { drawRequestId, type RequestIdSource } from "../state/random.ts";
import type { Root } from "../state/tables.ts";
import { mergeWrites, type WrittenRecord } from "../state/transaction.ts";
import type { UndoLog } from "../state/undo-log.ts";
import { type ExchangeDetails, readSentCode, type TimelineEntry } from "./journal-entry.ts";
import type { RateWindowTable } from "./rate-windows.ts";

export const HISTORY_KINDS = ["request", "control", "timer", "delivery", "scenario", "restore"] as const;
type HistoryKind = (typeof HISTORY_KINDS)[number];

export interface WorldChange {
  readonly kind: HistoryKind;
  /** The sentence that describes the action. A handler may know it only when the action has ended. */
  title: string;
  /** The id of the action's record; if undefined, it is found among the written records. */
  subject: string | undefined;
  readonly request?: RequestDetails;
  /** Ids in a request's path, outer ones first; the subject may be one of them. */
  readonly pathIds?: Readonly<Record<string, string>>;
  /** The id of the control operation that made it, such as `clock.advance`. */
  readonly operation?: string | undefined;
  /** For a delivery attempt: whether its receiver accepted it. */
  readonly delivered?: boolean;
  /** Whether a rewind keeps the change, as it keeps settings; by default, only for the kind `scenario`: rules and scenarios. */
  readonly stays?: boolean | undefined;
  /** The record of the pending work that the action does; the entry that created it is the cause. `key`: `collection\0id`. */
  readonly work?: { readonly record: object; readonly key: string };
  /** The state when a change that takes time began, and the position of the newest entry then. */
  readonly began?: { readonly state: StateRef; readonly position: number };
  /** Set once the action has changed something. */
  entry?: HistoryEntry | undefined;
}

/** The source of a commit; a commit that changes nothing never reads its `change`. */
export interface ChangeSource {
  readonly change: WorldChange;
}

/** A request that changes a world, and its count in its key's rate window. */
export interface RequestDetails extends RequestIdSource {
  readonly counted: CountedRequest | undefined;
  /** If it sends bytes of a half-finished upload: the upload's id, and the reference to its earlier bytes. */
  readonly upload: { readonly id: string; readonly before: unknown } | undefined;
}

/** One request in a rate window. */
export interface CountedRequest {
  key_id: string;
  /** The window, in minutes since 1970. */
  minute: number;
}

/** Weak references to the bytes of half-finished uploads, by the upload's id; undefined if there are none. */
export type UploadReferences = ReadonlyMap<string, unknown> | undefined;

/** The parts of a state that change rarely, shared by consecutive states. */
export interface Environment {
  readonly clock: Clock;
  /** Milliseconds since 1970; the instants in records are relative to it. */
  readonly origin: number;
  readonly seed: number;
  readonly secretKey: string;
  readonly uploads: UploadReferences;
}

/** A sandbox's state at one moment, by reference. */
export interface StateRef {
  /** Position in the undo log. */
  readonly version: number;
  readonly environment: Environment;
  /** The clock's instant, in milliseconds since 1970. */
  readonly now: number;
  /** How many requests the sandbox has had; the next one's id follows from it. */
  readonly requests: number;
  readonly windows: RateWindowTable;
  /** The request that made the change: the windows count it already, but it does not belong to this state. */
  readonly counted: CountedRequest | undefined;
}

/** The states around a change, while they are stored. */
export interface BeforeAfter {
  readonly versions: Pick<UndoLog, "getRoot">;
  before: StateRef;
  after: StateRef;
  /** Versions around the writes of the change itself: timers that an advance ran have their own entries. */
  fromVersion: number;
  toVersion: number;
  /** Undefined if a restore replaced everything. */
  written: readonly WrittenRecord[] | undefined;
  /** Positions of the newest entries at the moments of `before` and `after`. */
  startPosition: number;
  endPosition: number;
}

/** How many records of a collection were added, removed and changed. */
interface ChangeCounts {
  added: number;
  removed: number;
  changed: number;
}

/** An entry as it is saved: without its states. */
export interface StoredEntry {
  id: string;
  /** The number in the timeline; `sequence` is the position in the history. */
  seq: number;
  sequence: number;
  at: number;
  parent: number;
  /** The `journal_position`; absent if the journal is not saved with the history. */
  journal?: number;
  kind: HistoryKind;
  title: string;
  subject: string | null;
  cause: string | null;
  advanced_by: string | null;
  request: string | null;
  operation?: string | undefined;
  delivered: boolean | null;
  changes: Readonly<Record<string, ChangeCounts>>;
  stays?: boolean;
  undone: boolean;
  /** The entry's `pendingWork`. */
  leaves: readonly string[];
}

type EntryContext = Pick<
  HistoryEntry,
  "id" | "sequence" | "at" | "parent" | "journal_position" | "cause" | "advanced_by"
>;

/** The change part of a timeline's entry: what happened, why, and the world before and after (interfaces.md 10). */
export class HistoryEntry {
  readonly timelineEntry: TimelineEntry;
  /** `h_…`; never repeated in a sandbox. */
  readonly id: string;
  /** Position in the history; grows by one. */
  readonly sequence: number;
  readonly kind: HistoryKind;
  /** Milliseconds since 1970 on the sandbox's clock. */
  readonly at: number;
  /** Position of the entry whose state it continues from; 0 for the initial state. */
  readonly parent: number;
  /** Position of the journal's newest entry at the time of the change; 0 if another server made it. */
  readonly journal_position: number;
  /** Id of the entry that led to it. */
  readonly cause: string | null;
  /** Id of the entry of the advance that made it happen. */
  readonly advanced_by: string | null;
  /** For an attempt to deliver: whether its receiver accepted it. */
  readonly delivered: boolean | null;
  /** Id of its request. */
  readonly request: string | null;
  readonly operation: string | undefined;
  readonly stays: boolean;
  subject: string | null;
  /** Undefined once released, and in a restored entry whose states were not saved. */
  states: BeforeAfter | undefined;
  /** The timeline's revision when it was made or last changed. */
  revision = 0;
  /** Pending work that it created, as `collection\0id`. */
  pendingWork: readonly string[] = [];
  private baseTitle: string;
  private refusal: string | undefined = undefined;
  private counts: Readonly<Record<string, ChangeCounts>> | undefined = undefined;

  constructor(
    entry: TimelineEntry,
    context: EntryContext,
    change: WorldChange,
    states: BeforeAfter | undefined,
  ) {
    this.timelineEntry = entry;
    this.id = context.id;
    this.sequence = context.sequence;
    this.at = context.at;
    this.parent = context.parent;
    this.journal_position = context.journal_position;
    this.cause = context.cause;
    this.advanced_by = context.advanced_by;
    this.kind = change.kind;
    this.operation = change.operation;
    this.delivered = change.delivered ?? null;
    this.stays = change.stays ?? change.kind === "scenario";
    this.request =
      change.request === undefined ? null : drawRequestId(change.request.idSeed, change.request.number);
    this.subject = change.subject ?? null;
    this.baseTitle = change.title;
    this.states = states;
  }

  static fromStored(entry: TimelineEntry, stored: StoredEntry): HistoryEntry {
    const { kind, title, subject, operation, stays, request, delivered, changes, undone, leaves } = stored;
    const change = { kind, title, subject: subject ?? undefined, operation, stays };
    const context = { ...stored, journal_position: stored.journal ?? 0 };
    const restored = new HistoryEntry(entry, context, change, undefined);
    Object.assign(restored, { request, delivered, counts: changes, pendingWork: leaves });
    entry.isUndone = undone;
    return restored;
  }

  toJSON(): StoredEntry {
    const { id, sequence, at, parent, kind, title, subject, cause, advanced_by, request, pendingWork } = this;
    const { number: seq, isUndone: undone } = this.timelineEntry;
    return {
      id,
      seq,
      sequence,
      at,
      parent,
      kind,
      title,
      subject,
      cause,
      advanced_by,
      request,
      leaves: pendingWork,
      operation: this.operation,
      delivered: this.delivered,
      changes: this.changes,
      stays: this.stays,
      undone,
    };
  }

  /** Whether the change was made, but its client saw a refusal. */
  get isRefused(): boolean {
    return this.refusal !== undefined;
  }

  get title(): string {
    if (this.refusal === undefined) return this.baseTitle;
    return `${this.baseTitle.slice(0, -1)}; it was done, but answered ${this.refusal}.`;
  }

  /** The number of changed records by collection; counted on first use. */
  get changes(): Readonly<Record<string, ChangeCounts>> {
    this.counts ??= this.states === undefined ? {} : countChanges(this.states);
    return this.counts;
  }

  /**
   * Call this with the answer of its request; its status is 0 if the connection broke. If the client saw a refusal although
   * the change was made, the title says so.
   */
  recordAnswer(answer: Pick<ExchangeDetails, "status" | "code" | "response_body">): void {
    const { status } = answer;
    if (status === 0) this.refusal = "by a broken connection";
    else if (status >= 400) this.refusal = [status, readSentCode(answer)].filter(Boolean).join(" ");
  }

  /** Call this at the end of the change, when its title is complete. */
  complete({ title, subject }: WorldChange): void {
    this.subject = subject ?? this.subject;
    this.baseTitle = title;
  }

  /** Adds further writes of the same change, which led to the state `after`. A restore has none. */
  extend(after: StateRef, written: readonly WrittenRecord[]): void {
    const states = this.states!;
    states.toVersion = after.version;
    states.after = after;
    states.written = [...(states.written ?? []), ...written];
    this.counts = undefined;
  }

  /** Sets the subject, unless there is one: the written record that the request names, else the first one. */
  setSubject(written: readonly WrittenRecord[], pathIds: WorldChange["pathIds"] = {}): void {
    if (this.subject !== null) return;
    const idsInPath = Object.values(pathIds);
    const writtenIds = written.filter(({ collection }) => !collection.internal).map(({ id }) => id);
    this.subject =
      writtenIds.find((id) => idsInPath.includes(id)) ?? writtenIds[0] ?? idsInPath.at(-1) ?? null;
  }

  releaseStates(): void {
    // Counts the changes while there are states.
    void this.changes;
    this.states = undefined;
  }
}

/** The changes by public collection, without collections that did not change. */
function countChanges({
  versions,
  fromVersion,
  toVersion,
  written,
}: BeforeAfter): Record<string, ChangeCounts> {
  if (fromVersion === toVersion) return {};
  const counts: Record<string, ChangeCounts> = {};
  const changed =
    written === undefined
      ? compareRoots(versions.getRoot(fromVersion), versions.getRoot(toVersion))
      : mergeWrites(written);
  for (const { collection, before, after } of changed) {
    if (collection.internal || isEqual(before, after)) continue;
    counts[collection.name] ??= { added: 0, removed: 0, changed: 0 };
    const kind = before === undefined ? "added" : after === undefined ? "removed" : "changed";
    counts[collection.name]![kind] += 1;
  }
  return counts;
}

function* compareRoots(from: Root | undefined, to: Root | undefined): IterableIterator<WrittenRecord> {
  for (const [name, table] of to?.tables ?? []) {
    const tableBefore = from?.tables.get(name);
    // A collection that was declared in between has no earlier records to compare with.
    if (tableBefore === undefined) continue;
    for (const change of tableBefore.listChangesTo(table)) yield { collection: table.collection, ...change };
  }
}
