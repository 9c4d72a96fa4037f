import { type CompiledDocument, compileDocument } from "../../../src/documents/openapi/compile-document.ts";
import { openDocument } from "../../../src/documents/openapi/open-document.ts";
import { DocumentError } from "../../../src/engine/documents/document-error.ts";
import { API } from "../../../src/engine/resources/index.ts";

export function compile(text: string, bindings?: string): CompiledDocument {
  const file = bindings === undefined ? undefined : openDocument(bindings, "b.yaml");
  return compileDocument(openDocument(text, "a.yaml"), { bindings: file, available: API });
}

/** Returns the compile errors as a user sees them; empty if there are none. */
export function describeCompileErrors(text: string, bindings?: string): string {
  try {
    compile(text, bindings);
    return "";
  } catch (error) {
    if (error instanceof DocumentError) return error.format();
    throw error;
  }
}

export const HEAD = "openapi: 3.1.0\ninfo: { title: t, version: '1' }\n";
export const NOTES = `${HEAD}paths:
  /v1/notes:
    get:
      operationId: listNotes
      parameters: [{ name: limit, in: query, schema: { type: integer } }]
      responses: { "200": { description: d, content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Note" } } } } } }
    post:
      operationId: createNote
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Note" } } } }
      responses: { "201": { description: d, content: { application/json: { schema: { $ref: "#/components/schemas/Note" } } } } }
  /v1/notes/{note_id}:
    parameters: [{ name: note_id, in: path, required: true, schema: { type: string } }]
    get:
      operationId: getNote
      responses: { "200": { description: d, content: { application/json: { schema: { $ref: "#/components/schemas/Note" } } } } }
components:
  schemas:
    Note:
      type: object
      required: [id, text]
      properties: { id: { type: string, readOnly: true }, text: { type: string }, thread_id: { type: string } }
`;
