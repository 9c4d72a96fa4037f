import type { TSchema } from "typebox";
import type { AnyCollection, StoredRecord } from "../state/collection.ts";
import type { Random } from "../state/random.ts";
import type { TimerKind } from "../state/timers.ts";
import type { EmittedEvent, Transaction, WorldReader } from "../state/transaction.ts";
import type { TimerHandler } from "../state/world.ts";
import type { AnyOperation } from "./operation.ts";
import type { Services } from "./services.ts";
import type { Settings } from "./settings.ts";

/** Everything the server knows of one resource; registered in resources/index.ts and nowhere else. */
export interface Resource {
  name: string;
  collections: readonly AnyCollection[];
  operations: readonly AnyOperation[];
  /** The fixture's keys that fill this resource (interfaces 5). */
  fixture?: FixtureReader;
  /** By collection name: what the control API's state calls must do besides storing the record. */
  // biome-ignore lint/suspicious/noExplicitAny: rules are typed where they are declared
  state?: Readonly<Record<string, StateRules<any>>>;
  /** A kind may be handled by several resources; each answers for the subjects it knows. */
  timers?: Partial<Record<TimerKind, TimerHandler>>;
  /** Hears of every emitted event; see `EventListener`. */
  onEvents?: EventListener;
}

/**
 * Runs inside the transaction that emitted the events. What it returns runs once they are committed, may
 * use the network, and is awaited by `clock advance`; it must not throw.
 */
export type EventListener = (
  tx: Transaction,
  events: readonly EmittedEvent[],
) => void | ((services: Services) => Promise<void>);

export interface FixtureReader {
  /** JSON Schema of each top-level key that it reads; together they are the fixture's schema. */
  keys: Readonly<Record<string, TSchema>>;
  /** Names that may stand under `generate:`, with what they ask for. */
  generate?: Readonly<Record<string, TSchema>>;
  /**
   * What a schema cannot say, such as a parent that does not exist: `report` takes the path of the value
   * in the document, so that the message can name line and column.
   */
  check?: (
    fixture: FixtureData,
    report: (path: readonly (string | number)[], message: string) => void,
  ) => void;
  seed: (fixture: FixtureData, base: BaseBuilder) => void;
  /**
   * The settings that `seed` asks `base` for. Sandboxes in which they have other values than by default get
   * these collections made for themselves; everything else they share as ever.
   */
  follows?: readonly (keyof Settings)[];
}

/** A checked, merged fixture document; each reader looks only at its own keys. */
export type FixtureData = Readonly<Record<string, unknown>> & {
  readonly generate?: Readonly<Record<string, unknown>>;
};

/** Builds the world of one (fixture, seed), which all its sandboxes share. */
export interface BaseBuilder {
  readonly seed: number;
  /** Milliseconds since 1970 that the base's relative zero stands for. */
  readonly epoch: number;
  /** Of the sandboxes that share this base; a reader may only look at those that it `follows`. */
  readonly settings: Settings;
  /** An ISO 8601 timestamp of the fixture, relative to its epoch. */
  instant(iso: string): number;
  /** The same generator for the same labels. */
  random(...labels: (string | number)[]): Random;
  /** Fills a collection, once; the records are only made when somebody first reads it. */
  fill<R extends StoredRecord>(
    collection: { name: string; idOf: (record: R) => string },
    records: () => readonly R[],
  ): void;
  timer(timer: { kind: TimerKind; subject: string; due: number; key?: string }): void;
}

/** On whose behalf a state call changes the world (G31), whether it tells anyone, and by which settings. */
export interface StateActor {
  /** Undefined: the owner of the organization concerned. */
  user_id: string | undefined;
  /** No events, no audit entries. */
  silent: boolean;
  /** Of the sandbox, as they are now: what a state call starts takes as long as what the API starts. */
  settings: Settings;
}

/** What a record that a state call makes is completed with. */
export interface Completion {
  random: Random;
  /** Of the sandbox, as they are now. */
  settings: Settings;
}

/**
 * What a state call does beyond storing JSON: keep the API's invariants, take dependents along, emit the
 * events and audit entries of a real change. Errors are thrown as `ApiError` with `details.field`.
 */
export interface StateRules<R extends StoredRecord> {
  /** The record's public form, where converting `Instant()` fields is not enough. */
  toPublic?: (record: R, world: WorldReader) => object;
  /** Its inverse, for the given fields only. */
  fromPublic?: (fields: Record<string, unknown>, world: WorldReader) => Partial<R>;
  /** Fills in what a POST left out and derives what follows; the rest comes from the schema by faker. */
  complete?: (fields: Partial<R>, tx: Transaction, completion: Completion) => Partial<R>;
  insert?: (tx: Transaction, record: R, actor: StateActor) => R;
  update?: (tx: Transaction, before: R, after: R, actor: StateActor) => R;
  remove?: (tx: Transaction, record: R, actor: StateActor) => void;
}
