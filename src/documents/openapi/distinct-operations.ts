import type { AnyOperation, Method } from "../../engine/contract/operation.ts";
import type { JsonObject } from "../../engine/contract/schema.ts";
import { capitalize } from "../../engine/contract/text.ts";
import type { DocumentPath } from "../../engine/documents/document-error.ts";
import type { DocumentReport } from "./document-report.ts";

/** An operation as far as others can clash with it. */
export interface NamedOperation {
  id: string;
  /** The id by which bindings name it: the document's, else one of its path; undefined if an earlier operation has it. */
  idInDocument: string | undefined;
  method: Method;
  /** With the path of its first server in front. */
  path: string;
  node: JsonObject;
  place: DocumentPath;
}

/** A built-in operation, or one of another document. */
export type OtherOperation = Pick<AnyOperation, "id" | "method" | "path" | "sourceFile">;

/** Gives operations of one id different ids, and drops those whose path an earlier one has. */
export class DistinctOperations {
  private readonly ids = new Map<string, { description: string; shape: string; isInDocument: boolean }>();
  private readonly paths = new Map<string, string>();
  private readonly report: DocumentReport;

  constructor(others: readonly OtherOperation[], report: DocumentReport) {
    this.report = report;
    for (const { id, method, path, sourceFile = "the built-in API" } of others)
      this.ids.set(id, {
        description: `${method} ${path} of ${sourceFile}`,
        shape: toShape(method, path),
        isInDocument: false,
      });
  }

  /**
   * Gives an operation with the id of an earlier one another id. Undefined for an operation whose path differs from an
   * earlier one only in the names of parameters: no request could tell them apart.
   */
  add<T extends NamedOperation>(operation: T): T | undefined {
    const { ids, paths, report } = this;
    const { id, method, path, node, place } = operation;
    const signature = `${method} ${path}`;
    const shape = toShape(method, path);
    const [sameId, samePath] = [ids.get(id), paths.get(shape)];
    if (samePath !== undefined) {
      const message = `${signature} is not served: ${samePath} is an operation on the same path`;
      report.warnOfClash(place, message, true);
      return undefined;
    }
    paths.set(shape, signature);
    const own = { description: signature, shape, isInDocument: true };
    // The one on the same path is built-in or of another document, which has its own rules.
    if (sameId === undefined || sameId.shape === shape) {
      ids.set(id, own);
      return operation;
    }
    let newId = toId(method, path);
    while (ids.has(newId)) newId += "_";
    ids.set(newId, own);
    const isGiven = node["operationId"] !== undefined;
    const message = `the operationId ${id} is already used by ${sameId.description}, so ${signature} is called ${newId}`;
    report.warnOfClash(isGiven ? [...place, "operationId"] : place, message, !isGiven);
    return { ...operation, id: newId, ...(sameId.isInDocument && { idInDocument: undefined }) };
  }
}

/** Method and path without the names of parameters. */
function toShape(method: Method, path: string): string {
  return `${method} ${path.replace(/\{[^}]*\}/g, "{}")}`;
}

/** Names an operation that has no id: `GET /users/{id}` is `getUsersId`. */
export function toId(method: Method, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return method.toLowerCase() + words.map(capitalize).join("");
}
