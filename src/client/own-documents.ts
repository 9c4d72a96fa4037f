import { type OperationSource, toOperationsOption } from "../engine/own/join.ts";
import { showValue } from "./options.ts";

/** Operations that the reference lacks (interfaces 18). */
export interface OwnOperations {
  /** Operations of your own: a module that exports declarations, or a list of them (`understudy-sandbox/operations`). */
  operations?: object | undefined;
  /** OpenAPI documents to serve too: paths of files, or documents as objects. */
  openapi?: readonly (string | object)[] | undefined;
}

/** @throws DocumentError, TypeError */
export async function readOwnOperations({ operations, openapi }: OwnOperations): Promise<OperationSource[]> {
  return [...(toOperationsOption(operations).operations ?? []), ...(await readOpenApiOption(openapi))];
}

/**
 * OpenAPI documents: paths of files, or the documents themselves, with bindings in `x-understudy`. The code that reads
 * them is loaded only if there are any.
 * @throws DocumentError
 */
export async function readOpenApiOption(
  documents: readonly (string | object)[] = [],
): Promise<readonly OperationSource[]> {
  if (!Array.isArray(documents))
    throw new TypeError(`openapi is a list of paths and documents, not ${showValue(documents)}`);
  if (documents.length === 0) return [];
  const [{ OpenApiFiles }, { readSentDocument }] = await Promise.all([
    import("../documents/openapi/openapi-files.ts"),
    import("../documents/openapi/read-sent-document.ts"),
  ]);
  const sources: OperationSource[] = [];
  for (const one of documents)
    sources.push(
      ...(typeof one === "string"
        ? await new OpenApiFiles([one]).load()
        : [readSentDocument({ openapi: one })]),
    );
  return sources;
}
