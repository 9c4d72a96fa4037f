import type { TSchema } from "typebox";
import type { TimerKind } from "../state/clock.ts";
import type { AnyCollection, StoredRecord } from "../state/collection.ts";
import type { EmittedEvent, Transaction, WorldReader } from "../state/transaction.ts";
import type { TimerHandler } from "../state/world-parts.ts";
import type { Factory, FactoryContext, RecordLookup } from "./factory.ts";
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
  /** By collection name: how a record is filled in; every collection that state calls reach has one. */
  // biome-ignore lint/suspicious/noExplicitAny: typed where they are declared
  factories?: Readonly<Record<string, Factory<any>>>;
  /** By collection name: what the control API's state calls must do in addition to storing the record. */
  // biome-ignore lint/suspicious/noExplicitAny: rules are typed where they are declared
  state?: Readonly<Record<string, StateRules<any>>>;
  /** A kind may be handled by several resources; each answers for the subjects it knows. */
  timers?: Partial<Record<TimerKind, TimerHandler>>;
  /**
   * Brings what runs by itself in line with the settings: arms the timers of what shall run, calls off the others.
   * Asked when a world begins, is restored, or has other settings; finding nothing to do must cost next to nothing.
   */
  followSettings?: (tx: Transaction, settings: Settings) => void;
  /** Hears of every emitted event; see `EventListener`. */
  onEvents?: EventListener;
}

/**
 * Runs inside the transaction that emitted the events. The function that it returns runs once they are committed, may
 * use the network, and is awaited by `clock advance`; it must not throw.
 */
export type EventListener = (
  tx: Transaction,
  events: readonly EmittedEvent[],
) => void | ((services: Services) => Promise<void>);

export interface FixtureReader {
  /** JSON Schema of each top-level key that it reads; together they are the fixture's schema. */
  keys: Readonly<Record<string, TSchema>>;
  /** The names allowed under `generate:`, with their schemas. */
  generate?: Readonly<Record<string, TSchema>>;
  /**
   * Checks beyond the schema, such as a parent that does not exist: `report` takes the path of the value
   * in the document, so that the message can name line and column.
   */
  check?: (
    fixture: FixtureData,
    report: (path: readonly (string | number)[], message: string) => void,
  ) => void;
  /**
   * By key: the fields, other than its id, of a record that only a number asks for. Called once
   * for all records of the list, with the lists as far as they are made.
   */
  numbered?: Readonly<Record<string, (lists: NumberedLists) => (position: number) => object>>;
  seed: (fixture: FixtureData, base: BaseBuilder) => void;
  /**
   * The settings that its records are made by. Sandboxes in which they have other values than by default get
   * these collections made for themselves; everything else they share as ever.
   */
  follows?: readonly (keyof Settings)[];
}

/** The lists of a fixture while the records that numbers ask for are made. */
export interface NumberedLists {
  of(key: string): readonly Readonly<Record<string, unknown>>[];
}

/** A checked, merged fixture document; each reader looks only at its own keys. */
export type FixtureData = Readonly<Record<string, unknown>> & {
  readonly generate?: Readonly<Record<string, unknown>>;
};

/** Builds the world of one (fixture, seed), which all its sandboxes share. */
export interface BaseBuilder {
  /** An ISO 8601 timestamp of the fixture, relative to its epoch. */
  instant(iso: string): number;
  /** The document's records, made when they are first looked at, in the document's order. */
  readonly world: RecordLookup;
  /** The context in which a record of the fixture is made; its draws depend on the labels alone. */
  context(...labels: (string | number)[]): FactoryContext;
  /**
   * Fills a collection, once; the records are only made when it is first read, and not to be counted where
   * `count` knows how many there will be.
   */
  fill<R extends StoredRecord>(
    collection: { name: string; idOf: (record: R) => string },
    records: () => readonly R[],
    count?: () => number,
  ): void;
  timer(timer: { kind: TimerKind; subject: string; due: number; key?: string }): void;
}

/** On whose behalf a state call changes the world (G31), whether it tells anyone, and by which settings. */
export interface StateActor {
  /** Undefined: the owner of the organization concerned. */
  user_id: string | undefined;
  /** No events, no audit entries. */
  silent: boolean;
  /** The sandbox's settings, as they are now: a job that a state call starts takes as long as one that the API starts. */
  settings: Settings;
}

/**
 * The work of a state call beyond storing JSON: keep the API's invariants, emit the events and audit entries of
 * a real change. Errors are thrown as `ApiError` with `details.field`.
 */
export interface StateRules<R extends StoredRecord> {
  /** The record's public form, where converting `Instant()` fields is not enough. */
  toPublic?: (record: R, world: WorldReader) => object;
  /** Its inverse, for the given fields only. */
  fromPublic?: (fields: Record<string, unknown>, world: WorldReader) => Partial<R>;
  insert?: (tx: Transaction, record: R, actor: StateActor) => R;
  update?: (tx: Transaction, before: R, after: R, actor: StateActor) => R;
  /** Before the record goes, with all that belongs to it (`removeWithDependents`). */
  remove?: (tx: Transaction, record: R, actor: StateActor) => void;
}
