import type { OperationDocuments, Resource } from "../../engine/contract/resource.ts";
import { isJsonObject } from "../../engine/contract/schema.ts";
import { documentError, NO_POSITION } from "../../engine/documents/document-error.ts";
import { readDocument } from "../../engine/documents/read-document.ts";
import { createInlineDocument, type UserDocument } from "../../engine/documents/user-document.ts";
import { joinResources, type OperationSource } from "../../engine/own/join.ts";
import { OPENAPI_LIMITS, openDocument } from "./open-document.ts";
import { toOperationSource } from "./openapi-source.ts";

/**
 * Reads an OpenAPI document that was given as a value, not as a file. It declares operations and contains no code.
 * @param resources the resources of the server
 * @returns the resources that the document adds. They keep `sent`, which is saved with the sandbox.
 * @throws DocumentError, OwnOperationError
 */
export function readSentOperations(
  sent: OperationDocuments,
  resources: readonly Resource[],
): { ownResources: readonly Resource[]; warnings: string[] } {
  const readWarnings: string[] = [];
  const resource = readSentDocument(sent).read(resources, (sentence) => readWarnings.push(sentence));
  const { source } = resource.userSource!;
  const { api, warnings } = joinResources(resources, [{ ...resource, userSource: { source, sent } }]);
  return { ownResources: api.resources.slice(resources.length), warnings: [...readWarnings, ...warnings] };
}

export function readSentDocument({ openapi, bindings }: OperationDocuments): OperationSource {
  const document =
    typeof openapi === "string"
      ? openDocument(openapi, "openapi")
      : createInlineDocument(openapi, { file: "openapi", limits: OPENAPI_LIMITS, allowsAnyKey: true });
  const sentBindings = bindings === undefined ? undefined : readSentBindings(bindings);
  return toOperationSource({ document, bindings: sentBindings }, document.file);
}

/** Bindings that name no document are for the one that was sent with them. */
function readSentBindings(sent: unknown): UserDocument {
  const document =
    typeof sent === "string"
      ? readDocument(sent, { file: "bindings" })
      : createInlineDocument(sent, { file: "bindings" });
  if (isJsonObject(document.value)) return { ...document, value: { openapi: "openapi", ...document.value } };
  throw documentError("bindings", NO_POSITION, "bindings must be a map");
}
