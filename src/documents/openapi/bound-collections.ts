import type { Api } from "../../engine/contract/api.ts";
import { findNearest } from "../../engine/contract/text.ts";
import type { ProblemDetails } from "../../engine/documents/user-document.ts";
import type { AnyCollection } from "../../engine/state/collection.ts";
import { BoundCollection } from "./bound-collection.ts";
import { type CollectionSpec, toCollection } from "./own-collection.ts";
import type { Schemas } from "./schemas.ts";

/** The declarations that a document may name: the reference's, and those of other files. */
export type KnownDeclarations = Pick<Api, "resources" | "events">;

/** The collections that a document's operations may work on. */
export class BoundCollections {
  /** The collections that the document declares. */
  readonly own: AnyCollection[] = [];
  private readonly known: KnownDeclarations;
  private readonly schemas: Schemas;
  private readonly found = new Map<string, BoundCollection>();

  constructor(known: KnownDeclarations, schemas: Schemas) {
    this.known = known;
    this.schemas = schemas;
  }

  add(spec: CollectionSpec): void {
    const { schemas } = this;
    const collection = toCollection(spec, schemas);
    this.own.push(collection);
    this.found.set(spec.name, new BoundCollection(collection, { spec, schemas }));
  }

  find(name: string): BoundCollection | undefined {
    const found = this.found.get(name);
    if (found !== undefined) return found;
    for (const resource of this.known.resources)
      for (const collection of resource.collections) {
        if (collection.name !== name || collection.internal === true) continue;
        const target = new BoundCollection(collection, { resource, schemas: this.schemas });
        this.found.set(name, target);
        return target;
      }
    return undefined;
  }

  /** The problem of a name that no collection has; with the nearest of those that there are. */
  describeMissing(name: string, declared: Iterable<string>): Pick<ProblemDetails, "message" | "hint"> {
    const known = this.known.resources.flatMap(({ collections }) =>
      collections.filter(({ internal }) => !internal),
    );
    const names = [...known, ...this.own].map((one) => one.name);
    return {
      message: `there is no collection ${JSON.stringify(name)}`,
      hint: findNearest(name, [...names, ...declared]),
    };
  }
}
