import type { KeptWrite } from "../state/flat-writes.ts";
import type { KeptRoot } from "../state/kept-root.ts";
import { drawRequestId, type RequestDraw } from "../state/random.ts";
import type { Root } from "../state/root.ts";
import type { WrittenRecord } from "../state/transaction.ts";
import type { ActingRequest, EntryStates, KeptState } from "./entry-states.ts";
import { type AskedRequest, requestTitle } from "./request-title.ts";

export const HISTORY_KINDS = ["request", "control", "timer", "delivery", "scenario", "restore"] as const;
export type HistoryKind = (typeof HISTORY_KINDS)[number];

/** Something that changes a world, as whoever does it tells of it. */
export interface Act {
  readonly kind: HistoryKind;
  /** What happened, in a sentence; read when somebody asks. */
  readonly title: string;
  /** The record it is about; undefined: told by what it changes. */
  readonly subject: string | undefined;
  readonly request?: ActingRequest;
  /** Ids that a request names, outer ones first; the record it is about may be one of them. */
  readonly named?: Readonly<Record<string, string>>;
  /** Of an attempt to deliver: whether its receiver took it. */
  readonly delivered?: boolean;
  /** The record of the work that is done, whose maker is the cause; `key` is `collection\0id`. */
  readonly work?: { readonly record: object; readonly key: string };
  /** How the world was when it began, and the newest entry then; for what takes its time. */
  readonly began?: { readonly state: KeptState; readonly position: number };
  /** Set once there is one. */
  entry?: HistoryEntry | undefined;
}

/** Who changes a world; the act is asked for when something has really changed. */
export interface Actor {
  readonly act: Act;
}

/** How many records of a collection were added, removed and changed. */
export interface ChangeCounts {
  added: number;
  removed: number;
  changed: number;
}

/** What an entry's id is put together of when somebody asks: as a text it would be one more object for each request. */
export interface EntryName {
  /** `h_` or `h_N_`, as the days of a sandbox have it. */
  readonly prefix: string;
  /** Position in its day, from 1. */
  readonly number: number;
}

/** An entry as it is written down: its story, without its states. */
export interface StoredEntry {
  id: string;
  sequence: number;
  at: number;
  parent: number;
  kind: HistoryKind;
  title: string;
  subject: string | null;
  cause: string | null;
  advanced_by: string | null;
  request: string | null;
  /** Absent where an earlier version wrote it down. */
  delivered?: boolean | null;
  changes: Readonly<Record<string, ChangeCounts>>;
  undone: boolean;
  leaves: readonly string[];
}

interface Place extends Pick<StoredEntry, "sequence" | "at" | "parent" | "cause" | "advanced_by">, EntryName {
  journal: number;
  seq: number;
}

/** A change of a sandbox's world: what did it, why, and the world before and after (interfaces 10). */
export class HistoryEntry implements EntryName {
  readonly prefix: string;
  readonly number: number;
  /** Number in the sandbox's timeline, which the journal shows too; never given twice. */
  readonly seq: number;
  /** Position since the sandbox began; grows by one. */
  readonly sequence: number;
  readonly kind: HistoryKind;
  /** Milliseconds since 1970 on the sandbox's clock. */
  readonly at: number;
  /** The entry whose state it goes on from, by position; 0 for the first day. */
  readonly parent: number;
  /** Position of the newest entry of the journal when it was made; 0 where that was another server's. */
  readonly journal: number;
  /** Id of the entry that led to it. */
  readonly cause: string | null;
  /** Id of the entry whose advance made it happen now. */
  readonly advanced_by: string | null;
  /** Of an attempt to deliver: whether its receiver took it. */
  readonly delivered: boolean | null;
  subject: string | null;
  /** Undefined once they were let go. */
  states: EntryStates | undefined;
  /** Position of its request in the journal, once that was answered. */
  journaled: number | undefined = undefined;
  /** Grows with whatever becomes of it after it was made. */
  revision = 0;
  /** Whether the sandbox was rewound to before it. */
  isUndone = false;
  /** The work that it left to be done, as `collection\0id`. */
  leaves: readonly string[] = [];
  /** What tells of it, where that is no request. */
  private told: Pick<Act, "title"> | undefined = undefined;
  /** Without what a request holds of the world. */
  private readonly asked: (RequestDraw & AskedRequest) | undefined = undefined;
  /** Id of a request that an earlier server answered. */
  private earlierRequest: string | null = null;
  private refusal: string | undefined = undefined;
  private counts: Readonly<Record<string, ChangeCounts>> | undefined = undefined;

  constructor(place: Place, act: Act, states: EntryStates | undefined) {
    this.prefix = place.prefix;
    this.number = place.number;
    this.seq = place.seq;
    this.sequence = place.sequence;
    this.at = place.at;
    this.parent = place.parent;
    this.journal = place.journal;
    this.cause = place.cause;
    this.advanced_by = place.advanced_by;
    this.kind = act.kind;
    this.delivered = act.delivered ?? null;
    this.subject = act.subject ?? null;
    this.states = states;
    if (act.request === undefined) this.told = act;
    else {
      const { idSeed, number, summary, principal } = act.request;
      this.asked = { idSeed, number, summary, principal };
    }
  }

  static from(stored: StoredEntry): HistoryEntry {
    const { kind, title, subject, request, delivered, changes, undone, leaves } = stored;
    const act = {
      ...{ kind, title, subject: subject ?? undefined },
      ...(typeof delivered === "boolean" && { delivered }),
    };
    const entry = new HistoryEntry(
      { ...stored, ...nameOf(stored.id), journal: 0, seq: stored.sequence },
      act,
      undefined,
    );
    entry.earlierRequest = request;
    entry.counts = changes;
    entry.isUndone = undone;
    entry.leaves = leaves;
    return entry;
  }

  toJSON(): StoredEntry {
    const { id, sequence, at, parent, kind, title, subject, cause, advanced_by, request, leaves } = this;
    const story = { id, sequence, at, parent, kind, title, subject, cause, advanced_by, request, leaves };
    return { ...story, delivered: this.delivered, changes: this.changes, undone: this.isUndone };
  }

  /** `h_…`; never given twice in a sandbox. */
  get id(): string {
    return idOf(this);
  }

  /** Id of the request that it is. */
  get request(): string | null {
    const { asked } = this;
    return asked === undefined ? this.earlierRequest : drawRequestId(asked.idSeed, asked.number);
  }

  get title(): string {
    return this.asked === undefined ? this.told!.title : requestTitle(this.asked, this.refusal);
  }

  /** In numbers, by collection; counted when somebody asks, or when the states go. */
  get changes(): Readonly<Record<string, ChangeCounts>> {
    const { states } = this;
    this.counts ??= states === undefined ? {} : countChanges(states.from, states.to);
    return this.counts;
  }

  /** The act has ended; what it was made of need not be kept any longer. */
  settle({ title, subject }: Act): void {
    this.subject = subject ?? this.subject;
    this.told = { title };
  }

  /**
   * @param refusal what the client was told, where that was a refusal although it was done
   * @param journaled position of the request in the journal
   */
  answered(refusal: string | undefined, journaled: number): void {
    this.refusal = refusal;
    this.journaled = journaled;
  }

  /** What it did goes on to here. */
  extend(after: KeptState): void {
    const states = this.states!;
    states.to = after.root;
    states.after = after;
    this.counts = undefined;
  }

  /** Told by what was written, unless its act tells it. */
  choose(written: readonly WrittenRecord[], named: Act["named"]): void {
    this.subject ??= subjectOf(written, named);
  }

  letGo(): void {
    if (this.states === undefined) return;
    void this.changes;
    this.states = undefined;
    this.revision += 1;
  }
}

/** What a change is about: of the records that it wrote the one that its request names, or the first. */
export function subjectOf(written: readonly WrittenRecord[], named: Act["named"] = {}): string | null {
  let subject: string | null = null;
  for (const { collection, id } of written) {
    if (collection.internal) continue;
    if (isAmong(named, id)) return id;
    subject ??= id;
  }
  return subject ?? Object.values(named).at(-1) ?? null;
}

function isAmong(named: Readonly<Record<string, string>>, id: string): boolean {
  for (const name in named) if (named[name] === id) return true;
  return false;
}

export function idOf({ prefix, number }: EntryName): string {
  return prefix + number;
}

function nameOf(id: string): EntryName {
  const end = id.lastIndexOf("_") + 1;
  return { prefix: id.slice(0, end), number: Number(id.slice(end)) };
}

/** What became of each collection that is shown; those of which nothing did are left out. */
function countChanges(from: KeptRoot, to: KeptRoot): Record<string, ChangeCounts> {
  const counts: Record<string, ChangeCounts> = {};
  if (from === to) return counts;
  for (const { collection, before, stays } of from.writtenUntil(to) ?? compared(from.value, to.value)) {
    if (collection.internal || (before === undefined && !stays)) continue;
    const count = counts[collection.name] ?? { added: 0, removed: 0, changed: 0 };
    counts[collection.name] = count;
    count[before === undefined ? "added" : stays ? "changed" : "removed"] += 1;
  }
  return counts;
}

function* compared(from: Root, to: Root): IterableIterator<Omit<KeptWrite, "id">> {
  for (const [name, table] of to.tables) {
    const was = from.tables.get(name);
    if (was === undefined || was === table) continue;
    const { collection } = table;
    for (const { before, after } of was.changesTo(table))
      yield { collection, before, stays: after !== undefined };
  }
}
