import { type Api, createApi } from "../contract/api.ts";
import { OwnOperationError } from "../contract/errors.ts";
import type { AnyOperation } from "../contract/operation.ts";
import type { Resource } from "../contract/resource.ts";
import { API, RESOURCES } from "../resources/index.ts";
import { type DeclarationSource, isDeclaration } from "./declaration.ts";

/** A file of the user's own operations, or another source of them. */
export interface OperationSource {
  /** The source's name in messages. */
  source: string;
  /** The digest of its bytes, for bundles. */
  sha256?: string;
  /** @param earlierResources those of the built-in API and of earlier sources @throws OwnOperationError, DocumentError */
  read(earlierResources: readonly Resource[], warn: (sentence: string) => void): Resource;
}

interface JoinedApi {
  api: Api;
  warnings: readonly string[];
}

/** The API with the operations of these sources. @throws OwnOperationError */
export function createJoinedApi(sources: readonly OperationSource[]): JoinedApi {
  const userResources: Resource[] = [];
  const sourceWarnings: string[] = [];
  for (const { source, read } of sources) {
    try {
      userResources.push(read([...RESOURCES, ...userResources], (sentence) => sourceWarnings.push(sentence)));
    } catch (error) {
      if (!(error instanceof OwnOperationError)) throw error;
      throw new OwnOperationError(`${source}: ${error.message}`, { subject: error.subject });
    }
  }
  const { api, warnings } = joinResources(RESOURCES, userResources);
  return { api, warnings: [...sourceWarnings, ...warnings] };
}

/** The built-in operations and those of the sources; warns of those that are not used. @throws OwnOperationError */
export function readApi(sources: readonly OperationSource[], log: { warn(sentence: string): void }): Api {
  if (sources.length === 0) return API;
  const { api, warnings } = createJoinedApi(sources);
  for (const warning of warnings) log.warn(warning);
  return api;
}

/** Converts the exports of a module of declarations to the library's option `operations`. */
export async function toOperationsOption(
  exports: object | undefined,
): Promise<{ operations?: readonly OperationSource[] }> {
  return exports === undefined
    ? {}
    : { operations: [await readDeclarations(exports, { source: "operations" })] };
}

/** A source of the declarations among a module's exports, or in a list. Lists among the exports are searched too. */
export async function readDeclarations(
  exports: unknown,
  source: DeclarationSource,
): Promise<OperationSource> {
  // Loaded here, since a server without own operations does not need the generator of values.
  const { createOwnResource } = await import("./own-resource.ts");
  const values = Object.values(exports ?? {}).flatMap((one) => (Array.isArray(one) ? one : [one]));
  const declarations = [...new Set(values.filter(isDeclaration))];
  const { source: name, sha256 } = source;
  return {
    source: name,
    ...(sha256 !== undefined && { sha256 }),
    read(earlierResources) {
      if (declarations.length === 0)
        throw new OwnOperationError(
          "exports no operation; make one with defineOperation of understudy-sandbox/operations",
        );
      return createOwnResource(declarations, earlierResources, source);
    },
  };
}

/**
 * The built-in operations and a user's own. Where both have an endpoint, the built-in one is used.
 * @throws OwnOperationError if two of the user's own conflict
 */
export function joinResources(reference: readonly Resource[], userResources: readonly Resource[]): JoinedApi {
  const warnings: string[] = [];
  const operationsByKey = new Map<string, AnyOperation>();
  for (const operation of reference.flatMap(({ operations }) => operations))
    for (const key of listKeys(operation)) operationsByKey.set(key, operation);
  const usedResources = userResources.map((resource) => ({
    ...resource,
    operations: resource.operations.filter((operation) => {
      for (const key of listKeys(operation)) {
        const existing = operationsByKey.get(key);
        if (existing === undefined) continue;
        if (existing.sourceFile === undefined) {
          warnings.push(
            `${operation.sourceFile}: the built-in API has ${key}, so ${operation.id} is not used`,
          );
          return false;
        }
        const declarers =
          existing.sourceFile === operation.sourceFile
            ? `${existing.sourceFile} declares`
            : `${existing.sourceFile} and ${operation.sourceFile} declare`;
        throw new OwnOperationError(`${declarers} ${key} twice: ${existing.id} and ${operation.id}`, {
          subject: operation.id,
        });
      }
      for (const key of listKeys(operation)) operationsByKey.set(key, operation);
      return true;
    }),
  }));
  requireDistinct([...reference, ...usedResources], "collection", ({ collections }) => collections);
  requireDistinct([...reference, ...usedResources], "event", ({ events = [] }) => events);
  const collections = new Set(
    [...reference, ...usedResources].flatMap((one) => one.collections).map(({ name }) => name),
  );
  for (const { id, sourceFile, uses = [] } of usedResources.flatMap(({ operations }) => operations)) {
    const missing = uses.find((name) => !collections.has(name));
    if (missing !== undefined)
      throw new OwnOperationError(
        `${sourceFile}: the operation ${id} uses ${missing}, which nothing exports`,
        { subject: missing },
      );
  }
  return { api: createApi([...reference, ...usedResources]), warnings };
}

/** The names by which an operation is found, as messages write them. */
function listKeys({ id, method, path }: AnyOperation): string[] {
  return [`the operation ${id}`, `${method} ${path.replaceAll(/\{[^{}]+\}/g, "{}")}`];
}

function requireDistinct(
  resources: readonly Resource[],
  noun: string,
  listNamed: (resource: Resource) => readonly { name: string }[],
): void {
  const owners = new Map<string, Resource>();
  for (const resource of resources)
    for (const { name } of listNamed(resource)) {
      const existing = owners.get(name);
      if (existing !== undefined)
        throw new OwnOperationError(
          `${resource.userSource?.source ?? resource.name} declares the ${noun} ${name}, which ${existing.userSource === undefined ? "the built-in API" : existing.userSource.source} has already`,
          { subject: name },
        );
      owners.set(name, resource);
    }
}
