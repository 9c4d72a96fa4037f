import Type from "typebox";
import { noContent } from "../../contract/operation.ts";
import type { StateActor } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { requireRoomAfter, requireRoomForRecords } from "../limits.ts";
import { type AnyControlOperation, type ControlCall, controlOperation, S } from "../operation.ts";
import { unprocessable } from "../problem.ts";
import {
  type Fields,
  insertRecord,
  removeRecord,
  requireRecord,
  type Target,
  updateRecord as update,
} from "../state/change-records.ts";
import { matcherFor } from "../state/filter-records.ts";
import { type StateCollection, stateCollection, stateCollections } from "../state/state-collection.ts";

/** More than a sandbox may hold: whoever names no limit gets all that match. */
const MOST = 1_000_000;

const ChangeQuery = Type.Object({
  silent: Type.Boolean({ default: false }),
  actor: Type.Optional(Type.String()),
});
const AnyFields = Type.Unsafe<Fields>({ type: "object" });

const listCollections = controlOperation({
  id: "state.collections",
  method: "GET",
  path: `${S}/state`,
  summary: "List the collections with their sizes",
  handle({ sandbox, server }) {
    const tx = present(sandbox.world);
    const items = [...stateCollections(server.resources).values()].map(({ collection }) => ({
      name: collection.name,
      id_field: collection.idField,
      prefix: collection.prefix,
      records: tx.all(collection).size,
    }));
    return { items, total: items.length };
  },
});

const listRecords = controlOperation({
  id: "state.list",
  method: "GET",
  path: `${S}/state/{collection}`,
  summary: "List records, narrowed by equality filters on their fields",
  query: Type.Object(
    {
      limit: Type.Integer({ minimum: 1, maximum: MOST, default: MOST }),
      offset: Type.Integer({ minimum: 0, default: 0 }),
    },
    { additionalProperties: true },
  ),
  handle(call) {
    const { sandbox, server } = call;
    const { limit, offset, ...filters } = call.query as { limit: number; offset: number } & Record<
      string,
      string
    >;
    const state = stateCollection(server.resources, nameIn(call));
    const tx = present(sandbox.world);
    const all = tx.all(state.collection);
    const matches = matcherFor(state, filters, tx);
    if (matches === undefined) {
      const items = all.page(offset, limit).map((record) => state.toPublic(record, tx));
      return { items, total: all.size };
    }
    const found: object[] = [];
    let total = 0;
    for (const record of all) {
      if (!matches(record)) continue;
      if (total >= offset && found.length < limit) found.push(state.toPublic(record, tx));
      total += 1;
    }
    return { items: found, total };
  },
});

const createRecord = controlOperation({
  id: "state.create",
  method: "POST",
  path: `${S}/state/{collection}`,
  summary: "Create a record; what is not given is filled with plausible values from the sandbox's seed",
  status: 201,
  query: ChangeQuery,
  body: { schema: AnyFields, optional: true },
  handle(call) {
    const { sandbox, server, body = {} } = call;
    const state = stateCollection(server.resources, nameIn(call));
    requireRoomForRecords(server, sandbox.world.root, 1);
    return insertRecord(targetOf(call, state), body);
  },
});

const retrieveRecord = controlOperation({
  id: "state.retrieve",
  method: "GET",
  path: `${S}/state/{collection}/{id}`,
  summary: "Show a record",
  handle(call) {
    const { sandbox, server } = call;
    const state = stateCollection(server.resources, nameIn(call));
    const tx = present(sandbox.world);
    return state.toPublic(requireRecord(tx, state.collection, idIn(call)), tx);
  },
});

const updateRecord = controlOperation({
  id: "state.update",
  method: "PATCH",
  path: `${S}/state/{collection}/{id}`,
  summary: "Change fields of a record; the API's invariants hold",
  query: ChangeQuery,
  body: { schema: AnyFields },
  handle(call) {
    const { server, body } = call;
    const state = stateCollection(server.resources, nameIn(call));
    return update(targetOf(call, state), idIn(call), body);
  },
});

const deleteRecord = controlOperation({
  id: "state.delete",
  method: "DELETE",
  path: `${S}/state/{collection}/{id}`,
  summary: "Delete a record with what belongs to it",
  query: ChangeQuery,
  handle(call) {
    const state = stateCollection(call.server.resources, nameIn(call));
    removeRecord(targetOf(call, state), idIn(call));
    return noContent();
  },
});

function nameIn({ params }: ControlCall): string {
  return (params as { collection: string }).collection;
}

function idIn({ params }: ControlCall): string {
  return (params as { id: string }).id;
}

function present(world: { catchUp(): void; read(): Transaction }): Transaction {
  world.catchUp();
  return world.read();
}

function targetOf(call: ControlCall, state: StateCollection): Target {
  const { sandbox, server } = call;
  const admit = (tx: Transaction) => requireRoomAfter(server, sandbox.world, tx);
  return { state, sandbox, actor: actorOf(call), admit };
}

/** G31: on whose behalf; unknown users are refused rather than written into a log. */
function actorOf({ query, sandbox, server }: ControlCall): StateActor {
  const { silent, actor } = query as { silent: boolean; actor?: string };
  const users = stateCollections(server.resources).get("users");
  if (actor !== undefined && users && sandbox.world.read().get(users.collection, actor) === undefined) {
    throw unprocessable("actor", actor, "must be the id of a user of this sandbox");
  }
  return { user_id: actor, silent, settings: sandbox.settings };
}

export const STATE_OPERATIONS: readonly AnyControlOperation[] = [
  listCollections,
  listRecords,
  createRecord,
  retrieveRecord,
  updateRecord,
  deleteRecord,
];
