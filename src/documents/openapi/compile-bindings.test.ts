import { describe, expect, it } from "vitest";
import { compile, describeCompileErrors, HEAD, NOTES } from "../../../test/support/openapi/compile-notes.ts";

describe("a binding with an unknown name", () => {
  const bind = (operations: string, collections = "{}") =>
    describeCompileErrors(
      NOTES,
      `openapi: ./a.yaml\ncollections: ${collections}\noperations:\n  ${operations}\n`,
    );

  it.each([
    [
      "listNotse: { list: threads }",
      'b.yaml:4:3: a.yaml has no operation "listNotse" (did you mean "listNotes"?)',
    ],
    [
      "listNotes: { lst: threads, where: {} }",
      'b.yaml:4:16: "lst" is not an action; the actions are list, create, retrieve, update, replace, delete, download, answer (did you mean "list"?)',
    ],
    [
      "listNotes: { list: thraeds }",
      'b.yaml:4:22: there is no collection "thraeds" (did you mean "threads"?)',
    ],
    [
      "listNotes: { list: threads, where: { titel: a } }",
      'b.yaml:4:40: threads has no field "titel" (did you mean "title"?)',
    ],
    [
      "getNote: { retrieve: threads, id: '{noteid}' }",
      'is not a placeholder of GET /v1/notes/{note_id} (did you mean "note_id"?)',
    ],
    [
      "createNote: { create: threads, emit: thread.craeted }",
      'there is no event "thread.craeted" of threads (did you mean "thread.created"?)',
    ],
    [
      "createNote: { create: threads, emit: user.created }",
      "user.created is an event about users, not about threads",
    ],
    [
      "{ createNote: { create: threads, emit: thread.created }, getNote: { update: users, emit: thread.created } }",
      "thread.created is an event about threads, not about users",
    ],
    [
      "listNotes: { list: threads, page: { limit: lmit } }",
      'no query parameter "lmit" (did you mean "limit"?)',
    ],
    [
      "listNotes: { retrieve: threads }",
      "the path /v1/notes names no record; say which with `id` or `where`",
    ],
    [
      "listNotes: { list: messages, parents: { thred_id: {} } }",
      'messages has no field "thred_id" that names another record (did you mean "thread_id"?)',
    ],
    [
      "listNotes: { list: messages, parents: { thread_id: { ownr_id: a } } }",
      'threads has no field "ownr_id" (did you mean "owner_id"?)',
    ],
    [
      "listNotes: { list: threads, sort: -titel }",
      'b.yaml:4:37: threads has no field "titel" (did you mean "title"?)',
    ],
    [
      "listNotes: { list: threads, where: { title: '{query.lmit}' } }",
      '{query.lmit} is not a placeholder of GET /v1/notes (did you mean "query.limit"?)',
    ],
    ["getNote: { retrieve: threads, id: '{id}' }", "{id} is not a placeholder of GET /v1/notes/{note_id}"],
    [
      "createNote: { create: threads, where: { title: '{id}' } }",
      "{id} is not a placeholder of POST /v1/notes",
    ],
    [
      "getNote: { delete: threads, soft: deleted_at }",
      "b.yaml:4:37: records of threads cannot be softly deleted: threads is not a collection of this document",
    ],
    [
      "{ getNote: { delete: tags, soft: deleted_at }, createNote: { delete: tags, soft: gone_at, id: a } }",
      'records of tags are softly deleted by another field, "gone_at"',
      '{ tags: { schema: "#/components/schemas/Note" } }',
    ],
    ["listNotes: { list: threads, items_at: dta }", 'b.yaml:4:41: the answer of GET /v1/notes has no "dta"'],
    [
      "listNotes: { list: threads, page: { total: meta.totl } }",
      'the answer of GET /v1/notes has no "meta.totl"',
    ],
    ["listNotes: { lst: threads }", "b.yaml:4:"],
    ["listNotes: { list: threads, access: everyone }", "`operations.listNotes.access`"],
  ])("is refused with the nearest name: %s", (operations, message, collections?: string) => {
    expect(bind(operations, collections)).toContain(message);
  });

  it.each([
    [
      '{ tags: { schema: "#/components/schemas/Noet" } }',
      'has no schema #/components/schemas/Noet (did you mean "#/components/schemas/Note"?)',
    ],
    ['{ threads: { schema: "#/components/schemas/Note" } }', "threads is a collection already"],
    [
      '{ tags: { schema: "#/components/schemas/Note", belongs_to: { thread_id: thread } } }',
      'there is no collection "thread" (did you mean "threads"?)',
    ],
  ])("is refused in a collection: %s", (collections, message) => {
    expect(bind("listNotes: { answer: 1 }", collections)).toContain(message);
  });
});

it("a binding whose action is unusual for its method is named", () => {
  const makeBindings = (action: string) =>
    `openapi: a.yaml\noperations:\n  listNotes: { ${action}: threads }\n  getNote: { retrieve: threads }\n`;
  expect(compile(NOTES, makeBindings("list")).warnings).toEqual([]);
  expect(
    compile(NOTES, makeBindings("create")).warnings.map(({ line, message }) => `${line} ${message}`),
  ).toEqual([
    "3 GET /v1/notes is bound to `create`, which is usual for POST and PUT: is another operation meant?",
  ]);
});

it("a collection whose name is none is refused with the form of names", () => {
  expect(describeCompileErrors(NOTES, "openapi: a.yaml\ncollections:\n  My-Notes: 5\n")).toContain(
    "b.yaml:3:3: `collections` may not have the key `My-Notes`; a key is a name such as shared_notes",
  );
});

it("a key that no document may have is refused with its place", () => {
  expect(describeCompileErrors(`${NOTES}      __proto__: {}\n`)).toMatch(/^a\.yaml:\d+:\d+: .*__proto__/);
});

it("a binding's status chooses the answer by which it is checked [interfaces 18]", () => {
  const job = `${HEAD}paths:
  /v1/job:
    post:
      operationId: startJob
      x-understudy: { answer: { job: a }, status: 202 }
      responses:
        "200": { description: d, content: { application/json: { schema: { type: object, required: [result] } } } }
        "202": { description: d, content: { application/json: { schema: { type: object, required: [job] } } } }
`;
  expect(compile(job).warnings).toEqual([]);
});

describe("empty bindings", () => {
  it.each([
    ["of the document", `${NOTES}x-understudy:\n`, /^a\.yaml:\d+:\d+: /],
    [
      "of an operation",
      NOTES.replace("operationId: getNote\n", "operationId: getNote\n      x-understudy:\n"),
      /^a\.yaml:\d+:\d+: /,
    ],
  ])("%s are refused with their place [interfaces 18]", (_of, text, message) => {
    expect(describeCompileErrors(text)).toMatch(message);
  });
});
