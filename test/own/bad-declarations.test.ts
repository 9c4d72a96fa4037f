import { expect, it } from "vitest";
import { createSandbox } from "../../src/client/engine.ts";
import {
  array,
  defineCollection,
  defineEvent,
  defineOperation,
  id,
  integer,
  nullable,
  type Schema,
  string,
} from "../../src/client/operations.ts";

const list = (more: object = {}) =>
  defineOperation({ id: "notes.list", method: "GET", path: "/v1/notes", handle: () => ({}), ...more });
const notes = defineCollection({ name: "notes", fields: { organization_id: id("org_") } });
const declareCollection = (fields: object) => [
  defineCollection({ name: "notes", fields: fields as never }),
  list(),
];

it.each<[string, object[], string]>([
  [
    "a field that is a number",
    declareCollection({ text: 7 }),
    "the collection notes: text is 7, not a schema",
  ],
  ["a field that is null", declareCollection({ text: null }), "text is null, not a schema"],
  [
    "a field with a misspelt option",
    declareCollection({ text: string({ maxx: 5 } as never) }),
    "the collection notes: text has the unknown option maxx (did you mean max?)",
  ],
  [
    "a reference with a misspelt option",
    declareCollection({ owner_id: id("own_", { belongTo: "users" } as never) }),
    "owner_id has the unknown option belongTo (did you mean belongsTo?)",
  ],
  [
    "a keyword that is misspelt in a nested part",
    [list({ response: { data: nullable(array({ type: "string", maxLenght: 5 } as never)) } })],
    "the operation notes.list: response.data[] has the unknown option maxLenght (did you mean maxLength?)",
  ],
  [
    "a schema of 1,000 levels",
    [list({ response: Array.from({ length: 1000 }).reduce<Schema>((inner) => array(inner), string()) })],
    "has more than 100 levels",
  ],
  [
    "a pattern that cannot be read",
    declareCollection({ text: string({ pattern: "(" }) }),
    'text has the pattern "(", which JavaScript cannot read',
  ],
  [
    "a text that no value fits",
    declareCollection({ text: string({ min: 5, max: 2 }) }),
    "text fits no value: its minimum is 5, and its maximum 2",
  ],
  [
    "a nested field that no value fits",
    [list({ response: { data: { type: "array", items: integer({ min: 3, max: 1 }) } } })],
    "the operation notes.list: response.data[] fits no value",
  ],
  [
    "an enumeration of nothing",
    [list({ query: { mood: { enum: [] } } })],
    "mood fits no value: it lists none",
  ],
  [
    "an owner that does not exist, or null",
    declareCollection({ owner_id: nullable(id("own_", { belongsTo: "organisations" })) }),
    'owner_id names a record of "organisations", which does not exist (did you mean "organizations"?)',
  ],
  [
    "ids of an owner that have another prefix",
    declareCollection({ thread_ids: array(id("thr_", { belongsTo: "threads" })) }),
    "the collection notes: thread_ids has ids such as thr_1, which threads cannot have; theirs begin with thread_",
  ],
  [
    "an owner that does not exist",
    declareCollection({ owner_id: id("own_", { belongsTo: "organisations" }) }),
    'owner_id names a record of "organisations", which does not exist (did you mean "organizations"?)',
  ],
  [
    "a collection that is called like a function of the world",
    [defineCollection({ name: "end", fields: {} }), list()],
    'a collection cannot have the name "end"',
  ],
  [
    "events of a collection that are null",
    [defineCollection({ name: "notes", fields: {}, emits: null as never }), list()],
    "the collection notes emits null, which is not a map of events",
  ],
  [
    "a used collection that nothing exports",
    [list({ uses: { notes } })],
    "operations: the operation notes.list uses notes, which nothing exports",
  ],
  [
    "a used collection under another name",
    [notes, list({ uses: { memos: notes } })],
    "the operation notes.list uses notes as memos; a collection has its own name in `uses`",
  ],
  [
    "a collection with an unknown key",
    [defineCollection({ name: "notes", fields: {}, emit: { insert: "note.made" } } as never), list()],
    "the collection notes has the unknown key emit (did you mean emits?)",
  ],
  [
    "an event with an unknown key",
    [defineEvent({ name: "note.made", about: notes, data: [], organisation: () => "" } as never), notes],
    "the event note.made has the unknown key organisation (did you mean organization?)",
  ],
  ["a response that is a number", [list({ response: 7 })], "response is 7, not a schema such as string()"],
  ["a query that is a text", [list({ query: "limit" })], 'query is "limit", not a schema'],
  [
    "a parameter that is a list",
    [list({ path: "/v1/notes/{id}", params: { id: [] } })],
    "id is [], not a schema",
  ],
  ["parameters that are null", [list({ params: null })], "params is null, not a schema"],
  [
    "a parameter that is null",
    [list({ path: "/v1/notes/{id}", params: { id: null } })],
    "id is null, not a schema",
  ],
  ["a query parameter that is null", [list({ query: { limit: null } })], "limit is null, not a schema"],
  ["a body that is null", [list({ method: "POST", body: null })], "body is null, not a schema"],
  ["a response that is null", [list({ response: null })], "response is null, not a schema"],
  ["a summary that is a number", [list({ summary: 5 })], "has the summary 5, which is not a text"],
  ["errors that are a text", [list({ errors: "LIMIT" })], 'has the errors "LIMIT", which are not a list'],
  ["an event that is null", [list({ emit: null })], "emits null, which is not an event"],
  [
    "an event without a name",
    [defineEvent({ about: notes, data: [] } as never), notes],
    "the event undefined needs a `name`, `about`, a collection, and `data`",
  ],
  [
    "an event that sends what its collection has by inheritance alone",
    [defineEvent({ name: "note.made", about: notes, data: ["constructor"] as never }), notes],
    "the event note.made sends constructor, which is not a field of notes",
  ],
  [
    "an error that the catalogue has by inheritance alone",
    [list({ errors: ["constructor"] })],
    "the operation notes.list has the error constructor, which is not a code of the catalogue",
  ],
  [
    "an event about nothing",
    [defineEvent({ name: "note.made", about: null as never, data: [] }), list()],
    "the event note.made needs a `name`, `about`, a collection",
  ],
  [
    "an event whose organization is a text",
    [defineEvent({ name: "note.made", about: notes, data: [], organization: "org_acme" as never }), notes],
    'the event note.made has the organization "org_acme", which is not a function',
  ],
  [
    "an event whose summary is a number",
    [defineEvent({ name: "note.made", about: notes, data: [], summary: 5 as never }), notes],
    "the event note.made has the summary 5, which is not a text",
  ],
])(
  "declarations with %s are refused with one sentence [interfaces 18]",
  async (_what, declarations, sentence) => {
    const error = await createSandbox({ operations: declarations }).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error?.message).toContain(sentence);
    expect(error?.message).not.toContain("\n");
  },
);

it.each([
  undefined,
  null,
  5,
  "notes",
  {},
  { name: "notes" },
  { fields: {} },
  { name: "notes", fields: null },
  { name: "notes", fields: [] },
])("defineCollection(%j) is refused with the values that it accepts [interfaces 18]", (declaration) => {
  expect(() => defineCollection(declaration as never)).toThrow("defineCollection takes a name and fields");
});

it("an operation with an empty summary can change the world [interfaces 18]", async () => {
  const notes = defineCollection({ name: "notes", fields: { text: string() } });
  const create = defineOperation({
    id: "notes.create",
    method: "POST",
    path: "/v1/notes",
    summary: "",
    uses: { notes },
    handle: ({ world }) => world.notes.insert({ text: "new" }),
  });
  const sandbox = await createSandbox({ operations: [notes, create] });
  const headers = { "api-key": sandbox.credentials.usr_dan };
  expect((await sandbox.fetch("/v1/notes", { method: "POST", headers })).status).toBe(200);
  await sandbox.close();
});
