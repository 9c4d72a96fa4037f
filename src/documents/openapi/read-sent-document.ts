import { DocumentError, NO_POSITION } from "../../engine/documents/document-error.ts";
import { inlineDocument, readDocument, type UserDocument } from "../../engine/documents/read-document.ts";
import type { OwnSource } from "../../engine/own/join.ts";
import { isJson, openDocument } from "./open-document.ts";
import { toOwnSource } from "./openapi-source.ts";

/** A document that arrived in a request: data only. @throws DocumentError */
export function readSentDocument({ openapi, bindings }: { openapi: unknown; bindings?: unknown }): OwnSource {
  const document =
    typeof openapi === "string"
      ? openDocument(openapi, "openapi")
      : inlineDocument(openapi, { file: "openapi", anyKey: true });
  return toOwnSource({ document, bindings: bindings === undefined ? undefined : readBindings(bindings) });
}

/** They name no file, since the document was sent beside them. */
function readBindings(given: unknown): UserDocument {
  const document =
    typeof given === "string"
      ? readDocument(given, { file: "bindings" })
      : inlineDocument(given, { file: "bindings" });
  if (isJson(document.value)) return { ...document, value: { openapi: "openapi", ...document.value } };
  throw new DocumentError([
    { file: "bindings", ...NO_POSITION, field: "", message: "bindings must be a map" },
  ]);
}
