import type { TSchema } from "typebox";

type Json = Record<string, unknown>;

/** Our own notes on schemas, which mean nothing to a reader of the document. */
const INTERNAL = new Set([
  ...["x-instant", "x-page", "x-refers-to", "x-keys-refer-to", "x-internal", "x-type"],
  ...["$id", "~kind", "~optional"],
]);

/** Collects titled object schemas under components/schemas and leaves references in their places. */
export class SchemaComponents {
  readonly schemas: Json = {};
  private readonly names = new Map<TSchema, string>();

  place(schema: TSchema): Json {
    const { title, $id } = schema as { title?: string; $id?: string };
    const name = title ?? $id;
    if (name === undefined || !/^[A-Za-z][A-Za-z0-9]*$/.test(name)) return this.inline(schema);
    const taken = this.schemas[name] !== undefined && this.names.get(schema) !== name;
    if (taken) return this.inline(schema);
    if (this.schemas[name] === undefined) {
      this.names.set(schema, name);
      this.schemas[name] = {};
      this.schemas[name] = this.inline(schema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  private inline(schema: TSchema): Json {
    const copy: Json = {};
    for (const [key, value] of Object.entries(schema)) {
      if (INTERNAL.has(key)) continue;
      if (key === "format" && value === "date-or-instant") {
        copy["description"] ??= "An ISO 8601 date (the whole UTC day) or date-time";
      } else copy[key] = this.value(key, value);
    }
    return copy;
  }

  private value(key: string, value: unknown): unknown {
    if (key === "properties" || key === "patternProperties") {
      return Object.fromEntries(
        Object.entries(value as Record<string, TSchema>).map(([name, inner]) => [name, this.place(inner)]),
      );
    }
    if (key === "items" || (key === "additionalProperties" && typeof value === "object"))
      return this.place(value as TSchema);
    if (key === "anyOf" || key === "oneOf" || key === "allOf")
      return (value as TSchema[]).map((inner) => this.place(inner));
    return value;
  }
}
