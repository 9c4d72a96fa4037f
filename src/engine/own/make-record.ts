import type { Factory, FactoryContext } from "../contract/factory.ts";
import { inventEmail, inventName, inventTitle } from "../contract/invent.ts";
import { hasInstants, isInstant } from "../contract/public-view.ts";
import { findOrganization, type Reference } from "../contract/references.ts";
import { getPrefix, type JsonSchema } from "../contract/schema.ts";
import { toValidator } from "../contract/validator.ts";
import { getOwn } from "../maps.ts";
import { chooseOrganization, findAuthor } from "../resources/organizations/access.ts";
import { DAY_MS } from "../state/clock.ts";
import type { AnyCollection } from "../state/collection.ts";
import { generateBySchema } from "./generate-by-schema.ts";

type Fields = Record<string, unknown>;

type ReplaceUnfit = (field: string, value: unknown, context: FactoryContext) => unknown;

/** Completes records by the schema of their collection: missing required fields get plausible values. */
export function createFactory(
  collection: AnyCollection,
  collectionsByName: ReadonlyMap<string, AnyCollection>,
  replaceUnfit: ReplaceUnfit = (_field, value) => value,
): Factory<object> {
  const { properties, required = [] } = collection.schema as unknown as Required<
    Pick<JsonSchema, "properties">
  > &
    JsonSchema;
  const { idField, prefix } = collection;
  return (given, context) => {
    const fields = given as Fields;
    const organization_id =
      properties["organization_id"] === undefined
        ? undefined
        : chooseOrganization(context, fields["organization_id"] as string | undefined);
    const record: Fields = {};
    for (const [name, schema] of Object.entries(properties)) {
      const value = getOwn(fields, name);
      if (value !== undefined) record[name] = value;
      else if (name === idField) record[name] = context.createId(prefix);
      else if (name === "organization_id") record[name] = replaceUnfit(name, organization_id, context);
      else if (required.includes(name)) {
        const invented = invent(name, schema, { context, collectionsByName, organization_id });
        record[name] = replaceUnfit(name, invented, context);
      }
    }
    return record;
  };
}

interface OwnerContext {
  context: Pick<FactoryContext, "world" | "actor_id" | "actor_organization_id">;
  collectionsByName: ReadonlyMap<string, AnyCollection>;
  organization_id: string | undefined;
}

interface InventContext extends OwnerContext {
  context: FactoryContext;
}

function invent(name: string, schema: JsonSchema, inventContext: InventContext): unknown {
  const { context } = inventContext;
  const { random, now, isFixture } = context;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  const types = [schema.type ?? []].flat();
  if (types.includes("null") || schema.anyOf?.some(({ type }) => type === "null")) return null;
  if (schema.enum !== undefined) return random.pick(schema.enum);
  const reference = schema["x-refers-to"] as Reference | undefined;
  if (reference !== undefined) return findReferredId(reference, inventContext);
  // In a fixture, instants are relative to the sandbox's initial instant.
  if (isInstant(schema as never)) return isFixture ? -random.int(DAY_MS, 30 * DAY_MS) : now;
  if (schema.anyOf !== undefined) return invent(name, schema.anyOf[0]!, inventContext);
  const [type] = types;
  if (type === "boolean") return random.int(0, 1) === 1;
  // Stored instants are numbers, which do not fit the schema.
  const keepIfValid = (value: unknown) =>
    hasInstants(schema) || toValidator(schema)(value) ? value : generateBySchema(schema, random.uint32());
  if (type === "integer" || type === "number") return keepIfValid(inventNumber(schema, context));
  if (type === "array") {
    const { minItems = 0, items = {} } = schema;
    return keepIfValid(Array.from({ length: minItems }, () => invent(name, items, inventContext)));
  }
  if (type === "object") {
    const { properties = {}, required = [] } = schema;
    const fields = required.map((key) => [key, invent(key, properties[key] ?? {}, inventContext)]);
    return keepIfValid(Object.fromEntries(fields));
  }
  if (type === "string") return keepIfValid(inventText(name, schema, context));
  return null;
}

/** A whole number within the bounds if there is one, else their middle. A bound that is missing is 100 away from the other. */
function inventNumber(schema: JsonSchema, { random }: FactoryContext): number {
  const { exclusiveMinimum, exclusiveMaximum, maximum = exclusiveMaximum } = schema;
  const lowest = maximum !== undefined && maximum <= 0 ? maximum - 100 : 0;
  const { minimum = exclusiveMinimum ?? lowest } = schema;
  const high = maximum ?? minimum + 100;
  const first = minimum === exclusiveMinimum ? Math.floor(minimum) + 1 : Math.ceil(minimum);
  const last = high === exclusiveMaximum ? Math.ceil(high) - 1 : Math.floor(high);
  return first <= last ? random.int(first, last) : (minimum + high) / 2;
}

function inventText(
  name: string,
  { format, examples, pattern, minLength = 0, maxLength }: JsonSchema,
  context: FactoryContext,
): string {
  const { random } = context;
  if (examples !== undefined) return String(random.pick(examples));
  const prefix = getPrefix({ pattern });
  if (prefix !== undefined) return context.createId(prefix);
  if (format === "email") return inventEmail(inventName(context), context.createId("x_"), context);
  if (format === "uri") return `https://${random.characters(8)}.example.test/`;
  if (format === "uuid")
    return random
      .characters(32)
      .replace(/\w/g, (c) => (c.charCodeAt(0) % 16).toString(16))
      .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5");
  if (format === "date") return new Date(Date.UTC(2026, 0, random.int(1, 365))).toISOString().slice(0, 10);
  const text = /name$/.test(name) ? inventName(context) : inventTitle(context);
  return text.padEnd(minLength, ".").slice(0, maxLength);
}

/**
 * The id of a record of the same organization, if there is one. Else the first, except for an own operation: its caller does
 * not see records of other organizations.
 */
export function findReferredId(
  { collection: name }: Pick<Reference, "collection">,
  { context, collectionsByName, organization_id }: OwnerContext,
): string | null {
  const { world, actor_id, actor_organization_id } = context;
  if (name === "organizations") return chooseOrganization(context, organization_id);
  if (name === "users" && actor_id !== undefined) return actor_id;
  if (name === "users" && organization_id !== undefined) return findAuthor(world, organization_id);
  const collection = collectionsByName.get(name);
  if (collection === undefined) return null;
  const records = world.all(collection);
  const isOwn = actor_organization_id !== undefined;
  const wanted = organization_id ?? actor_organization_id;
  const source = { world, findCollection: (owner: string) => collectionsByName.get(owner) };
  const referred =
    records
      .page(0, isOwn ? records.size : 1000)
      .find((one) => (findOrganization(one, collection, source) ?? wanted) === wanted) ??
    (isOwn ? undefined : records.first());
  return referred === undefined ? null : collection.getId(referred);
}
