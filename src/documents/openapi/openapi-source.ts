import type { Resource } from "../../engine/contract/resource.ts";
import type { UserDocument } from "../../engine/documents/user-document.ts";
import type { OperationSource } from "../../engine/own/join.ts";
import { toFixtureReader } from "../../engine/own/own-resource.ts";
import { type CompiledDocument, compileDocument } from "./compile-document.ts";

/** A document that was read, with the bindings beside it. */
export interface OpenApiDocument {
  document: UserDocument;
  bindings?: UserDocument | undefined;
  sha256?: string | undefined;
}

/** A user's document as a source of operations, by default named after its file of bindings, if it has one. */
export function toOperationSource(
  { document, bindings, sha256 }: OpenApiDocument,
  source = (bindings ?? document).file,
): OperationSource {
  return {
    source,
    ...(sha256 !== undefined && { sha256 }),
    read(resources, warn) {
      const events = resources.flatMap((one) => one.events ?? []);
      const available = { resources, events };
      const { warnings, ...compiled } = compileDocument(document, { bindings, available });
      for (const { file, line, column, message } of warnings)
        warn(line > 0 ? `${file}:${line}:${column}: ${message}` : `${file}: ${message}`);
      const content = document.text !== undefined && { openapi: document.text, bindings: bindings?.text };
      return toResource(compiled, {
        source,
        ...(sha256 !== undefined && { sha256 }),
        ...(content && { content }),
      });
    },
  };
}

function toResource(
  { collections, operations, events, factories, state, fieldGenerators }: Omit<CompiledDocument, "warnings">,
  userSource: NonNullable<Resource["userSource"]>,
): Resource {
  return {
    name: userSource.source,
    userSource,
    collections,
    events,
    factories,
    state,
    operations: operations.map((operation) => ({ ...operation, sourceFile: userSource.source })),
    fixture: Object.assign(toFixtureReader(collections, factories, state), { fieldGenerators }),
  };
}
