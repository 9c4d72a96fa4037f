import type { OperationSource } from "../engine/own/join.ts";
import type { OwnFiles, WatchedDocuments } from "./watch-documents.ts";

/**
 * Opens files of declared operations, then OpenAPI documents, since bindings may name collections that the former
 * declare. The code for each kind is loaded only if it is needed.
 */
export async function openOwnFiles({
  operations = [],
  openapi = [],
}: {
  operations?: readonly string[] | undefined;
  openapi?: readonly string[] | undefined;
}): Promise<OwnFiles[]> {
  const ownFiles: OwnFiles[] = [];
  if (operations.length > 0) {
    const { OwnOperations } = await import("./own-operations.ts");
    ownFiles.push(new OwnOperations(operations));
  }
  if (openapi.length > 0) {
    const { OpenApiFiles } = await import("./openapi/openapi-files.ts");
    ownFiles.push(new OpenApiFiles(openapi));
  }
  return ownFiles;
}

export async function loadOwnSources(ownFiles: readonly OwnFiles[]): Promise<OperationSource[]> {
  const sources: OperationSource[] = [];
  for (const one of ownFiles) sources.push(...(await one.load()));
  return sources;
}

/** Applies edits of the files to a running server, one after the other. */
export function followOwnFiles(
  ownFiles: readonly OwnFiles[],
  edits: { apply(sources: readonly OperationSource[]): void; onProblem(error: Error): void },
): WatchedDocuments[] {
  let last: Promise<unknown> = Promise.resolve();
  return ownFiles.map(({ files }) => ({
    files,
    applyEdit() {
      last = last
        .then(() => loadOwnSources(ownFiles))
        .then(edits.apply)
        .catch(edits.onProblem);
    },
  }));
}
