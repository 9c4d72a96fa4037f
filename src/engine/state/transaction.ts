import { toBase64Url } from "../bytes.ts";
import { hmac } from "../platform.ts";
import { FIRST_INSTANT, LAST_INSTANT, type TimerKind } from "./clock.ts";
import type { AnyCollection, Collection, StoredRecord } from "./collection.ts";
import { Random } from "./random.ts";
import type { Table } from "./table.ts";
import type { Root, Tables } from "./tables.ts";
import { type Timer, timers, toTimerId } from "./timers.ts";
import type { View } from "./view.ts";

export interface EmittedEvent {
  event: string;
  organization_id: string;
  data: Record<string, unknown>;
}

/** A record before and after a change: `before` is undefined if it was created, `after` if it was removed. */
export interface WrittenRecord {
  readonly collection: AnyCollection;
  readonly id: string;
  readonly before: StoredRecord | undefined;
  readonly after: StoredRecord | undefined;
}

export type WorldReader = Pick<
  Transaction,
  "now" | "get" | "all" | "index" | "toIso" | "toInstant" | "toEpoch"
>;

/** Ids that sort newest first begin with `0`, to come before random ids, and six digits of base 36. */
const RANK_DIGITS = 6;

/**
 * A synchronous change to a root. Nothing is visible outside until the world commits it, and a
 * transaction that is dropped leaves no trace, because it only ever built new values.
 * Instants in records are milliseconds relative to the sandbox's origin, so one fixture's records serve
 * sandboxes loaded at any time; `toIso`, `toInstant` and `toEpoch` convert them.
 */
export class Transaction {
  /** The sandbox's current time, relative to `origin`. */
  readonly now: number;
  readonly seed: number;
  /** Milliseconds since 1970 at which this sandbox's relative instants are zero. */
  readonly origin: number;
  readonly events: EmittedEvent[] = [];
  /** In the order of the writes; a record that was written twice is in it twice. */
  readonly writes: WrittenRecord[] = [];
  private tables: Tables;
  private draws: number;
  private readonly startRoot: Root;
  /** The key of everything that must not be guessable from the seed alone (interfaces.md 5). */
  private readonly secretKey: string;

  constructor(root: Root, options: Pick<Transaction, "origin" | "now" | "seed"> & { secretKey: string }) {
    this.startRoot = root;
    this.tables = root.tables;
    this.draws = root.draws;
    this.now = options.now;
    this.seed = options.seed;
    this.origin = options.origin;
    this.secretKey = options.secretKey;
  }

  /** The root as this transaction has changed it; the same object that it started from if it changed nothing. */
  toRoot(): Root {
    return this.tables === this.startRoot.tables && this.draws === this.startRoot.draws
      ? this.startRoot
      : { tables: this.tables, draws: this.draws };
  }

  get<R extends StoredRecord>(collection: Collection<R>, id: string): R | undefined {
    return this.requireTable(collection).get(id);
  }

  all<R extends StoredRecord>(collection: Collection<R>): View<R> {
    return this.requireTable(collection).all();
  }

  index<R extends StoredRecord>(collection: Collection<R>, name: string, group: string): View<R> {
    return this.requireTable(collection).index(name, group);
  }

  /** Every collection of this world, the internal ones too. */
  listCollections(): AnyCollection[] {
    return this.tables.all().map((table) => table.collection);
  }

  insert<R extends StoredRecord>(collection: Collection<R>, record: R): R {
    const table = this.requireTable(collection);
    const id = collection.getId(record);
    if (table.get(id) !== undefined) throw new Error(`${collection.name} already holds ${id}`);
    this.write(table, id, undefined, record);
    return record;
  }

  put<R extends StoredRecord>(collection: Collection<R>, record: R): R {
    const table = this.requireTable(collection);
    const id = collection.getId(record);
    this.write(table, id, table.get(id), record);
    return record;
  }

  /** Puts many records of one collection; faster than one `put` for each. */
  putAll<R extends StoredRecord>(collection: Collection<R>, records: readonly R[]): void {
    const table = this.requireTable(collection);
    this.tables = this.tables.replace(table.putAll(records));
    for (const record of records) {
      const id = collection.getId(record);
      this.writes.push({ collection, id, before: table.get(id), after: record });
    }
  }

  update<R extends StoredRecord>(collection: Collection<R>, id: string, fields: Partial<R>): R {
    const record = this.get(collection, id);
    if (record === undefined) throw new Error(`${collection.name} holds no ${id}`);
    return this.put(collection, { ...record, ...fields });
  }

  /** Also removes the timer of the record. */
  remove<R extends StoredRecord>(collection: Collection<R>, id: string): void {
    if (collection.timer !== undefined) this.unschedule(collection.timer, id);
    const table = this.requireTable(collection);
    this.write(table, id, table.get(id), undefined);
  }

  /**
   * Sets or moves the timer of (kind, key); `key` is the subject unless that is not unique. The clock ends with the year
   * 9999, so that a later timer would never run.
   */
  schedule(timer: Omit<Timer, "id">): void {
    const { kind, subject, key = subject, due } = timer;
    if (this.toEpoch(due) > LAST_INSTANT) this.unschedule(kind, key);
    else this.put<Timer>(timers, { id: toTimerId(kind, key), ...timer });
  }

  unschedule(kind: TimerKind, key: string): void {
    this.remove(timers, toTimerId(kind, key));
  }

  findNearestTimer(): Timer | undefined {
    return this.index(timers, "due", "").first();
  }

  /** A new generator; each call gives another one, also with the same label. */
  random(label: string): Random {
    this.draws += 1;
    return new Random(this.seed, label, this.draws);
  }

  /** A fresh public id such as `file_k3v9…`, for the prefix `file_` (section 2.1). */
  createId(prefix: string): string {
    return this.random(prefix).id(prefix);
  }

  /**
   * A fresh id that sorts before all earlier ones. Lists break ties by id ascending (G28), and on a frozen
   * clock everything is a tie: this way newest first holds there too (G18, G23).
   */
  createNewestFirstId(prefix: string): string {
    return this.createId(this.toNewestFirstPrefix(prefix));
  }

  /** A fresh id that neither another sandbox nor this one after a reset repeats, since receivers skip known ids. */
  createUnrepeatedId(prefix: string): string {
    return this.toNewestFirstPrefix(prefix) + this.createSecret(prefix).slice(0, 20);
  }

  private toNewestFirstPrefix(prefix: string): string {
    const rank = 36 ** RANK_DIGITS - 1 - this.draws;
    return `${prefix}0${rank.toString(36).padStart(RANK_DIGITS, "0")}`;
  }

  /** Base64url text that follows from the secret key, the label and the number of earlier draws. */
  createSecret(label: string): string {
    this.draws += 1;
    return toBase64Url(hmac("sha256", this.secretKey, `${label}/${this.draws}`));
  }

  /** Queues a webhook event of section 6.1; it is sent after the commit, never before. */
  emit(event: string, organization_id: string, data: Record<string, unknown>): void {
    this.events.push({ event, organization_id, data });
  }

  /** The instant, or the nearest one of the years 1 to 9999. */
  limitToClock(instant: number): number {
    return Math.max(this.toInstant(FIRST_INSTANT), Math.min(instant, this.toInstant(LAST_INSTANT)));
  }

  toIso(instant: number): string {
    return new Date(this.origin + this.limitToClock(instant)).toISOString();
  }

  toInstant(epochMilliseconds: number): number {
    return epochMilliseconds - this.origin;
  }

  toEpoch(instant: number): number {
    return this.origin + instant;
  }

  private requireTable<R extends StoredRecord>(collection: Collection<R>): Table<R> {
    const table = this.tables.get(collection.name);
    if (table === undefined) throw new Error(`${collection.name} is not registered in resources/index.ts`);
    return table as Table<R>;
  }

  private write<R extends StoredRecord>(
    table: Table<R>,
    id: string,
    before: R | undefined,
    after: R | undefined,
  ): void {
    if (before === after) return;
    this.tables = this.tables.replace(table.apply({ id, before, after }));
    this.writes.push({ collection: table.collection, id, before, after });
  }
}

/** Each record once, as it was before the first and after the last of its changes. */
export function mergeWrites(writes: readonly WrittenRecord[]): readonly WrittenRecord[] {
  if (writes.length < 2) return writes;
  const byKey = new Map<string, WrittenRecord>();
  for (const write of writes) {
    const key = `${write.collection.name}\0${write.id}`;
    const first = byKey.get(key);
    byKey.set(key, first === undefined ? write : { ...write, before: first.before });
  }
  return [...byKey.values()];
}

/** The writes of a commit to one collection, each record once. */
export function listWrites<R extends StoredRecord>(
  { name }: Collection<R>,
  writes: readonly WrittenRecord[],
): readonly (WrittenRecord & { readonly before: R | undefined; readonly after: R | undefined })[] {
  return mergeWrites(writes.filter(({ collection }) => collection.name === name)) as never;
}
