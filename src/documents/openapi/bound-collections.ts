import type { Api } from "../../engine/contract/api.ts";
import { findNearest } from "../../engine/contract/text.ts";
import type { ProblemDetails } from "../../engine/documents/user-document.ts";
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
