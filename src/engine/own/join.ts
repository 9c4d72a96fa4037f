import { type Api, createApi } from "../contract/api.ts";
import { OwnFault } from "../contract/errors.ts";
import type { AnyOperation } from "../contract/operation.ts";
import type { Resource } from "../contract/resource.ts";
import { API, RESOURCES } from "../resources/index.ts";
import { type DeclarationSource, isDeclaration } from "./declaration.ts";
import { createOwnResource } from "./own-resource.ts";

/** A file of own operations, or another source of them. */
export interface OwnSource {
  /** The form for messages. */
  source: string;
  /** The digest of its bytes, for bundles. */
  sha256?: string;
  /** @param known the resources before it @throws OwnFault, DocumentError */
  read(known: readonly Resource[], warn: (sentence: string) => void): Resource;
}

export interface OwnApi {
  api: Api;
  warnings: readonly string[];
}

/** The API with the operations of these sources. @throws OwnFault */
export function createOwnApi(sources: readonly OwnSource[]): OwnApi {
  const own: Resource[] = [];
  const warned: string[] = [];
  for (const { source, read } of sources) {
    try {
      own.push(read([...RESOURCES, ...own], (sentence) => warned.push(sentence)));
    } catch (error) {
      if (!(error instanceof OwnFault)) throw error;
      throw new OwnFault(`${source}: ${error.message}`, { subject: error.subject });
    }
  }
  const { api, warnings } = joinOwn(RESOURCES, own);
  return { api, warnings: [...warned, ...warnings] };
}

/** The reference's operations and those of the sources; warns of those that are not used. @throws OwnFault */
export function readApi(sources: readonly OwnSource[], log: { warn(sentence: string): void }): Api {
  if (sources.length === 0) return API;
  const { api, warnings } = createOwnApi(sources);
  for (const warning of warnings) log.warn(warning);
  return api;
}

/** Declarations as an option of the library. */
export function toOperationsOption(exports: object | undefined): { operations?: readonly OwnSource[] } {
  return exports === undefined ? {} : { operations: [readDeclarations(exports, { source: "operations" })] };
}

/** The declarations that a module exports, or those of a list. */
export function readDeclarations(exports: unknown, own: DeclarationSource): OwnSource {
  const values = Object.values(exports ?? {}).flatMap((one) => (Array.isArray(one) ? one : [one]));
  const declarations = [...new Set(values.filter(isDeclaration))];
  const { source, sha256 } = own;
  return {
    ...{ source, ...(sha256 !== undefined && { sha256 }) },
    read(known) {
      if (declarations.length === 0)
        throw new OwnFault(
          "exports no operation; make one with defineOperation of understudy-sandbox/operations",
        );
      return createOwnResource(declarations, known, own);
    },
  };
}

/**
 * The operations of the reference and a user's own. Where both have an endpoint, the reference's is used.
 * @throws OwnFault if two own ones exclude each other
 */
export function joinOwn(reference: readonly Resource[], own: readonly Resource[]): OwnApi {
  const warnings: string[] = [];
  const seen = new Map<string, AnyOperation>();
  for (const operation of reference.flatMap(({ operations }) => operations))
    for (const key of listKeys(operation)) seen.set(key, operation);
  const joined = own.map((resource) => ({
    ...resource,
    operations: resource.operations.filter((operation) => {
      for (const key of listKeys(operation)) {
        const other = seen.get(key);
        if (other === undefined) continue;
        if (other.own === undefined) {
          warnings.push(
            `${operation.own}: the reference has ${key.replace(/^id /, "the operation ")}, so ${operation.id} is not used`,
          );
          return false;
        }
        const place =
          other.own === operation.own ? `${other.own} declares` : `${other.own} and ${operation.own} declare`;
        throw new OwnFault(
          `${place} ${key.replace(/^id /, "the operation ")} twice: ${other.id} and ${operation.id}`,
          { subject: operation.id },
        );
      }
      for (const key of listKeys(operation)) seen.set(key, operation);
      return true;
    }),
  }));
  requireDistinct([...reference, ...joined], "collection", ({ collections }) => collections);
  requireDistinct([...reference, ...joined], "event", ({ events = [] }) => events);
  return { api: createApi([...reference, ...joined]), warnings };
}

/** The names by which an operation is found. */
function listKeys({ id, method, path }: AnyOperation): string[] {
  return [`id ${id}`, `${method} ${path.replaceAll(/\{[^{}]+\}/g, "{}")}`];
}

function requireDistinct(
  resources: readonly Resource[],
  noun: string,
  list: (resource: Resource) => readonly { name: string }[],
): void {
  const owners = new Map<string, Resource>();
  for (const resource of resources)
    for (const { name } of list(resource)) {
      const other = owners.get(name);
      if (other !== undefined)
        throw new OwnFault(
          `${resource.own?.source ?? resource.name} declares the ${noun} ${name}, which ${other.own === undefined ? "the reference" : other.own.source} has already`,
          { subject: name },
        );
      owners.set(name, resource);
    }
}
