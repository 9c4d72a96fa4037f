import { type OperationSource, toOperationsOption } from "../engine/own/join.ts";
import { type OwnOperationOptions, showValue } from "./options.ts";

/** @throws DocumentError, TypeError */
export async function readOwnOperations({
  operations,
  openapi,
}: OwnOperationOptions): Promise<OperationSource[]> {
  const { operations: declared = [] } = await toOperationsOption(operations);
  return [...declared, ...(await readOpenApiOption(openapi))];
}

/**
 * OpenAPI documents: paths of files, or the documents themselves, with bindings in `x-understudy`. The code that reads
 * them is loaded only if there are any.
 * @throws DocumentError
 */
async function readOpenApiOption(
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
