import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { getOrAdd, isEqual } from "../../engine/maps.ts";
import type { OperationBinding } from "./binding-schema.ts";
import { findSuccess } from "./declare-answer.ts";
import { chooseMedia } from "./declare-body.ts";
import { type DescribedOperation, mayBeJson, type OpenApiReading } from "./list-operations.ts";
import { isSameName } from "./page-names.ts";
import { listPathNames } from "./select-records.ts";

/** A pair of paths, `/xs` and `/xs/{id}`, whose operations need no binding of their own. */
export interface InferredPair {
  /** The last word of the list's path, in the form of a collection's name. */
  collection: string;
  schema: unknown;
  idField: string;
  /** By field: the placeholder of a parameter before the last word of the path, unless the parameter is named like a field. */
  where: JsonObject;
  /** The path of one record, without the names of its parameters. */
  path: string;
  /** By the field with an outer id: the path of the outer record, without the names of its parameters. */
  outerPaths: ReadonlyMap<string, string>;
  /** By the operation's id. */
  bindings: ReadonlyMap<string, OperationBinding>;
}

type Schemas = OpenApiReading["schemas"];
/** The operations of a path, by method. */
type Methods = ReadonlyMap<string, DescribedOperation>;

/**
 * Finds pairs whose schemas agree: the list has records of the schema that the single path answers. Those whose
 * records lack a parameter before the last word of the path come last. Else, shorter paths come first.
 */
export function inferPairs({
  operations,
  schemas,
}: Pick<OpenApiReading, "operations" | "schemas">): InferredPair[] {
  const byPath = new Map<string, Map<string, DescribedOperation>>();
  for (const operation of operations) {
    const path = operation.path.replace(/\/$/, "");
    const methods = getOrAdd(byPath, path, () => new Map<string, DescribedOperation>());
    methods.set(operation.method, operation);
  }
  const pairs = [...byPath.keys()]
    .flatMap((path) => inferPair(path, byPath, schemas) ?? [])
    .sort((a, b) => a.outerPaths.size - b.outerPaths.size);
  const isNested = ({ where }: InferredPair) => Object.keys(where).length > 0;
  return [...pairs.filter((pair) => !isNested(pair)), ...pairs.filter(isNested)];
}

/** The pair of a path of one record with that of its list, if both are there and agree. */
function inferPair(
  path: string,
  byPath: ReadonlyMap<string, Methods>,
  schemas: Schemas,
): InferredPair | undefined {
  // Some services end both paths with `.json`.
  const [, listPath, parameter, end = ""] = /^(.*\/[^{}/]+)\/\{([^{}/]+)\}(\.\w+)?$/.exec(path) ?? [];
  if (listPath === undefined || parameter === undefined) return undefined;
  const [many, single] = [byPath.get(listPath + end), byPath.get(path)!];
  const [list, retrieve] = [many?.get("GET"), single.get("GET")];
  const record = list && retrieve && findRecord(getAnswer(retrieve), getAnswer(list), schemas);
  if (many === undefined || record === undefined) return undefined;
  const { schema } = record;
  const properties = schemas.listPossibleFields(schema);
  const idField = findIdField(parameter, [...properties.keys()]);
  if (idField === undefined) return undefined;
  // In `/users/{id}/rules/{rule_id}` the first id is not the rule's.
  const outerNames = listPathNames(listPath);
  if (outerNames.some((name) => name === idField || !/^[\w.-]+$/.test(name))) return undefined;
  const findField = (name: string) =>
    [...properties.keys()].find((field) => field !== idField && isSameName(field, name)) ?? name;
  const foreignNames = outerNames.filter((name) => !properties.has(name));
  // A name that clients choose may occur once below each outer record, but once in a collection.
  const sentId = schemas.listPossibleFields(getBody(many.get("POST"))).get(idField);
  const isChosen = sentId !== undefined && !schemas.has(sentId, "readOnly") && !/id$/i.test(idField);
  if (foreignNames.length > 0 && isChosen) return undefined;
  const outerPaths = outerNames.map((name) => {
    const start = listPath.slice(0, listPath.indexOf(`{${name}}`));
    return [properties.has(name) ? name : findField(name), withoutNames(`${start}{}`)] as const;
  });
  const collection = toCollectionName(listPath.split("/").at(-1)!);
  const where = Object.fromEntries(foreignNames.map((name) => [findField(name), `{${name}}`]));
  return {
    collection,
    schema,
    idField,
    where,
    path: withoutNames(path),
    outerPaths: new Map(outerPaths),
    bindings: inferBindings({ many, single, parameter, collection, record, where }, schemas),
  };
}

interface MatchedPaths extends Pick<InferredPair, "collection" | "where"> {
  many: Methods;
  single: Methods;
  /** The path parameter with the record's id. */
  parameter: string;
  record: FoundRecord;
}

function inferBindings(
  { many, single, parameter, collection, record, where }: MatchedPaths,
  schemas: Schemas,
): Map<string, OperationBinding> {
  const { schema, itemsAt } = record;
  // Stripe and Twilio change a record by POST, and answer it.
  const post = single.get("PUT") === undefined ? single.get("POST") : undefined;
  const isChanged = post !== undefined && hasRecord(getAnswer(post), schema, schemas);
  const candidates: [DescribedOperation | undefined, OperationBinding][] = [
    [many.get("GET"), { list: collection, ...(itemsAt !== "" && { items_at: itemsAt }) }],
    [many.get("POST"), { create: collection }],
    [single.get("GET"), { retrieve: collection }],
    [single.get("PATCH") ?? (isChanged ? post : undefined), { update: collection }],
    [single.get("PUT"), { replace: collection }],
    [single.get("DELETE"), { delete: collection }],
  ];
  const bindings = new Map<string, OperationBinding>();
  for (const [operation, binding] of candidates) {
    if (operation === undefined || !canBind(operation, schemas)) continue;
    if ("create" in binding && !canCreate(operation, record, schemas)) continue;
    const id = "list" in binding || "create" in binding ? {} : { id: `{${parameter}}` };
    const at = "list" in binding ? undefined : findItem(getAnswer(operation), record, schemas);
    bindings.set(operation.id, {
      ...binding,
      ...id,
      ...(at !== undefined && { item_at: at }),
      ...(Object.keys(where).length > 0 && { where }),
    });
  }
  return bindings;
}

/** Whether an operation has no body, or one with fields. */
function canBind({ body }: DescribedOperation, schemas: Schemas): boolean {
  if (body === undefined) return true;
  const media = chooseMedia(body.media);
  const node = media?.schema?.node;
  const types = schemas.listTypes(node);
  // NestJS describes a body whose class has no decorators so, and Huma a merge patch.
  const isAnyObject =
    media !== undefined && mayBeJson(media.type) && (types.size === 0 || types.has("object"));
  return isAnyObject || schemas.listPossibleFields(node).size > 0;
}

/**
 * Whether a POST adds a record: a search has other fields in its body, and answers neither the record nor 201. One that
 * answers a list may be a search or add many; an answer with the one record would not fit the document.
 */
function canCreate(
  operation: DescribedOperation,
  { schema: record, itemsAt }: FoundRecord,
  schemas: Schemas,
): boolean {
  const answer = getAnswer(operation);
  const isRecordItem = (items: unknown) => isSameSchema(items, record, schemas);
  if (findItems(answer, schemas, isRecordItem) === itemsAt && !hasRecord(answer, record, schemas))
    return false;
  const names = [...schemas.listPossibleFields(record).keys()];
  const hasField = (node: unknown) =>
    [...schemas.listPossibleFields(node).keys()].some((name) => names.some((own) => isSameName(own, name)));
  const body = getBody(operation);
  const fields = schemas.listPossibleFields(body);
  if (fields.size === 0 || findSuccess(operation).status === 201) return true;
  return [body, ...fields.values()].some(hasField) || hasRecord(answer, record, schemas);
}

/** Whether an answer is the record, or has it in a property. */
const hasRecord = (answer: unknown, record: unknown, schemas: Schemas) =>
  [answer, ...schemas.listProperties(answer).values()].some((one) => isSameSchema(one, record, schemas));

const withoutNames = (path: string) => path.replaceAll(/\{[^{}]*\}/g, "{}");

/** The field with the id: of the parameter's name, `id`, or the one that ends the parameter, as in `TaskSid`. */
function findIdField(parameter: string, fields: readonly string[]): string | undefined {
  const endsParameter = (field: string) =>
    /^(gid|sid|uid|guid|uuid|key|slug|code|number|name)$/i.test(field) &&
    parameter.toLowerCase().endsWith(field.toLowerCase());
  return (
    [parameter, "id"].find((name) => fields.includes(name)) ??
    fields.find((field) => isSameName(field, parameter)) ??
    fields.find(endsParameter)
  );
}

const getBody = (operation: DescribedOperation | undefined) =>
  operation?.body && chooseMedia(operation.body.media)?.schema?.node;

const getAnswer = (operation: DescribedOperation) => findSuccess(operation).json?.schema?.node;

interface FoundRecord {
  schema: unknown;
  /** The property of the single answer that has the record; "" for the answer itself. */
  itemAt: string;
  itemsAt: string;
}

/** The record that a single answer is, or has in its only property that the list has too, whole or compact. */
function findRecord(answer: unknown, listAnswer: unknown, schemas: Schemas): FoundRecord | undefined {
  // Stripe may answer a deleted record instead.
  const wholes = [answer, ...schemas.listAlternatives(answer)].map((one): [string, unknown] => ["", one]);
  const places = [...wholes, ...schemas.listProperties(answer)];
  for (const isRecord of [isSameSchema, isCompact]) {
    const found = places.flatMap(([itemAt, schema]): FoundRecord[] => {
      if (schemas.listPossibleFields(schema).size === 0) return [];
      const itemsAt = findItems(listAnswer, schemas, (items) => isRecord(items, schema, schemas));
      return itemsAt === undefined ? [] : [{ schema, itemAt, itemsAt }];
    });
    if (found.length === 1 || found[0]?.itemAt === "") return found[0];
  }
  return undefined;
}

/** The property of another answer that has the record; undefined for an answer that is the record, or lacks it. */
function findItem(answer: unknown, { schema, itemAt }: FoundRecord, schemas: Schemas): string | undefined {
  if (itemAt === "") return undefined;
  const properties = schemas.listPossibleFields(answer);
  const isRecord = ([, node]: [string, unknown]) => isSameSchema(node, schema, schemas);
  const mayBeRecord = properties.has(itemAt) && schemas.doTypesOverlap(properties.get(itemAt), schema);
  return [...properties].find(isRecord)?.[0] ?? (mayBeRecord ? itemAt : undefined);
}

/** The place of the only list of such records in an answer: "" for the answer itself. Undefined if there is none. */
function findItems(
  answer: unknown,
  schemas: Schemas,
  isRecord: (items: unknown) => boolean,
): string | undefined {
  const isList = (node: unknown) =>
    schemas.listTypes(node).has("array") && isRecord(schemas.mergeKeywords(node)["items"]);
  if (schemas.listTypes(answer).has("array")) return isList(answer) ? "" : undefined;
  const lists = [...schemas.listProperties(answer)].filter(([, node]) => isList(node));
  return lists.length === 1 ? lists[0]![0] : undefined;
}

/** Whether a schema has some of a record's fields, and no others. */
function isCompact(node: unknown, record: unknown, schemas: Schemas): boolean {
  const fields = [...schemas.listPossibleFields(node)];
  const ownFields = schemas.listPossibleFields(record);
  const isOwn = ([name, one]: [string, unknown]) =>
    ownFields.has(name) && schemas.doTypesOverlap(one, ownFields.get(name));
  return fields.length > 1 && fields.every(isOwn);
}

export function isSameSchema(a: unknown, b: unknown, schemas: Schemas): boolean {
  const isSameReference =
    isJsonObject(a) && isJsonObject(b) && a["$ref"] !== undefined && a["$ref"] === b["$ref"];
  return isSameReference || isEqual(schemas.mergeKeywords(a), schemas.mergeKeywords(b));
}

/** `user-groups` and `userGroups` become `user_groups`, as collections are named. */
function toCollectionName(word: string): string {
  return word
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
}
