import { type Static, type TSchema, Type } from "typebox";
import { mapCollections } from "../../engine/contract/public-collection.ts";
import { removeInternalFields, toPublicSchema } from "../../engine/contract/public-view.ts";
import type { StateActor } from "../../engine/contract/resource.ts";
import { ClosedObject, ListOf, StringEnum } from "../../engine/contract/schema.ts";
import { RESOURCES } from "../../engine/resources/index.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import type { Transaction } from "../../engine/state/transaction.ts";
import { toPascalCase, toPublishedSchema } from "../../tools/reports/openapi-document.ts";
import { requireRoomAfter, requireRoomForRecords } from "../limits.ts";
import {
  type ControlContext,
  type ControlOperation,
  OptionalText,
  operation,
  sandboxParams,
  toList,
} from "../operation.ts";
import { unprocessable } from "../problem.ts";
import {
  type Fields,
  insertRecord,
  removeRecord,
  requireRecord,
  type StateChange,
  updateRecord,
} from "../state/change-records.ts";
import {
  acceptAnyEvent,
  createMatcher,
  listStateCollections,
  requireStateCollection,
} from "../state/state-collection.ts";

/**
 * More than a shared server allows in a sandbox by default. It is also the default of `limit`: a script or a test that
 * asks for a collection expects all of it, and interfaces.md 4 names no smaller page.
 */
const MAX_RECORDS = 1_000_000;

/** By collection. */
const RECORD_SCHEMAS: Readonly<Record<string, TSchema>> = Object.fromEntries(
  mapCollections(RESOURCES, ({ name, schema }) => ({
    ...acceptAnyEvent(removeInternalFields(schema)),
    $id: `${toPascalCase(name)}Record`,
  })),
);

const AnyRecord = Type.Unsafe<Fields>({
  anyOf: Object.values(RECORD_SCHEMAS),
  $id: "CollectionRecord",
  description: "A record of the collection that the path names, with the specification's field names",
  examples: [
    {
      id: "thread_ada",
      owner_id: "usr_ada",
      organization_id: "org_acme",
      title: "Plans",
      created_at: "2026-03-15T12:00:00.000Z",
    },
  ],
});
const OwnRecord = Type.Unsafe<Fields>({
  type: "object",
  description: "A record of a user's own collection",
});
const toVariants = (wrap: (record: TSchema) => TSchema) => ({
  parameter: "collection",
  schemas: Object.fromEntries(Object.entries(RECORD_SCHEMAS).map(([name, schema]) => [name, wrap(schema)])),
  otherwise: wrap(OwnRecord),
});
const RECORD_VARIANTS = toVariants((record) => record);

/** Accepts any of a record's fields; the collection's schema validates them. */
const SomeFields = Type.Unsafe<Fields>({
  type: "object",
  description: "fields of a `CollectionRecord`",
  examples: [{ title: "Plans for the summer" }],
});

const Collection = StringEnum(Object.keys(RECORD_SCHEMAS), {
  description: "The collection's name",
  examples: ["threads"],
});
const CollectionParams = sandboxParams({ collection: Collection });
const RecordParams = sandboxParams({
  collection: Collection,
  id: Type.String({ description: "The record's public id", examples: ["thread_ada"] }),
});

export const ChangeQuery = ClosedObject({
  silent: Type.Boolean({
    default: false,
    description: "The change emits no events and writes no audit entries",
  }),
  actor: OptionalText("The user who made the change; by default the owner of the organization concerned"),
});

const CollectionBody = ClosedObject(
  {
    name: Type.String(),
    id_field: Type.String({ description: "Which field holds the public id" }),
    prefix: Type.String({ description: "How its ids begin" }),
    records: Type.Integer({ minimum: 0 }),
    schema: Type.Optional(
      Type.Unsafe<object>({
        type: "object",
        description: "The JSON Schema of a record, of a user's own collection",
      }),
    ),
  },
  { $id: "Collection", examples: [{ name: "threads", id_field: "id", prefix: "thread_", records: 6 }] },
);

export const STATE_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "state.collections",
    route: "GET /_control/sandboxes/{name}/state",
    summary: "List the collections with their sizes",
    success: { status: 200, schema: ListOf(CollectionBody) },
    handle({ sandbox }) {
      const tx = readNow(sandbox.world);
      const items = [...listStateCollections(sandbox.api.resources).values()].map(({ collection }) => ({
        name: collection.name,
        id_field: collection.idField,
        prefix: collection.prefix,
        records: tx.all(collection).size,
        ...(!Object.hasOwn(RECORD_SCHEMAS, collection.name) && {
          schema: toPublishedSchema(toPublicSchema(collection)),
        }),
      }));
      return toList(items);
    },
  }),
  operation({
    id: "state.list",
    route: "GET /_control/sandboxes/{name}/state/{collection}",
    summary: "List records. Filters are fields, and `contains` for words in any field",
    params: CollectionParams,
    query: Type.Object(
      {
        limit: Type.Integer({
          minimum: 1,
          maximum: MAX_RECORDS,
          default: MAX_RECORDS,
          description: "The maximum number; by default all that match",
        }),
        offset: Type.Integer({ minimum: 0, default: 0 }),
        contains: OptionalText(
          "Only records that contain all these words in any field, in upper or lower case",
        ),
      },
      {
        additionalProperties: true,
        description: "Any field of the records that is not a list or a map is an equality filter",
      },
    ),
    errors: ["unknown-collection"],
    success: {
      status: 200,
      schema: ListOf(AnyRecord),
      variants: toVariants(ListOf),
    },
    handle({ params, query, sandbox }) {
      const { limit, offset, contains = "", ...filters } = query;
      const state = requireStateCollection(sandbox.api, params.collection);
      const tx = readNow(sandbox.world);
      const all = tx.all(state.collection);
      const matches = createMatcher(state, { contains, filters: filters as Record<string, string> }, tx);
      if (matches === undefined) {
        const items = all.page(offset, limit).map((record) => state.toPublic(record, tx));
        return { items, total: all.size };
      }
      const page: Fields[] = [];
      let total = 0;
      for (const record of all) {
        if (!matches(record)) continue;
        if (total >= offset && page.length < limit) page.push(state.toPublic(record, tx));
        total += 1;
      }
      return { items: page, total };
    },
  }),
  operation({
    id: "state.create",
    route: "POST /_control/sandboxes/{name}/state/{collection}",
    summary: "Create a record. Missing fields are generated from the sandbox's seed",
    params: CollectionParams,
    query: ChangeQuery,
    body: { kind: "json", schema: SomeFields, optional: true },
    describeChange: ({ params: { collection }, sandbox }, answer) => {
      const subject = findId(sandbox, collection, answer);
      return { title: `${subject ?? "A record"} was added to ${collection}.`, subject };
    },
    errors: ["unknown-collection", "id-in-use", "limit-reached"],
    success: { status: 201, schema: AnyRecord, variants: RECORD_VARIANTS },
    handle(call) {
      const { sandbox, server, body = {} } = call;
      const change = toStateChange(call);
      requireRoomForRecords(server, sandbox.world.root, 1);
      return insertRecord(change, body);
    },
  }),
  operation({
    id: "state.retrieve",
    route: "GET /_control/sandboxes/{name}/state/{collection}/{id}",
    summary: "Show a record",
    params: RecordParams,
    errors: ["unknown-collection", "unknown-record"],
    success: { status: 200, schema: AnyRecord, variants: RECORD_VARIANTS },
    handle({ params, sandbox }) {
      const state = requireStateCollection(sandbox.api, params.collection);
      const tx = readNow(sandbox.world);
      return state.toPublic(requireRecord(tx, state.collection, params.id), tx);
    },
  }),
  operation({
    id: "state.update",
    route: "PATCH /_control/sandboxes/{name}/state/{collection}/{id}",
    summary: "Change fields of a record",
    params: RecordParams,
    query: ChangeQuery,
    body: { kind: "json", schema: SomeFields },
    describeChange: ({ params: { collection, id } }) => ({
      title: `${id} of ${collection} was changed.`,
      subject: id,
    }),
    errors: ["unknown-collection", "unknown-record", "limit-reached"],
    success: { status: 200, schema: AnyRecord, variants: RECORD_VARIANTS },
    handle: (call) => updateRecord(toStateChange(call), call.params.id, call.body),
  }),
  operation({
    id: "state.delete",
    route: "DELETE /_control/sandboxes/{name}/state/{collection}/{id}",
    summary: "Delete a record and the records that belong to it",
    params: RecordParams,
    query: ChangeQuery,
    describeChange: ({ params: { collection, id } }) => ({
      title: `${id} of ${collection} was deleted with what belongs to it.`,
      subject: id,
    }),
    errors: ["unknown-collection", "unknown-record"],
    success: { status: 204 },
    handle: (call) => removeRecord(toStateChange(call), call.params.id),
  }),
];

function readNow(world: { catchUp(): void; read(): Transaction }): Transaction {
  world.catchUp();
  return world.read();
}

function findId({ api }: Sandbox, collection: string, answer: unknown): string | undefined {
  const field = api.collections.find(({ name }) => name === collection)?.idField;
  return field === undefined ? undefined : ((answer as Fields | undefined)?.[field] as string | undefined);
}

type ChangingCall = ControlContext & { params: { collection: string }; query: Static<typeof ChangeQuery> };

function toStateChange(call: ChangingCall): StateChange {
  const { params, sandbox, server } = call;
  const state = requireStateCollection(sandbox.api, params.collection);
  const checkLimits = (tx: Transaction) => requireRoomAfter(server, sandbox.world, tx);
  return { state, sandbox, actor: requireActor(call), checkLimits };
}

/** The user who makes the change (G31); unknown users are refused, so that no log names them. */
function requireActor({ query: { silent, actor }, sandbox }: ChangingCall): StateActor {
  const users = listStateCollections(sandbox.api.resources).get("users");
  if (actor !== undefined && users && sandbox.world.read().get(users.collection, actor) === undefined) {
    throw unprocessable("actor", actor, "must be the id of a user of this sandbox");
  }
  return { user_id: actor, silent, settings: sandbox.settings };
}
