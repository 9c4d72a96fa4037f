import type { TSchema } from "typebox";
import type { TimerKind } from "../state/clock.ts";
import type { AnyCollection, StoredRecord } from "../state/collection.ts";
import type { Timer } from "../state/timers.ts";
import type { EmittedEvent, Transaction, WorldReader } from "../state/transaction.ts";
import type { TimerHandler } from "../state/world-parts.ts";
import type { AnyEvent } from "./event.ts";
import type { Factory, FactoryContext, RecordLookup } from "./factory.ts";
import type { InvalidField } from "./invalid-field.ts";
import type { AnyOperation } from "./operation.ts";
import type { Services } from "./services.ts";
import type { Settings } from "./settings.ts";

/**
 * Everything the server knows of one resource. `resources/index.ts` lists all of them, `resources/events.ts` the events
 * that webhooks can subscribe to.
 */
export interface Resource {
  name: string;
  collections: readonly AnyCollection[];
  operations: readonly AnyOperation[];
  events?: readonly AnyEvent[];
  /**
   * Where a user's own resource was declared; messages name its `source`. For a file: `sha256` of its bytes and, unless the
   * file is code, its documents as `content`. For a control call: its documents as `sent`.
   */
  userSource?: { source: string; sha256?: string; content?: OperationDocuments; sent?: OperationDocuments };
  /** The fixture's keys that fill this resource (interfaces.md 5). */
  fixture?: FixtureReader;
  /** The factory of each collection, by name. Every collection that state calls can change has one. */
  // biome-ignore lint/suspicious/noExplicitAny: typed where they are declared
  factories?: Readonly<Record<string, Factory<any>>>;
  /** The rules of state calls beyond storing the record, by collection name. */
  // biome-ignore lint/suspicious/noExplicitAny: rules are typed where they are declared
  state?: Readonly<Record<string, StateRules<any>>>;
  /** Several resources may handle a kind; each ignores unknown subjects. */
  timers?: Partial<Record<TimerKind, TimerHandler>>;
  /**
   * Adjusts activity of the world, such as running meetings, to the settings: sets its timers, or removes them. Called
   * when a world begins, is restored, or gets other settings; must be cheap if there is nothing to do.
   */
  followSettings?: (tx: Transaction, settings: Settings) => void;
  /** Called with the events of each transaction; see `EventListener`. */
  onEvents?: EventListener;
}

/** An OpenAPI document with its bindings, as objects or texts: those that a call sent for one sandbox, or those of a file. */
export interface OperationDocuments {
  openapi: unknown;
  bindings?: unknown;
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
   * For a fixture with a number in place of a list, such as `users: 20`, by the key: called once, with the lists that
   * exist by then. The function that it returns is called for each record, by position, and creates its fields, usually
   * without the id.
   */
  fieldGenerators?: Readonly<Record<string, (lists: FixtureLists) => (position: number) => object>>;
  /** Fills the collections of its resource with the records of a fixture. */
  addRecords: (fixture: FixtureData, base: BaseBuilder) => void;
  /**
   * The settings that its records depend on. Sandboxes with other values than the defaults get their own version of
   * these collections, and share all others.
   */
  dependsOnSettings?: readonly (keyof Settings)[];
}

/** The lists of a fixture while numbers are replaced by records. */
export interface FixtureLists {
  listRecords(key: string): readonly Readonly<Record<string, unknown>>[];
}

/** A checked, merged fixture document; each reader looks only at its own keys. */
export type FixtureData = Readonly<Record<string, unknown>> & {
  readonly generate?: Readonly<Record<string, unknown>>;
};

/** Builds the world of one (fixture, seed), which all its sandboxes share. */
export interface BaseBuilder {
  /** Converts an ISO 8601 timestamp of the fixture to milliseconds since the fixture's epoch. */
  toInstant(iso: string): number;
  /** The document's records in its order, created when they are first read. */
  readonly world: RecordLookup;
  /** The context in which a record of the fixture is created; its draws depend only on the labels. */
  createContext(...labels: (string | number)[]): FactoryContext;
  /**
   * Fills a collection, once. The records are created when it is first read; counting them does not create them if
   * `count` is given.
   */
  fill<R extends StoredRecord>(
    collection: { name: string; getId: (record: R) => string },
    records: () => readonly R[],
    count?: () => number,
  ): void;
  addTimer(timer: Omit<Timer, "id">): void;
}

/** On whose behalf a state call changes the world (assumption G31), and how. */
export interface StateActor {
  /** Undefined: the owner of the organization concerned, else a member, else the system. */
  user_id: string | undefined;
  /** For a user's own operation: the current organization of its caller. */
  organization_id?: string | undefined;
  /** No events, no audit entries. */
  silent: boolean;
  /** The sandbox's current settings: a job of a state call takes as long as a job of the API. */
  settings: Settings;
}

/**
 * The work of a state call beyond storing JSON: keep the API's invariants, emit the events and audit entries of
 * a real change. Errors are thrown as `ApiError` with `details.field`.
 */
export interface StateRules<R extends StoredRecord> {
  /**
   * The first given field, in its public form, that breaks a rule beyond the collection's schema. `isWhole`: the fields are
   * those of a whole record.
   */
  findInvalid?: (fields: Record<string, unknown>, options?: { isWhole: boolean }) => InvalidField | undefined;
  /** The record's public form, if converting `Instant()` fields is not enough. */
  toPublic?: (record: R, world: WorldReader) => object;
  /** The inverse, for the given fields only. */
  fromPublic?: (fields: Record<string, unknown>, world: WorldReader) => Partial<R>;
  /** Stores the record, and returns it as stored. */
  insert?: (tx: Transaction, record: R, actor: StateActor) => R;
  /** As `insert`. `given` are the values that the call gives, in stored form; some may be as before. */
  update?: (tx: Transaction, before: R, after: R, actor: StateActor, given: Partial<R>) => R;
  /** Called before the record is removed with its dependents (`removeWithDependents`); it may already remove the record itself. */
  beforeRemove?: (tx: Transaction, record: R, actor: StateActor) => void;
}
