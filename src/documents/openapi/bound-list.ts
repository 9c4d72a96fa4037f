import type { Call } from "../../engine/contract/operation.ts";
import { Reply } from "../../engine/contract/reply.ts";
import type { OperationBinding } from "./binding-schema.ts";
import type { BoundCollection } from "./bound-collection.ts";
import type { DescribedSuccess } from "./declare-operation.ts";
import type { DescribedOperation } from "./list-operations.ts";
import { ECHOED, findPageNames, readPage, sortBy } from "./list-records.ts";
import type { Json } from "./open-document.ts";
import { BodyPresenter, findSchema, RecordPresenter } from "./present-record.ts";
import type { Schemas } from "./schemas.ts";
import type { RecordRows } from "./select-records.ts";
import { fill, toValues } from "./templates.ts";

export interface ListParts {
  described: DescribedOperation;
  binding: OperationBinding;
  target: BoundCollection;
  success: DescribedSuccess;
  status: number;
}

/** Answers a page of a target's records in the form that the document describes. */
export function toLister(
  { described, binding, target, success, status }: ListParts,
  { rows, schemas, toConditions }: { rows: RecordRows; schemas: Schemas; toConditions: (call: Call) => Json },
): (call: Call) => unknown {
  const answer = success.json?.schema?.node;
  const itemsAt = binding.items_at ?? findItems(answer, target, schemas);
  const list = itemsAt === "" ? answer : findSchema(answer, itemsAt, schemas);
  const presenter = new RecordPresenter(target, schemas.plain(list)["items"] ?? {}, schemas);
  const names = findPageNames(described, answer, { schemas, declared: binding.page });
  const envelope = itemsAt === "" ? undefined : new BodyPresenter(answer, schemas);
  const nullNext =
    names.next !== undefined && schemas.types(findSchema(answer, names.next, schemas)).has("null");
  const paging = new Set(Object.values(names));
  const filters = described.parameters
    .filter(({ in: place, name }) => place === "query" && target.fields.has(name) && !paging.has(name))
    .map(({ name }) => name);
  const echoed = [...schemas.properties(answer).keys()].filter(
    (name) => ECHOED.test(name) && !isMapped(name, names),
  );
  const ranks = {
    order: (record: object) => rows.getOrder(record),
    getId: (record: object) => target.getId(record),
  };
  const findRows = (call: Call) => {
    const query = call.query as Json;
    const conditions = toConditions(call);
    for (const name of filters) if (query[name] !== undefined) conditions[name] = query[name];
    const found = rows.list(call.world, conditions);
    if (binding.sort === undefined) return found;
    const sort = fill(binding.sort, toValues(call, call.params as Json, undefined));
    return typeof sort === "string" && sort !== "" ? sortBy(found, sort) : found;
  };
  return (call) => {
    const query = call.query as Json;
    const found = findRows(call);
    const find = (id: string) => target.find(call.world, id);
    const { records, total, next } = readPage(found, query, names, { ...ranks, find });
    const items = records.map((record) => presenter.present(record, call.world));
    if (envelope === undefined) return new Reply(status, items);
    const places: [string, unknown][] = [[itemsAt, items]];
    if (names.total !== undefined) places.push([names.total, total]);
    if (names.next !== undefined && (next !== undefined || nullNext)) places.push([names.next, next ?? null]);
    if (names.more !== undefined) places.push([names.more, next !== undefined]);
    for (const name of echoed) if (query[name] !== undefined) places.push([name, query[name]]);
    return new Reply(status, envelope.present(places, call.world));
  };
}

/** The only list of an answer, or the one with a usual name. */
function findItems(answer: unknown, target: Pick<BoundCollection, "collection">, schemas: Schemas): string {
  if (schemas.types(answer).has("array")) return "";
  const lists = [...schemas.properties(answer)]
    .filter(([, node]) => schemas.types(node).has("array"))
    .map(([name]) => name);
  if (lists.length === 1) return lists[0]!;
  return (
    [target.collection.name, "data", "items", "results", "records"].find((name) => lists.includes(name)) ??
    lists[0] ??
    ""
  );
}

const isMapped = (name: string, names: object) =>
  Object.entries(names).some(([key, place]) => place === name && ["total", "next", "more"].includes(key));
