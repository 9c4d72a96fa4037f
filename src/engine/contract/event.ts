import Type, { type TObject, type TSchema } from "typebox";
import type { AnyCollection, Collection, StoredRecord } from "../state/collection.ts";
import { Random } from "../state/random.ts";
import type { Transaction, WorldReader } from "../state/transaction.ts";
import { View } from "../state/view.ts";
import type { FactoryContext, RecordLookup } from "./factory.ts";
import type { AnyOperation } from "./operation.ts";
import { isInstant } from "./public-view.ts";
import { DEFAULT_SETTINGS, type Settings } from "./settings.ts";

/** The subject of events: records of a collection, or values that are made from such records. */
export interface EventSubject<S extends object, F extends string> {
  /** The collections whose ids find it; the refusal of an id names them. */
  collections: readonly AnyCollection[];
  find: (world: WorldReader, id: string) => S | undefined;
  /** The fields of its data, by the names that are sent. */
  fields: Readonly<Record<F, TSchema>>;
  /** The one field that the subject itself calls otherwise, such as `user_id`, its `id`. */
  own?: { field: string; key: string };
  /** The organizations whose webhooks and rules hear of it. */
  heardBy: (subject: S, world: WorldReader) => readonly string[];
  /**
   * One that this organization might have, for data that no object of the sandbox fills: what is given is kept, and
   * the rest fits it and what the world has. Absent where no event of it is ever triggered.
   */
  invent?: (given: Partial<S>, context: FactoryContext, organization_id: string) => S;
}

export interface EventDeclaration<
  N extends string = string,
  S extends object = object,
  F extends string = string,
> {
  name: N;
  /** Where it is named; the data that the specification leaves open are among the assumptions. */
  section: string;
  /** As in `operation()`. */
  assumptions?: readonly string[];
  summary: string;
  description?: string;
  about: EventSubject<S, F>;
  /** The fields of its data, in the order in which they are sent (G25). */
  data: readonly F[];
  /** Values that the change gives its subject. */
  implies?: Readonly<Partial<Record<F, string | boolean>>>;
  /** Its subject has just come to be; those of other events have been there for a while. */
  fresh?: true;
}

// biome-ignore lint/suspicious/noExplicitAny: a list holds events of every subject
export type AnyEvent = EventDeclaration<string, any, any>;

/** Declares one event: emitting, triggering, its schema and OpenAPI read it. */
export function event<const N extends string, S extends object, F extends string>(
  declaration: EventDeclaration<N, S, F> & { data: readonly NoInfer<F>[] },
): EventDeclaration<N, S, F> {
  return declaration;
}

/** Records as they are stored. `id`: what data calls the record's id, where the record says just `id`. */
export function aboutRecords<R extends StoredRecord, Own extends string = keyof R & string>(
  collection: Collection<R>,
  {
    id,
    heardBy = ownOrganization,
    invent,
  }: {
    id?: Own;
    /** Default: the organization that the record names as its own. */
    heardBy?: EventSubject<R, string>["heardBy"];
    /** Usually what fills in such a record wherever it is made. */
    invent?: EventSubject<R, string>["invent"];
  },
): EventSubject<R, (keyof R & string) | Own> {
  const { idField } = collection;
  const { properties } = collection.schema as TObject;
  const field = id ?? idField;
  return {
    collections: [collection],
    find: (world, key) => world.get(collection, key),
    fields: { ...properties, [field]: properties[idField]! } as Record<(keyof R & string) | Own, TSchema>,
    own: { field, key: idField },
    heardBy,
    ...(invent && { invent }),
  };
}

function ownOrganization(record: { organization_id?: string }): readonly string[] {
  return record.organization_id === undefined ? [] : [record.organization_id];
}

/**
 * Emits the event of a change, once it is committed, with the subject as the change left it. `to` is used where
 * others hear of it than `heardBy` says, such as an organization that a user has just left.
 */
export function emit<S extends object>(
  tx: Transaction,
  event: EventDeclaration<string, S, string>,
  subject: S,
  to = event.about.heardBy(subject, tx),
): void {
  for (const organization_id of to) tx.emit(event.name, organization_id, eventData(event, subject, tx));
}

/** The data of an event, the one place that makes it: the declared fields, instants as ISO 8601 (G25). */
export function eventData<S extends object>(
  { about, data: fields, implies = {} }: EventDeclaration<string, S, string>,
  subject: S,
  world: Pick<WorldReader, "iso">,
): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const field of fields) {
    const key = field === about.own?.field ? about.own.key : field;
    const value = implies[field] ?? (subject as Record<string, unknown>)[key];
    if (value === undefined) continue;
    data[field] = typeof value === "number" && isInstant(about.fields[field]!) ? world.iso(value) : value;
  }
  return data;
}

const HOUR_MS = 3_600_000;
const MAX_AGE_HOURS = 30 * 24;

export interface SampleContext {
  world: RecordLookup & Pick<WorldReader, "iso">;
  /** When it happens. */
  at: number;
  random: Random;
  /** Fields of the data that are known all the same. */
  known: Readonly<Record<string, unknown>> & { readonly organization_id: string };
  /** The sandbox's settings; the defaults where there is no sandbox. */
  settings?: Settings;
}

/** Data of an event that is about nothing in the sandbox: as if it were about a thing that fits in there. */
export function sampleData(
  event: AnyEvent,
  { world, at, random, known, settings = DEFAULT_SETTINGS }: SampleContext,
): Record<string, unknown> {
  const { own, fields, invent } = event.about;
  const given: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(known))
    if (Object.hasOwn(fields, field)) given[field === own?.field ? own.key : field] = value;
  const now = event.fresh ? at : at - random.int(HOUR_MS, MAX_AGE_HOURS * HOUR_MS);
  const newId = (prefix: string) => random.id(prefix);
  const context: FactoryContext = {
    random,
    now,
    past: false,
    settings,
    world,
    newId,
    newestFirstId: newId,
    secret: () => random.letters(32),
  };
  return eventData(event, { ...invent?.(given, context, known.organization_id), ...given }, world);
}

/** JSON Schema of an event's data. */
export function dataSchema({ about, data, implies = {} }: AnyEvent): TObject {
  const fields = (data as readonly string[]).map((field) => {
    const implied = implies[field];
    return [field, implied === undefined ? about.fields[field]! : Type.Literal(implied)] as const;
  });
  return Type.Object(Object.fromEntries(fields));
}

/** The world of samples, where there is no sandbox: it is empty. */
export const EMPTY_WORLD: SampleContext["world"] = {
  iso: (at) => new Date(at).toISOString(),
  get: () => undefined,
  all: <R>() => View.ofList<R>([]),
  index: <R>() => View.ofList<R>([]),
};

/** When the reference world begins. */
const AT = Date.UTC(2026, 2, 15, 12);
const KNOWN = { organization_id: "org_acme", webhook_id: "wh_example" };

/** A payload of section 6.2, always the same one. */
export function samplePayload(event: AnyEvent): Record<string, unknown> {
  const random = new Random(0, "sample", event.name);
  return {
    event: event.name,
    data: sampleData(event, { world: EMPTY_WORLD, at: AT, random, known: KNOWN }),
    timestamp: EMPTY_WORLD.iso(AT),
    webhook_id: KNOWN.webhook_id,
    delivery_id: "del_example",
  };
}

/** The declarations of the emulated API as a whole. */
export interface DeclaredApi {
  operations: readonly AnyOperation[];
  /** All events that are sent to receivers: those that webhooks can subscribe to, and 4.21's test. */
  events: readonly AnyEvent[];
}
