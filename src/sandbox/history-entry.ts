import { DAY_MS, dayOf } from "../state/day.ts";
import type { KeptRoot, KeptWrite } from "../state/kept-root.ts";
import { drawRequestId } from "../state/random.ts";
import type { Root } from "../state/root.ts";
import type { WrittenRecord } from "../state/transaction.ts";
import type { ActingRequest, EntryStates, KeptState } from "./entry-states.ts";
import { requestTitle } from "./request-title.ts";

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
}

/** What few entries have, besides those that requests are. */
interface Besides {
  cause: string | null;
  advanced_by: string | null;
  delivered: boolean | null;
  isUndone: boolean;
  leaves: readonly string[];
  /** What it was told by, where that was no request. */
  title: Pick<Act, "title"> | undefined;
  /** Id of a request that an earlier server answered. */
  request: string | null;
  refusal: string | undefined;
  counts: Readonly<Record<string, ChangeCounts>> | undefined;
}

/**
 * A change of a sandbox's world: what did it, why, and the world before and after (interfaces 10). A thousand of them
 * are kept and written anew, one for each request, so a request's holds what is its own and nothing else.
 */
export class HistoryEntry implements EntryName {
  prefix!: string;
  number!: number;
  /** Position since the sandbox began; grows by one. */
  sequence!: number;
  kind!: HistoryKind;
  /** The entry whose state it goes on from, by position; 0 for the first day. */
  parent!: number;
  /** Position of the newest entry of the journal when it was made; 0 where that was another server's. */
  journal!: number;
  subject!: string | null;
  /** Undefined once they were let go. */
  states: EntryStates | undefined;
  /** Position of its request in the journal, once that was answered. */
  journaled: number | undefined;
  /** Grows with whatever becomes of it after it was made. */
  revision!: number;
  /** Its request has been answered and sent, so that no act can go on with it. */
  isOver!: boolean;
  private besides: Besides | undefined;
  private day!: number;
  private time!: number;
  /** Of a request: what its id can be drawn from, and its sentence made of. */
  private idSeed!: number;
  private idNumber!: number;
  private summary: string | undefined;
  private principal: string | undefined;

  constructor(place: Place, act: Act, states: EntryStates | undefined) {
    this.write(place, act, states);
  }

  /** Becomes another entry; for the history alone, once nobody can hold it any more. */
  write(place: Place, act: Act, states: EntryStates | undefined): this {
    this.prefix = place.prefix;
    this.number = place.number;
    this.sequence = place.sequence;
    this.day = dayOf(place.at);
    this.time = place.at - this.day * DAY_MS;
    this.parent = place.parent;
    this.journal = place.journal;
    this.kind = act.kind;
    this.subject = act.subject ?? null;
    this.states = states;
    this.journaled = undefined;
    this.revision = 0;
    this.isOver = false;
    this.besides = undefined;
    const { request } = act;
    this.idSeed = request?.idSeed ?? 0;
    this.idNumber = request?.number ?? 0;
    this.summary = request?.summary;
    this.principal = request?.principal;
    if (request === undefined) this.own.title = act;
    if (act.delivered !== undefined) this.own.delivered = act.delivered;
    if (place.cause !== null) this.own.cause = place.cause;
    if (place.advanced_by !== null) this.own.advanced_by = place.advanced_by;
    return this;
  }

  static from(stored: StoredEntry): HistoryEntry {
    const { kind, title, subject, request, delivered, changes, undone, leaves } = stored;
    const act = {
      ...{ kind, title, subject: subject ?? undefined },
      ...(typeof delivered === "boolean" && { delivered }),
    };
    const entry = new HistoryEntry({ ...stored, ...nameOf(stored.id), journal: 0 }, act, undefined);
    Object.assign(entry.own, { request, counts: changes, isUndone: undone, leaves });
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
    return this.summary === undefined
      ? (this.besides?.request ?? null)
      : drawRequestId(this.idSeed, this.idNumber);
  }

  /** Id of the entry that led to it. */
  get cause(): string | null {
    return this.besides?.cause ?? null;
  }

  /** Id of the entry whose advance made it happen now. */
  get advanced_by(): string | null {
    return this.besides?.advanced_by ?? null;
  }

  /** Of an attempt to deliver: whether its receiver took it. */
  get delivered(): boolean | null {
    return this.besides?.delivered ?? null;
  }

  /** Whether the sandbox was rewound to before it. */
  get isUndone(): boolean {
    return this.besides?.isUndone ?? false;
  }

  set isUndone(isUndone: boolean) {
    this.own.isUndone = isUndone;
  }

  /** The work that it left to be done, as `collection\0id`. */
  get leaves(): readonly string[] {
    return this.besides?.leaves ?? NOTHING;
  }

  set leaves(leaves: readonly string[]) {
    this.own.leaves = leaves;
  }

  /** Milliseconds since 1970 on the sandbox's clock. */
  get at(): number {
    return this.day * DAY_MS + this.time;
  }

  get title(): string {
    const { besides, summary, principal } = this;
    if (summary === undefined) return besides!.title!.title;
    return requestTitle({ summary, principal }, besides?.refusal);
  }

  /** In numbers, by collection; counted when somebody asks, or when the states go. */
  get changes(): Readonly<Record<string, ChangeCounts>> {
    const { own } = this;
    own.counts ??= this.states === undefined ? {} : countChanges(this.states.from, this.states.to);
    return own.counts;
  }

  /** The act has ended; what it was made of need not be kept any longer. */
  settle({ title, subject }: Act): void {
    this.subject = subject ?? this.subject;
    this.own.title = { title };
  }

  /**
   * @param refusal what the client was told, where that was a refusal although it was done
   * @param journaled position of the request in the journal
   */
  answered(refusal: string | undefined, journaled: number): void {
    if (refusal !== undefined) this.own.refusal = refusal;
    this.journaled = journaled;
  }

  /** What it did goes on to here. */
  extend(after: KeptState): void {
    const states = this.states!;
    states.to = after.root;
    states.after = after;
    if (this.besides !== undefined) this.besides.counts = undefined;
  }

  /** Told by what was written: the record that its request names, or the first. */
  choose(written: readonly WrittenRecord[], named: Act["named"] = {}): void {
    if (this.subject !== null) return;
    for (const { collection, id } of written) {
      if (collection.internal) continue;
      this.subject ??= id;
      if (!isAmong(named, id)) continue;
      this.subject = id;
      return;
    }
    this.subject ??= Object.values(named).at(-1) ?? null;
  }

  /** Reads something of each of its cache lines; see `EntryList.lookAhead`. */
  glance(): number {
    return this.number | this.revision | this.idNumber;
  }

  letGo(): void {
    if (this.states === undefined) return;
    void this.changes;
    this.states = undefined;
    this.revision += 1;
  }

  private get own(): Besides {
    this.besides ??= {
      ...{ cause: null, advanced_by: null, delivered: null, isUndone: false, leaves: NOTHING },
      ...{ title: undefined, request: null, refusal: undefined, counts: undefined },
    };
    return this.besides;
  }
}

function isAmong(named: Readonly<Record<string, string>>, id: string): boolean {
  for (const name in named) if (named[name] === id) return true;
  return false;
}

const NOTHING: readonly string[] = [];

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
