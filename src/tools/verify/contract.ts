import { type AnyOperation, isReadOnly } from "../../engine/contract/operation.ts";
import type { Resource } from "../../engine/contract/resource.ts";
import { getPrefix } from "../../engine/contract/schema.ts";
import { getOrAdd } from "../../engine/maps.ts";
import { listPathParameters } from "./own-operation.ts";

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

  isOwn(id: string): boolean {
    return this.byId.get(id)?.sourceFile !== undefined;
  }

  /** @throws Error for an undeclared id, which is a bug in this program */
  getOperation(id: string): AnyOperation {
    const operation = this.byId.get(id);
    if (operation === undefined) throw new Error(`there is no operation ${id}`);
    return operation;
  }
}

const ORGANIZATION = "organization_id";
const AFTER_PREFIX = /^[A-Za-z0-9-][A-Za-z0-9_-]{0,119}$/;

/** Objects that paths of own operations name. */
interface OwnObjects {
  /** The objects' name among the known objects. */
  key: string;
  /** A parameter that names one. */
  parameter: string;
}

/**
 * The names of kinds of objects. Parameters whose ids have the same prefix (section 2.1), and the collection of such ids, share
 * the name of the first parameter: `org_id` and `organizations` are `organization_id`.
 */
export class ObjectNames {
  /** Parameters of reading operations whose ids have no prefix: `job_id`. */
  readonly withoutPrefix: ReadonlySet<string>;
  /** By prefix of an id in an answer, the parameter for which the id may be used: `webhook_id` for `wh_`. */
  private readonly byPrefix = new Map<string, string>();
  /** By collection or other parameter, the shared name. */
  private readonly mainNames: Map<string, string>;
  /** The objects that paths of own operations name, by parameter or by list. */
  private readonly ownObjects = new Map<string, OwnObjects>();

  constructor(all: readonly Resource[]) {
    const resources = all.filter(({ userSource }) => userSource === undefined);
    const operations = resources.flatMap((resource) => resource.operations);
    const collections = resources
      .flatMap((resource) => resource.collections)
      .filter(({ internal }) => internal !== true);
    const { prefixes, mainNames } = nameParameters(operations);
    this.mainNames = mainNames;
    const usedNames = new Set<string>();
    for (const { name, idField, prefix } of collections) {
      const mainName = prefixes.has(idField) ? idField : findByPrefix(prefixes, prefix);
      if (mainName === undefined || usedNames.has(mainName)) continue;
      usedNames.add(mainName);
      this.mainNames.set(name, mainName);
    }
    const readingPrefixes = operations.filter(isReadOnly).flatMap(listPrefixes);
    for (const [name, prefix] of readingPrefixes) {
      // The key determines the organization, not an id in an answer.
      if (prefix !== undefined && prefixes.has(name) && name !== ORGANIZATION)
        this.byPrefix.set(prefix, name);
    }
    const idFields = new Set(collections.map(({ idField }) => idField as string));
    this.withoutPrefix = new Set(
      readingPrefixes.flatMap(([name, prefix]) => (prefix === undefined && idFields.has(name) ? [name] : [])),
    );
    this.nameOwnObjects(
      all.filter(({ userSource }) => userSource !== undefined),
      prefixes,
    );
  }

  private nameOwnObjects(own: readonly Resource[], prefixes: Prefixes): void {
    const byParameter = new Map<string, Set<string>>();
    const parameters = own.flatMap(({ operations }) => operations.flatMap(listPathParameters));
    for (const { name, list = name } of parameters) {
      const key = this.getMainName(prefixes.has(name) ? name : list);
      getOrAdd(byParameter, name, () => new Set<string>()).add(key);
      this.ownObjects.set(list, { key, parameter: name });
    }
    // A name such as `id` may be that of many objects; then only their lists name them.
    for (const [name, keys] of byParameter)
      if (keys.size === 1) this.ownObjects.set(name, { key: [...keys][0]!, parameter: name });
  }

  /** The objects of a list, if paths of own operations name its items. */
  findList(path: string): OwnObjects | undefined {
    return this.ownObjects.get(path.split("/").at(-1)!);
  }

  /** The names of the objects in an operation's path, by parameter. */
  findObjects(operation: AnyOperation): Map<string, string> {
    const names = listPathParameters(operation);
    const toKey = ({ name, list = name }: (typeof names)[number]) =>
      operation.sourceFile === undefined ? name : (this.ownObjects.get(list)?.key ?? name);
    return new Map(names.map((one) => [one.name, toKey(one)]));
  }

  findOwnName(written: string): string | undefined {
    return this.ownObjects.get(written)?.key;
  }

  /** Collections and parameters that are known by the name of another parameter. */
  get otherNames(): Iterable<string> {
    return this.mainNames.keys();
  }

  /** The name of a parameter or collection among the known objects. */
  getMainName(written: string): string {
    return this.mainNames.get(written) ?? written;
  }

  /** The parameter for which an id of an answer may be used. */
  findParameter(id: string): string | undefined {
    const length = id.indexOf("_") + 1;
    return AFTER_PREFIX.test(id.slice(length)) ? this.byPrefix.get(id.slice(0, length)) : undefined;
  }
}

/** The parameters of an operation's path, each with the prefix of its ids. */
function listPrefixes({ params }: AnyOperation): [name: string, prefix: string | undefined][] {
  return Object.entries((params?.properties ?? {}) as Record<string, object>).map(([name, schema]) => [
    name,
    getPrefix(schema),
  ]);
}

/** By shared name. */
type Prefixes = ReadonlyMap<string, string | undefined>;

function nameParameters(operations: readonly AnyOperation[]) {
  const prefixes = new Map<string, string | undefined>();
  const mainNames = new Map<string, string>();
  for (const [name, prefix] of operations.flatMap(listPrefixes)) {
    const mainName = findByPrefix(prefixes, prefix);
    if (mainName === undefined) prefixes.set(name, prefix);
    else if (mainName !== name) mainNames.set(name, mainName);
  }
  return { prefixes, mainNames };
}

function findByPrefix(prefixes: Prefixes, prefix: string | undefined): string | undefined {
  return prefix === undefined ? undefined : [...prefixes].find(([, other]) => other === prefix)?.[0];
}
