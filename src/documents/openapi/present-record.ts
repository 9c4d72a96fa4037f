import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { hash32 } from "../../engine/state/random.ts";
import type { WorldReader } from "../../engine/state/transaction.ts";
import type { BoundCollection } from "./bound-collection.ts";
import { completeObject, type Invention } from "./generate-value.ts";
import type { Schemas } from "./schemas.ts";

/** Shows a record by the schema of an answer: only its properties, with values for required ones that the record lacks. */
export class RecordPresenter {
  private readonly target: BoundCollection;
  private readonly schemas: Schemas;
  private readonly node: unknown;
  /** Undefined if the record is shown whole. */
  private readonly picked: ReadonlySet<string> | undefined;
  private readonly missing: readonly string[];

  constructor(target: BoundCollection, node: unknown, schemas: Schemas) {
    this.target = target;
    this.schemas = schemas;
    this.node = node;
    const names = [...schemas.listFields(node).keys()];
    const whole = target.spec !== undefined && [...target.fields].every((field) => names.includes(field));
    this.picked = names.length === 0 || whole ? undefined : new Set(names);
    // An own record was completed when it was created.
    this.missing = [...schemas.listRequired(node)].filter((name) => !target.fields.has(name));
  }

  present(record: object, world: WorldReader): JsonObject {
    const fields = this.target.toPublic(record, world);
    const { picked } = this;
    if (picked !== undefined) for (const name in fields) if (!picked.has(name)) delete fields[name];
    if (this.missing.length === 0) return fields;
    const invention: Invention = {
      schemas: this.schemas,
      now: world.toIso(world.now),
      seed: hash32(this.target.getId(record)),
    };
    return completeObject(fields, this.node, invention);
  }
}

/** The body around records: fills the fixed places, and completes other parts that its schema requires. */
export class BodyPresenter {
  private readonly schemas: Schemas;
  private readonly node: unknown;

  /** Required properties of the body, each with its own required properties. */
  private readonly needed: readonly (readonly [name: string, inner: readonly string[]])[];

  constructor(node: unknown, schemas: Schemas) {
    this.node = node;
    this.schemas = schemas;
    const required = schemas.listRequired(node);
    const isNeeded = ([name, schema]: [string, unknown]) =>
      required.has(name) ||
      schemas.listRequired(schema).size > 0 ||
      schemas.mergeKeywords(schema)["default"] !== undefined;
    const properties = [...schemas.listProperties(node)].filter(isNeeded);
    this.needed = properties.map(([name, schema]) => [name, [...schemas.listRequired(schema)]]);
  }

  present(places: readonly (readonly [place: string, value: unknown])[], world: WorldReader): unknown {
    const body: JsonObject = {};
    for (const [place, value] of places) putAt(body, place, value);
    if (this.isWhole(body)) return body;
    return this.complete(body, this.node, { schemas: this.schemas, now: world.toIso(world.now), seed: 0 });
  }

  /** Whether no part is missing, as in most answers. */
  private isWhole(body: JsonObject): boolean {
    return this.needed.every(([name, inner]) => {
      const value = body[name];
      return value !== undefined && (!isJsonObject(value) || inner.every((one) => value[one] !== undefined));
    });
  }

  private complete(body: JsonObject, node: unknown, invention: Invention): JsonObject {
    const whole = completeObject(body, node, invention);
    for (const [name, schema] of this.schemas.listProperties(node))
      if (isJsonObject(body[name]) && this.schemas.listRequired(schema).size > 0)
        whole[name] = this.complete(body[name], schema, invention);
    return whole;
  }
}

/** The schema at a place such as `meta.next`. */
export function findSchema(node: unknown, place: string, schemas: Schemas): unknown {
  return place.split(".").reduce<unknown>((inside, step) => schemas.listProperties(inside).get(step), node);
}

/** Puts a value at a place of the body, such as `meta.next`; missing objects on the way are created. @returns the body */
function putAt(body: JsonObject, place: string, value: unknown): JsonObject {
  const steps = place.split(".");
  let inside = body;
  for (const step of steps.slice(0, -1)) {
    if (!isJsonObject(inside[step])) inside[step] = {};
    inside = inside[step] as JsonObject;
  }
  inside[steps.at(-1)!] = value;
  return body;
}
