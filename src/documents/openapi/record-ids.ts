import type { FactoryContext, RecordLookup } from "../../engine/contract/factory.ts";
import type { FixtureLists } from "../../engine/contract/resource.ts";
import { ID_KEYS } from "../../engine/documents/merge-documents.ts";
import type { AnyCollection } from "../../engine/state/collection.ts";
import { hash32, type Random } from "../../engine/state/random.ts";
import { generateValue } from "./generate-value.ts";
import { ALL_RECORDS, type CollectionSpec, usesNumericIds } from "./own-collection.ts";
import type { Schemas } from "./schemas.ts";

const MAX_TRIES = 100;

/** The ids of new records of a collection. */
export class RecordIds {
  private readonly collection: AnyCollection;
  private readonly spec: CollectionSpec | undefined;
  private readonly schemas: Schemas;
  private readonly schema: unknown;
  private readonly isNumbered: boolean;

  constructor(collection: AnyCollection, spec: CollectionSpec | undefined, schemas: Schemas) {
    this.collection = collection;
    this.spec = spec;
    this.schemas = schemas;
    this.isNumbered = spec !== undefined && usesNumericIds(spec, schemas);
    const parts = [spec && schemas.listPossibleFields(spec.schema).get(spec.idField), spec?.idParameter];
    const given = parts.filter((one) => one !== undefined);
    // With an example, each record would get it as its id.
    const { example, examples, default: _, ...schema } = schemas.mergeKeywords({ allOf: given });
    this.schema = schema;
  }

  /** An id of the form that the schemas require; if they require none, one with the prefix. */
  create({
    world,
    getRandom,
    createNewestFirstId,
  }: Pick<FactoryContext, "world" | "createNewestFirstId"> & { getRandom: () => Random }): string {
    const { collection, schemas, schema: node } = this;
    if (this.isNumbered) return this.findNextNumber(world);
    const usual = createNewestFirstId(collection.prefix);
    // The seven characters after the prefix are smaller for a later record.
    const start = usual.slice(collection.prefix.length, collection.prefix.length + 7);
    if (schemas.compileValidator(node, "answer")(usual)) return usual;
    const random = getRandom();
    const isUuid = schemas.mergeKeywords(node)["format"] === "uuid";
    const rank = Number.parseInt(start, 36).toString(16).padStart(8, "0");
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const generated = String(generateValue(schemas, node, random.uint32()));
      const id = isUuid ? rank + generated.slice(rank.length) : generated;
      if (world.get(collection, id) === undefined) return id;
    }
    return usual;
  }

  /**
   * Returns a function that gives generated records of a fixture an id of the form that the schemas require, if the
   * fixture's usual form is another.
   */
  createForFixture(lists: FixtureLists): (position: number) => object {
    const { collection, schemas, schema, isNumbered, spec } = this;
    const { name, idField } = collection;
    const fits = () => schemas.compileValidator(schema, "answer")("generated-00000000");
    if (ID_KEYS.includes(idField) && !isNumbered && (spec?.prefix !== undefined || fits())) return () => ({});
    const taken = new Set(lists.listRecords(name).map((record) => record[idField]));
    const generate = (number: number, tries: number): string => {
      if (isNumbered) return String(number);
      if (tries > MAX_TRIES) return `generated-${number}`;
      return String(generateValue(schemas, schema, hash32(`${name} ${number}`)));
    };
    return (position) => {
      let tries = 1;
      while (taken.has(generate(position + tries, tries))) tries += 1;
      const id = generate(position + tries, tries);
      taken.add(id);
      return { [idField]: id };
    };
  }

  /** The number after the newest record's, as databases count. */
  private findNextNumber(world: RecordLookup): string {
    const newest = world.index(this.collection, ALL_RECORDS, "").first();
    const last = newest === undefined ? 0 : Number(this.collection.getId(newest));
    const { size } = world.all(this.collection);
    let number = Number.isSafeInteger(last) && last > size ? last + 1 : size + 1;
    while (world.get(this.collection, String(number)) !== undefined) number += 1;
    return String(number);
  }
}
