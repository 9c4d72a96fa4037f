import {
  createInlineDocument,
  type ReadOptions,
  type UserDocument,
} from "../engine/documents/user-document.ts";

/** Reads shipped files in a page, which the build has stored as JSON. */
export function readDocument(text: string, options: ReadOptions): UserDocument {
  return createInlineDocument(JSON.parse(text), options);
}
