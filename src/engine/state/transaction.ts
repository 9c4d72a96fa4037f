import { toBase64Url } from "../bytes.ts";
import { hmac } from "../platform.ts";
import type { AnyCollection, Collection, StoredRecord } from "./collection.ts";
import { Random } from "./random.ts";
import type { Root } from "./root.ts";
import type { Table } from "./table.ts";
import type { Tables } from "./tables.ts";
import { type Timer, type TimerKind, timerId, timers } from "./timers.ts";
import type { View } from "./view.ts";

export interface EmittedEvent {
  event: string;
  organization_id: string;
  data: Record<string, unknown>;
}

/** A record on either side of a change; undefined where there was or is none. */
export interface WrittenRecord {
  readonly collection: AnyCollection;
  readonly id: string;
  readonly before: StoredRecord | undefined;
  readonly after: StoredRecord | undefined;
}

export interface TransactionSetting {
  /** Milliseconds since 1970 at which this sandbox's relative instants are zero. */
  origin: number;
  /** The sandbox's now, relative to `origin`. */
  now: number;
  seed: number;
  /** Keys what must not be guessable from the seed alone: name and number of resets (interfaces 5). */
  secretKey: string;
}

/** What reading code needs; a transaction offers it and so does a world between transactions. */
export interface WorldReader {
  readonly now: number;
  get<R extends StoredRecord>(collection: Collection<R>, id: string): R | undefined;
  all<R extends StoredRecord>(collection: Collection<R>): View<R>;
  index<R extends StoredRecord>(collection: Collection<R>, name: string, group: string): View<R>;
  iso(instant: number): string;
  relative(epochMilliseconds: number): number;
  absolute(instant: number): number;
}

const NOTHING_EMITTED: readonly EmittedEvent[] = [];
const NOTHING_WRITTEN: readonly WrittenRecord[] = [];

/** Of ranks, which are six digits of base 36. */
const HALF_RANK = 36 ** 3;
const MAX_RANK = HALF_RANK ** 2 - 1;

/**
 * A synchronous change to a root. Nothing is visible outside until the world commits it, and a
 * transaction that is dropped leaves no trace, because it only ever built new values.
 * Instants in records are milliseconds relative to the sandbox's origin, so one fixture's records serve
 * sandboxes loaded at any time; `iso` and `relative` are the border.
 */
export class Transaction implements WorldReader {
  readonly now: number;
  readonly seed: number;
  readonly origin: number;
  /** Most transactions write and emit nothing; what they would need for it is made when they do. */
  private events: EmittedEvent[] | undefined;
  private writes: WrittenRecord[] | undefined;
  private tables: Tables;
  private draws: number;
  private readonly start: Root;
  private readonly secretKey: string;

  constructor(root: Root, setting: TransactionSetting) {
    this.start = root;
    this.tables = root.tables;
    this.draws = root.draws;
    this.now = setting.now;
    this.seed = setting.seed;
    this.origin = setting.origin;
    this.secretKey = setting.secretKey;
  }

  get emitted(): readonly EmittedEvent[] {
    return this.events ?? NOTHING_EMITTED;
  }

  /** What was written, in its order; a record that was written twice stands in it twice. */
  get written(): readonly WrittenRecord[] {
    return this.writes ?? NOTHING_WRITTEN;
  }

  /** The root as this transaction has changed it; the very root it started from if it changed nothing. */
  result(): Root {
    return this.tables === this.start.tables && this.draws === this.start.draws
      ? this.start
      : { tables: this.tables, draws: this.draws };
  }

  get<R extends StoredRecord>(collection: Collection<R>, id: string): R | undefined {
    return this.table(collection).get(id);
  }

  all<R extends StoredRecord>(collection: Collection<R>): View<R> {
    return this.table(collection).all();
  }

  index<R extends StoredRecord>(collection: Collection<R>, name: string, group: string): View<R> {
    return this.table(collection).index(name, group);
  }

  /** Every collection of this world, the internal ones too. */
  collections(): AnyCollection[] {
    return this.tables.all().map((table) => table.collection);
  }

  insert<R extends StoredRecord>(collection: Collection<R>, record: R): R {
    const id = collection.idOf(record);
    if (this.get(collection, id) !== undefined) throw new Error(`${collection.name} already holds ${id}`);
    return this.put(collection, record);
  }

  put<R extends StoredRecord>(collection: Collection<R>, record: R): R {
    const table = this.table(collection);
    const id = collection.idOf(record);
    this.write(table, id, table.get(id), record);
    return record;
  }

  /** Puts many records of one collection, for less than each on its own would cost. */
  putAll<R extends StoredRecord>(collection: Collection<R>, records: readonly R[]): void {
    const table = this.table(collection);
    this.tables = this.tables.replaced(table.putAll(records));
    for (const record of records) {
      const id = collection.idOf(record);
      this.note({ collection, id, before: table.get(id), after: record });
    }
  }

  /** Merges fields into a record that is known to exist. */
  update<R extends StoredRecord>(collection: Collection<R>, id: string, fields: Partial<R>): R {
    const record = this.get(collection, id);
    if (record === undefined) throw new Error(`${collection.name} holds no ${id}`);
    return this.put(collection, { ...record, ...fields });
  }

  /** With the timer that stands under its id. */
  remove<R extends StoredRecord>(collection: Collection<R>, id: string): void {
    if (collection.timer !== undefined) this.unschedule(collection.timer, id);
    const table = this.table(collection);
    this.write(table, id, table.get(id), undefined);
  }

  /** Sets or moves the timer of (kind, key); `key` is the subject unless that is not unique. */
  schedule(timer: { kind: TimerKind; subject: string; due: number; key?: string }): void {
    this.put<Timer>(timers, { id: timerId(timer.kind, timer.key ?? timer.subject), ...timer });
  }

  unschedule(kind: TimerKind, key: string): void {
    this.remove(timers, timerId(kind, key));
  }

  /** A generator of its own for this draw; each call, also with the same label, gives another. */
  random(label: string): Random {
    this.draws += 1;
    return new Random(this.seed, label, this.draws);
  }

  /** A fresh public id such as `file_k3v9…` (section 2.1). */
  newId(prefix: string): string {
    return this.random(prefix).id(prefix);
  }

  /**
   * A fresh id that sorts before all earlier ones. Lists break ties by id ascending (G28), and on a frozen
   * clock everything is a tie: this way newest first holds there too (G18, G23).
   */
  newestFirstId(prefix: string): string {
    return this.newId(this.newestFirst(prefix));
  }

  /** The same, and no other sandbox has it, nor this one after a reset, so that whoever remembers ids takes it for new. */
  newestFirstOwnId(prefix: string): string {
    const first = this.newestFirst(prefix);
    return first + this.secret(prefix).slice(0, 20);
  }

  private newestFirst(prefix: string): string {
    const rank = MAX_RANK - this.draws;
    // In halves: `toString(36)` takes numbers beyond 2^31 apart by division, which costs four times as much.
    return `${prefix}0${threeDigits(Math.floor(rank / HALF_RANK))}${threeDigits(rank % HALF_RANK)}`;
  }

  /** Base64url text that seed, sandbox name and number of resets determine, and nothing shorter does. */
  secret(label: string): string {
    this.draws += 1;
    return this.derivedSecret(`${label}/${this.draws}`);
  }

  /** The same secret for the same label as long as the sandbox is not reset, such as the key of tokens. */
  derivedSecret(label: string): string {
    return toBase64Url(hmac("sha256", this.secretKey, label));
  }

  /** Queues a webhook event of section 6.1; it leaves after the commit, never before. */
  emit(event: string, organization_id: string, data: Record<string, unknown>): void {
    this.events ??= [];
    this.events.push({ event, organization_id, data });
  }

  iso(instant: number): string {
    return new Date(this.origin + instant).toISOString();
  }

  relative(epochMilliseconds: number): number {
    return epochMilliseconds - this.origin;
  }

  absolute(instant: number): number {
    return this.origin + instant;
  }

  private note(written: WrittenRecord): void {
    this.writes ??= [];
    this.writes.push(written);
  }

  private table<R extends StoredRecord>(collection: Collection<R>): Table<R> {
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
    this.tables = this.tables.replaced(table.replaced({ id, before, after }));
    this.note({ collection: table.collection, id, before, after });
  }
}

/** A whole number below 36 ** 3 in base 36. */
function threeDigits(value: number): string {
  const low = value % 36;
  const middle = Math.floor(value / 36) % 36;
  return String.fromCharCode(DIGITS[Math.floor(value / 36 ** 2)]!, DIGITS[middle]!, DIGITS[low]!);
}
const DIGITS = Array.from("0123456789abcdefghijklmnopqrstuvwxyz", (digit) => digit.charCodeAt(0));

/** Each record once, as it was before the first and after the last of its changes. */
export function mergeWrites(written: readonly WrittenRecord[]): readonly WrittenRecord[] {
  if (written.length < 2) return written;
  const byKey = new Map<string, WrittenRecord>();
  for (const one of written) {
    const key = `${one.collection.name}\0${one.id}`;
    const first = byKey.get(key);
    byKey.set(key, first === undefined ? one : { ...one, before: first.before });
  }
  return [...byKey.values()];
}

/** The writes of a commit to one collection, each record once. */
export function writesTo<R extends StoredRecord>(
  collection: Collection<R>,
  written: readonly WrittenRecord[],
): readonly (WrittenRecord & { readonly before: R | undefined; readonly after: R | undefined })[] {
  if (!written.some((one) => one.collection.name === collection.name)) return [];
  return mergeWrites(written.filter((one) => one.collection.name === collection.name)) as never;
}
