import { describe, expect, it } from "vitest";
import { FixtureLibrary } from "../../documents/fixture-library.ts";
import { findReferences, visitReferences } from "../contract/references.ts";
import { RESOURCES } from "./index.ts";

const COLLECTIONS = RESOURCES.flatMap((resource) =>
  resource.collections.map((collection) => ({ collection, resource, name: collection.name })),
);
const NAMES = new Set(COLLECTIONS.map(({ name }) => name));

describe("a record", () => {
  it("has a factory in every collection of state calls [interfaces 4]", () => {
    const without = COLLECTIONS.filter(
      ({ collection, resource, name }) => !collection.internal && resource.factories?.[name] === undefined,
    );
    expect(without.map(({ name }) => name)).toEqual([]);
    for (const { name, factories = {} } of RESOURCES)
      for (const made of Object.keys(factories)) expect(NAMES, `${name} makes ${made}`).toContain(made);
  });

  it("has references to existing collections only [interfaces 5]", () => {
    let references = 0;
    for (const { collection } of COLLECTIONS) {
      for (const reference of findReferences(collection.schema)) {
        expect(NAMES, collection.name).toContain(reference.collection);
        references += 1;
      }
    }
    expect(references).toBeGreaterThan(40);
  });

  it("has a reference in every field that is named after an organization [interfaces 5]", () => {
    for (const { collection, name } of COLLECTIONS) {
      const { properties = {} } = collection.schema as { properties?: Record<string, object> };
      if (!Object.hasOwn(properties, "organization_id")) continue;
      const [reference] = findReferences(properties["organization_id"]!);
      expect(reference?.collection, name).toBe("organizations");
    }
  });

  it("has no dangling reference in the reference world [interfaces 5]", () => {
    const { tables } = new FixtureLibrary({ resources: RESOURCES }).load("reference").buildRoot(1);
    let seen = 0;
    for (const { collection, name } of COLLECTIONS) {
      for (const record of tables.get(name)!.all() as Iterable<object>) {
        visitReferences(collection.schema, record, ({ reference, id, path }) => {
          seen += 1;
          if (tables.get(reference.collection)!.get(id) === undefined)
            throw new Error(`${name} ${collection.getId(record)}: ${path.join(".")} names no ${id}`);
        });
      }
    }
    expect(seen).toBeGreaterThan(10_000);
  });
});
