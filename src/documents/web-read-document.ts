import {
  createInlineDocument,
  type ReadOptions,
  type UserDocument,
} from "../engine/documents/user-document.ts";

/** Replaces the YAML reader in a page: reads a shipped file, which the build has converted to JSON. */
export function readDocument(text: string, options: ReadOptions): UserDocument {
  return createInlineDocument(JSON.parse(text), options);
}
