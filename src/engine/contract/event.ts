import { type TObject, type TSchema, Type } from "typebox";
import { HOUR_MS } from "../state/clock.ts";
import type { AnyCollection, Collection, StoredRecord } from "../state/collection.ts";
import { Random } from "../state/random.ts";
import type { Transaction, WorldReader } from "../state/transaction.ts";
import { View } from "../state/view.ts";
import { createSeededContext, type FactoryContext, type RecordLookup } from "./factory.ts";
import { isInstant, isInternal } from "./public-view.ts";
import { DEFAULT_SETTINGS, type Settings } from "./settings.ts";

/** The subject of events: records of a collection, or values derived from them. */
export interface EventSubject<S extends object, F extends string> {
  /** The collections in which an id is looked up; an error for an unknown id names them. */
  collections: readonly AnyCollection[];
  find: (world: WorldReader, id: string) => S | undefined;
  /** The fields that data can have, by their names in the payload. */
  fields: Readonly<Record<F, TSchema>>;
  /** The name of the subject's id in the data, if it differs: `user_id` for its `id`. */
  idAlias?: { inData: string; inSubject: string };
  /** The organizations whose webhooks and rules receive the event. */
  listOrganizations: (subject: S, world: WorldReader) => readonly string[];
  /**
   * Invents a subject of this organization, for an event without an object of the sandbox: given fields stay, the
   * others match them and the world. Absent if its events cannot be triggered.
   */
  invent?: (fields: Partial<S>, context: FactoryContext, organization_id: string) => S;
}

export interface EventDeclaration<
  N extends string = string,
  S extends object = object,
  F extends string = string,
> {
  name: N;
  /** The section that names it; data that the specification leaves open are assumptions. */
  section: string;
  /** The assumptions, as in `operation()`. */
  assumptions?: readonly string[];
  summary: string;
  description?: string;
  about: EventSubject<S, F>;
  /** The fields of its data, in the order in which they are sent (G25). Default: all fields of its subject. */
  data: readonly F[];
  /** The values of fields in every such event, since the change gives them to its subject. */
  fixedData?: Readonly<Partial<Record<F, string | boolean>>>;
  /** Whether the subject was created by the change that emits the event. */
  isAboutCreation?: true;
}

// biome-ignore lint/suspicious/noExplicitAny: a list holds events of every subject
export type AnyEvent = EventDeclaration<string, any, any>;

/** Declares one event: emitting, triggering, its schema and OpenAPI read it. */
export function event<const N extends string, S extends object, F extends string>(
  declaration: Omit<EventDeclaration<N, S, F>, "data"> & { data?: readonly NoInfer<F>[] },
): EventDeclaration<N, S, F> {
  const { data = Object.keys(declaration.about.fields) as F[] } = declaration;
  return { ...declaration, data };
}

/**
 * The records of a collection as subjects, with their public fields. `id` is the name of the record's id in the data, if the
 * record calls it just `id`. By default the organization that the record names receives the event. `invent` is usually
 * the record's factory.
 */
export function aboutRecords<R extends StoredRecord, Alias extends string = keyof R & string>(
  collection: Collection<R>,
  {
    id,
    listOrganizations = listOwnOrganization,
    invent,
  }: { id?: Alias } & Partial<Pick<EventSubject<R, string>, "listOrganizations" | "invent">>,
): EventSubject<R, (keyof R & string) | Alias> {
  const { idField } = collection;
  const { properties } = collection.schema as TObject;
  const idInData = id ?? idField;
  return {
    collections: [collection],
    find: (world, key) => world.get(collection, key),
    fields: Object.fromEntries(
      Object.entries(properties)
        .filter(([, schema]) => !isInternal(schema))
        .map(([name, schema]) => [name === idField ? idInData : name, schema]),
    ) as Record<(keyof R & string) | Alias, TSchema>,
    idAlias: { inData: idInData, inSubject: idField },
    listOrganizations,
    ...(invent && { invent }),
  };
}

function listOwnOrganization(record: { organization_id?: string }): readonly string[] {
  return record.organization_id === undefined ? [] : [record.organization_id];
}

/**
 * Queues the event of a change, with the changed subject, to be sent after the commit. `organizationIds` replaces the
 * audience, for example by an organization that a user has just left.
 */
export function emit<S extends object>(
  tx: Transaction,
  event: EventDeclaration<string, S, string>,
  subject: S,
  organizationIds = event.about.listOrganizations(subject, tx),
): void {
  for (const organization_id of organizationIds)
    tx.emit(event.name, organization_id, buildEventData(event, subject, tx));
}

/** Builds the data of an event: the declared fields, instants as ISO 8601 (G25). No other code does. */
export function buildEventData<S extends object>(
  { about, data: fields, fixedData = {} }: EventDeclaration<string, S, string>,
  subject: S,
  world: Pick<WorldReader, "toIso">,
): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const field of fields) {
    const key = field === about.idAlias?.inData ? about.idAlias.inSubject : field;
    const value = fixedData[field] ?? (subject as Record<string, unknown>)[key];
    if (value === undefined) continue;
    data[field] = typeof value === "number" && isInstant(about.fields[field]!) ? world.toIso(value) : value;
  }
  return data;
}

const MAX_AGE_HOURS = 30 * 24;

export interface SampleContext {
  world: RecordLookup & Pick<WorldReader, "toIso">;
  /** The instant of the event. */
  at: number;
  random: Random;
  /** Fields of the data that must have these values. */
  givenFields: Readonly<Record<string, unknown>> & { readonly organization_id: string };
  /** The sandbox's settings; without a sandbox, the defaults. */
  settings?: Settings;
}

/** Builds the data of an event whose subject is not in the sandbox, from an invented one that fits the sandbox. */
export function inventData(
  event: AnyEvent,
  { world, at, random, givenFields, settings = DEFAULT_SETTINGS }: SampleContext,
): Record<string, unknown> {
  const { idAlias, fields, invent } = event.about;
  const values: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(givenFields))
    if (Object.hasOwn(fields, field)) values[field === idAlias?.inData ? idAlias.inSubject : field] = value;
  const now = event.isAboutCreation ? at : at - random.int(HOUR_MS, MAX_AGE_HOURS * HOUR_MS);
  const context = createSeededContext(random, { now, isFixture: false, settings, world });
  return buildEventData(
    event,
    { ...invent?.(values, context, givenFields.organization_id), ...values },
    world,
  );
}

export function toDataSchema({ about, data, fixedData = {} }: AnyEvent): TObject {
  const fields = (data as readonly string[]).map((field) => {
    const fixed = fixedData[field];
    return [field, fixed === undefined ? about.fields[field]! : Type.Literal(fixed)] as const;
  });
  return Type.Object(Object.fromEntries(fields));
}

/** The empty world of samples, which have no sandbox. */
export const EMPTY_WORLD: SampleContext["world"] = {
  toIso: (at) => new Date(at).toISOString(),
  get: () => undefined,
  all: <R>() => View.ofList<R>([]),
  index: <R>() => View.ofList<R>([]),
};

/** The first instant of the reference world. */
const SAMPLE_INSTANT = Date.UTC(2026, 2, 15, 12);
const SAMPLE_FIELDS = { organization_id: "org_acme", webhook_id: "wh_example" };

/** A payload of section 6.2; always the same. */
export function createSamplePayload(event: AnyEvent): Record<string, unknown> {
  const random = new Random(0, "sample", event.name);
  return {
    event: event.name,
    data: inventData(event, { world: EMPTY_WORLD, at: SAMPLE_INSTANT, random, givenFields: SAMPLE_FIELDS }),
    timestamp: EMPTY_WORLD.toIso(SAMPLE_INSTANT),
    webhook_id: SAMPLE_FIELDS.webhook_id,
    delivery_id: "del_example",
  };
}
