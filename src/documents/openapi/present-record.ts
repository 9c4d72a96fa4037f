import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { hash32 } from "../../engine/state/random.ts";
import type { WorldReader } from "../../engine/state/transaction.ts";
import type { BoundCollection } from "./bound-collection.ts";
import { completeObject, type Invention } from "./generate-value.ts";
import { putAt } from "./read-parameters.ts";
import type { Schemas } from "./schemas.ts";

/** Shows a record by the schema of an answer: only its properties, with values for required ones that the record lacks. */
export function createRecordPresenter(target: BoundCollection, node: unknown, schemas: Schemas) {
  const described = schemas.listPossibleFields(node);
  const names = [...new Set([...described.keys(), ...schemas.listRequired(node)])];
  const showsAllFields =
    target.spec !== undefined &&
    [...target.fieldNames].every((field) => target.outerIdFields.has(field) || names.includes(field));
  const shownOuterIdFields = names.filter((name) => target.outerIdFields.has(name));
  /** Undefined if the record is shown whole. */
  const shownNames = described.size === 0 || showsAllFields ? undefined : new Set(names);
  const properties = schemas.listProperties(node);
  const required = [...schemas.listRequired(node)].filter(
    (name) => !schemas.has(properties.get(name), "writeOnly"),
  );
  return (record: object, world: WorldReader): JsonObject => {
    const fields = target.toPublic(record, world);
    if (shownNames !== undefined) for (const name in fields) if (!shownNames.has(name)) delete fields[name];
    for (const name of shownOuterIdFields) fields[name] = (record as JsonObject)[name];
    if (required.every((name) => fields[name] !== undefined)) return fields;
    const seed = hash32(target.getId(record));
    return completeObject(fields, node, { schemas, now: world.toIso(world.now), seed });
  };
}

/** Makes the body around records: fills the places, such as `meta.next`, and adds other parts that its schema requires. */
export function createBodyPresenter(node: unknown, schemas: Schemas) {
  const required = schemas.listRequired(node);
  const isNeeded = ([name, schema]: [string, unknown]) =>
    required.has(name) ||
    schemas.listRequired(schema).size > 0 ||
    schemas.mergeKeywords(schema)["default"] !== undefined;
  /** Properties that are required, have a default, or have required properties of their own, which are listed. */
  const neededProperties = [...schemas.listProperties(node)]
    .filter(isNeeded)
    .map(([name, schema]) => [name, [...schemas.listRequired(schema)]] as const);
  /** Whether no part is missing, as in most answers. */
  const isComplete = (body: JsonObject) =>
    neededProperties.every(([name, inner]) => {
      const value = body[name];
      return value !== undefined && (!isJsonObject(value) || inner.every((one) => value[one] !== undefined));
    });
  return (places: readonly (readonly [place: string, value: unknown])[], world: WorldReader): unknown => {
    const body: JsonObject = {};
    for (const [place, value] of places) putAt(body, place.split("."), value);
    if (isComplete(body)) return body;
    return completeBody(body, node, { schemas, now: world.toIso(world.now), seed: 0 });
  };
}

function completeBody(body: JsonObject, node: unknown, invention: Invention): JsonObject {
  const { schemas } = invention;
  const whole = completeObject(body, node, invention);
  for (const [name, schema] of schemas.listProperties(node))
    if (isJsonObject(body[name]) && schemas.listRequired(schema).size > 0)
      whole[name] = completeBody(body[name], schema, invention);
  return whole;
}

/** The schema at a place such as `meta.next`. */
export function findSchema(node: unknown, place: string, schemas: Schemas): unknown {
  return place.split(".").reduce<unknown>((inside, step) => schemas.listProperties(inside).get(step), node);
}
