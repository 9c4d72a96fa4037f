import { type AnyOperation, readsOnly } from "../../engine/contract/operation.ts";
import type { Resource } from "../../engine/contract/resource.ts";
import { getPrefix } from "../../engine/contract/schema.ts";

/** The declarations that a service is verified against. */
export class Contract {
  readonly operations: readonly AnyOperation[];
  readonly names: ObjectNames;
  private readonly byId: ReadonlyMap<string, AnyOperation>;

  constructor(resources: readonly Resource[]) {
    this.operations = resources.flatMap(({ operations }) => operations);
    this.names = new ObjectNames(resources);
    this.byId = new Map(this.operations.map((one) => [one.id, one]));
  }

  /** @throws Error for an undeclared id, which is a bug in this program */
  operation(id: string): AnyOperation {
    const found = this.byId.get(id);
    if (found === undefined) throw new Error(`there is no operation ${id}`);
    return found;
  }
}

const ORGANIZATION = "organization_id";
const AFTER_PREFIX = /^[A-Za-z0-9-][A-Za-z0-9_-]{0,119}$/;

/** The names of kinds of objects in the declarations, by the prefixes of section 2.1. */
export class ObjectNames {
  /** Parameters of reading operations whose ids have no prefix, such as ids of jobs. */
  readonly withoutPrefix: ReadonlySet<string>;
  private readonly byPrefix = new Map<string, string>();
  private readonly mainNames = new Map<string, string>();

  constructor(resources: readonly Resource[]) {
    const operations = resources.flatMap((resource) => resource.operations);
    const collections = resources
      .flatMap((resource) => resource.collections)
      .filter(({ internal }) => internal !== true);
    const main = this.readParameters(operations);
    const idFields = new Set(collections.map(({ idField }) => idField as string));
    const taken = new Set<string>();
    for (const { name, idField, prefix } of collections) {
      const parameter = main.has(idField) ? idField : [...main].find(([, own]) => own === prefix)?.[0];
      if (parameter === undefined || taken.has(parameter)) continue;
      taken.add(parameter);
      this.mainNames.set(name, parameter);
    }
    const read = operations.filter(readsOnly).flatMap(listParameters);
    for (const [name, prefix] of read) {
      // The key determines the organization, not an id in an answer.
      if (prefix !== undefined && main.has(name) && name !== ORGANIZATION) this.byPrefix.set(prefix, name);
    }
    this.withoutPrefix = new Set(
      read.flatMap(([name, prefix]) => (prefix === undefined && idFields.has(name) ? [name] : [])),
    );
  }

  /** All parameters of one prefix get the name of the first. */
  private readParameters(operations: readonly AnyOperation[]): ReadonlyMap<string, string | undefined> {
    const main = new Map<string, string | undefined>();
    for (const [name, prefix] of operations.flatMap(listParameters)) {
      const known = prefix === undefined ? undefined : [...main].find(([, own]) => own === prefix)?.[0];
      if (known === undefined) main.set(name, prefix);
      else if (known !== name) this.mainNames.set(name, known);
    }
    return main;
  }

  /** Collections and parameters that are known by the name of another parameter. */
  get others(): Iterable<string> {
    return this.mainNames.keys();
  }

  /** The name of a parameter or collection among the known objects. */
  parameter(written: string): string {
    return this.mainNames.get(written) ?? written;
  }

  /** The parameter for which an id of an answer may be used. */
  findParameter(id: string): string | undefined {
    const length = id.indexOf("_") + 1;
    return AFTER_PREFIX.test(id.slice(length)) ? this.byPrefix.get(id.slice(0, length)) : undefined;
  }
}

function listParameters({ params }: AnyOperation): [string, string | undefined][] {
  return Object.entries((params?.properties ?? {}) as Record<string, object>).map(([name, schema]) => [
    name,
    getPrefix(schema),
  ]);
}
