import { describe, expect, it } from "vitest";
import { type JsonSchema, resolveSchema, type SchemaComponents, splitNull } from "../../api/open-api.ts";
import { formatType, listFields, makeExample } from "./schema.tsx";

const refer = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const of = (schemas: Record<string, JsonSchema>): SchemaComponents => ({ schemas });
const numbers = Array.from({ length: 40 }, (_, at) => at);

/** The rows that a pane shows of a schema. An unbounded search would exceed the test's timeout. */
function show(schema: JsonSchema, components: SchemaComponents) {
  const shown = {
    example: makeExample(schema, components),
    fields: listFields(schema, components),
    type: formatType(schema, components),
    whole: resolveSchema(schema, components),
    one: splitNull(schema, components).nonNull,
  };
  expect(JSON.stringify([shown.example, shown.fields, shown.type]).length).toBeLessThan(200_000);
  return shown;
}

describe("the console's view of a schema", () => {
  it("shows the fields of all parts of a schema that refers to itself [interfaces 18]", () => {
    const makePart = (name: string, ...others: string[]): JsonSchema => ({
      allOf: others.map(refer),
      type: "object",
      properties: { [name]: { type: "string" } },
      required: [name],
    });
    const components = of({
      A: makePart("a", "B", "C"),
      B: makePart("b", "A", "C"),
      C: makePart("c", "A", "B", "C"),
    });
    const { example, fields } = show(refer("A"), components);
    expect(example).toEqual({ a: "text", b: "text", c: "text" });
    expect(fields.map(({ name, required }) => [name, required]).sort()).toEqual([
      ["a", true],
      ["b", true],
      ["c", true],
    ]);
  });

  it("leaves properties that are read-only out of requests, and write-only ones out of responses [interfaces 18]", () => {
    const schema: JsonSchema = {
      type: "object",
      required: ["id", "name", "secret"],
      properties: {
        id: { readOnly: true, allOf: [refer("Id")] },
        name: { type: "string", example: "Red" },
        secret: { type: "string", writeOnly: true },
      },
    };
    const components = of({ Id: { type: "string" } });
    expect(makeExample(schema, components, "request")).toEqual({ name: "Red", secret: "text" });
    expect(makeExample(schema, components)).toEqual({ id: "text", name: "Red" });
    expect(listFields(schema, components, "request").map(({ name }) => name)).toEqual(["name", "secret"]);
    expect(listFields(schema, components).map(({ name }) => name)).toEqual(["id", "name"]);
  });

  it("shows the properties, and their example, of an object with alternatives beside them [interfaces 18]", () => {
    const schema: JsonSchema = {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string" }, url: { type: "string" }, text: { type: "string" } },
      anyOf: [{ required: ["url"] }, { required: ["text"] }],
    };
    const { example, fields, type } = show(schema, of({}));
    expect(example).toEqual({ name: "text", url: "text" });
    expect(fields.map(({ name }) => name)).toEqual(["name", "url", "text"]);
    expect(type).toBe("object");
  });

  it.each(["anyOf", "oneOf"])(
    "shows the description beside %s of a value and null [interfaces 18]",
    (key) => {
      const nickname: JsonSchema = {
        description: "As friends say",
        [key]: [{ type: "string" }, { type: "null" }],
      };
      const { fields } = show({ properties: { nickname } }, of({}));
      expect(fields).toMatchObject([{ type: "string | null", about: "As friends say" }]);
      expect(splitNull(nickname, of({}))).toMatchObject({ nonNull: { type: "string" }, isNullable: true });
    },
  );

  it("puts the alternatives of a list's items in brackets [interfaces 18]", () => {
    const formatList = (items: JsonSchema) => formatType({ type: "array", items }, of({}));
    expect(formatList({ enum: ["a", "b"] })).toBe('("a" | "b")[]');
    expect(formatList({ type: ["string", "null"] })).toBe("(string | null)[]");
    expect(formatList({ type: "string", format: "date-time" })).toBe("(string, date-time)[]");
    expect(formatList({ type: "string" })).toBe("string[]");
  });

  it("shows null as the example of a schema that allows only null", () => {
    expect(makeExample({ type: "null" }, of({}))).toBeNull();
    expect(makeExample({ anyOf: [{ type: "null" }, { type: "string" }] }, of({}))).toBeNull();
  });

  it("joins each part once, if forty levels of a schema share parts [interfaces 18]", () => {
    const schemas = Object.fromEntries(
      numbers.map((at): [string, JsonSchema] => [
        `L${at}`,
        {
          allOf:
            at === 39 ? [] : [refer(`L${at + 1}`), refer(`L${at + 1}`), { allOf: [refer(`L${at + 1}`)] }],
          properties: { [`field${at}`]: { type: "integer" } },
          required: [`field${at}`],
        },
      ]),
    );
    const { whole, example } = show(refer("L0"), of(schemas));
    expect(Object.keys(whole.properties!)).toHaveLength(40);
    expect(Object.keys(example as object)).toHaveLength(40);
  });

  it("ends for a schema that contains itself in required fields, lists and alternatives [interfaces 18]", () => {
    const node: JsonSchema = {
      type: "object",
      required: ["child", "children", "either", "name"],
      properties: {
        name: { type: "string" },
        child: refer("Node"),
        children: { type: "array", items: { type: "array", items: refer("Node") } },
        either: { anyOf: [refer("Node"), { oneOf: [refer("Node"), refer("Either")] }] },
      },
    };
    const components = of({
      Node: node,
      Either: { anyOf: [refer("Either"), refer("Node"), { type: "null" }] },
    });
    const { fields, example } = show(refer("Node"), components);
    expect(example).toMatchObject({ name: "text", child: { name: "text" } });
    expect(fields.length).toBeLessThanOrEqual(400);
    expect(fields[0]).toMatchObject({ name: "name", depth: 0, type: "string" });
    show(refer("Either"), components);
  });

  it("is short for a schema that is wide at every level, with objects or alternatives [interfaces 18]", () => {
    const fields = Object.fromEntries(numbers.map((at) => [`f${at}`, refer("Wide")]));
    const wide: JsonSchema = { type: "object", required: Object.keys(fields), properties: fields };
    const choice: JsonSchema = {
      anyOf: numbers.map((at) => (at === 39 ? { type: "string" } : refer("Choice"))),
    };
    const words = Array.from({ length: 5_000 }, (_, at) => `word${at}`);
    const components = of({ Wide: wide, Choice: choice });
    expect(Object.keys(show(refer("Wide"), components).example as object)).toHaveLength(40);
    expect(show(refer("Choice"), components).type).toContain("…");
    const { type } = show({ enum: words }, components);
    expect(type.startsWith('"word0" | "word1"')).toBe(true);
    expect(type.endsWith("| …")).toBe(true);
  });

  it("follows ten thousand references, and names one that leads nowhere [interfaces 18]", () => {
    const chain = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, at): [string, JsonSchema] => [`S${at}`, refer(`S${at + 1}`)]),
    );
    expect(show(refer("S0"), of({ ...chain, S10000: { type: "boolean" } })).type).toBe("any");
    expect(show(refer("S9900"), of({ ...chain, S10000: { type: "boolean" } })).example).toBe(true);
    expect(show(refer("Lost"), of({})).type).toBe("any");
  });

  it("ends for lists that nest two thousand deep [interfaces 18]", () => {
    let schema: JsonSchema = { type: "string" };
    for (let level = 0; level < 2_000; level++) schema = { type: "array", items: schema };
    expect(show(schema, of({})).type).toMatch(/^any(\[\])+$/);
  });
});
