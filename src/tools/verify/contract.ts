import type { AnyOperation } from "../../engine/contract/operation.ts";
import type { Resource } from "../../engine/contract/resource.ts";
import { ObjectNames } from "./object-names.ts";

/** What a run judges a service by. */
export class Contract {
  readonly operations: readonly AnyOperation[];
  readonly names: ObjectNames;
  private readonly byId: ReadonlyMap<string, AnyOperation>;

  constructor(resources: readonly Resource[]) {
    this.operations = resources.flatMap(({ operations }) => operations);
    this.names = new ObjectNames(resources);
    this.byId = new Map(this.operations.map((one) => [one.id, one]));
  }

  /** @throws Error for an id that is not declared, which is a mistake of this program */
  operation(id: string): AnyOperation {
    const found = this.byId.get(id);
    if (found === undefined) throw new Error(`there is no operation ${id}`);
    return found;
  }
}
