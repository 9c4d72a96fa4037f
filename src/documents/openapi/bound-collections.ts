import type { Api } from "../../engine/contract/api.ts";
import type { Factory } from "../../engine/contract/factory.ts";
import type { FixtureReader, Resource } from "../../engine/contract/resource.ts";
import type { JsonObject } from "../../engine/contract/schema.ts";
import { findNearest } from "../../engine/contract/text.ts";
import type { ProblemDetails } from "../../engine/documents/user-document.ts";
import { createFactory, findReferredId } from "../../engine/own/make-record.ts";
import type { AnyCollection } from "../../engine/state/collection.ts";
import { BoundCollection } from "./bound-collection.ts";
import { type CollectionSpec, toCollection } from "./own-collection.ts";
import type { Schemas } from "./schemas.ts";

/** The declarations that a document may name: the reference's, and those of other files. */
export type AvailableDeclarations = Pick<Api, "resources" | "events">;

/** The collections that a document's operations may work on. */
export class BoundCollections {
  readonly declaredCollections: AnyCollection[] = [];
  private readonly available: AvailableDeclarations;
  private readonly schemas: Schemas;
  private readonly byName = new Map<string, BoundCollection>();

  constructor(available: AvailableDeclarations, schemas: Schemas) {
    this.available = available;
    this.schemas = schemas;
  }

  add(spec: CollectionSpec): void {
    const { schemas } = this;
    const collection = toCollection(spec, schemas);
    this.declaredCollections.push(collection);
    this.byName.set(spec.name, new BoundCollection(collection, { spec, schemas }));
  }

  find(name: string): BoundCollection | undefined {
    const cached = this.byName.get(name);
    if (cached !== undefined) return cached;
    for (const resource of this.available.resources)
      for (const collection of resource.collections) {
        if (collection.name !== name || collection.internal === true) continue;
        const target = new BoundCollection(collection, { resource, schemas: this.schemas });
        this.byName.set(name, target);
        return target;
      }
    return undefined;
  }

  /** The rules of the declared collections, by name. */
  createRules(): NonNullable<Resource["state"]> {
    return Object.fromEntries(
      this.declaredCollections.map(({ name }) => [
        name,
        { findInvalid: (fields, options) => this.find(name)!.findInvalid(fields, options) },
      ]),
    );
  }

  /** The generators of ids for fixtures, by collection. */
  createFieldGenerators(): NonNullable<FixtureReader["fieldGenerators"]> {
    return Object.fromEntries(
      this.declaredCollections.map(({ name }) => [
        name,
        (lists) => this.find(name)!.ids.createForFixture(lists),
      ]),
    );
  }

  /** The factories of the declared collections, by name. */
  createFactories(): Record<string, Factory<object>> {
    const availableCollections = this.available.resources.flatMap(({ collections }) => collections);
    const all = [...availableCollections, ...this.declaredCollections];
    const byName = new Map(all.map((one) => [one.name, one]));
    const entries = this.declaredCollections.map((one) => {
      const bound = this.find(one.name)!;
      const factory = createFactory(one, byName, (...args) => bound.replaceUnfit(...args));
      const createComplete: Factory<object> = (given, context) => {
        const fields: JsonObject = { ...given };
        fields[one.idField] ??= bound.ids.create({ ...context, getRandom: () => context.random });
        const organization_id = fields["organization_id"] as string | undefined;
        for (const field of bound.outerIdFields) {
          const owner = { collection: bound.spec!.belongs_to[field] ?? "" };
          fields[field] ??= findReferredId(owner, { context, collectionsByName: byName, organization_id });
          if (fields[field] === null) delete fields[field];
        }
        const record = factory(fields, context);
        return bound.recordRules.complete(record as JsonObject, context.random);
      };
      return [one.name, createComplete] as const;
    });
    return Object.fromEntries(entries);
  }

  /**
   * The problem of a name that belongs to no collection, with the nearest name as a hint.
   * @param declaredNames names that the bindings declare, also of collections not yet added
   */
  describeMissing(name: string, declaredNames: Iterable<string>): Pick<ProblemDetails, "message" | "hint"> {
    const collections = this.available.resources.flatMap(({ collections }) =>
      collections.filter(({ internal }) => !internal),
    );
    const names = [...collections, ...this.declaredCollections].map((one) => one.name);
    return {
      message: `there is no collection ${JSON.stringify(name)}`,
      hint: findNearest(name, [...names, ...declaredNames]),
    };
  }
}
