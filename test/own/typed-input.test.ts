import { afterEach, expect, it } from "vitest";
import { createSandbox, type LocalSandbox } from "../../src/client/engine.ts";
import {
  array,
  boolean,
  defineCollection,
  defineEvent,
  defineOperation,
  id,
  instant,
  integer,
  nullable,
  number,
  object,
  optional,
  refuse,
  string,
  userId,
  words,
} from "../../src/client/operations.ts";

/* interfaces 18: the types in which a handler gets its input, and the records that its world finds. */

const boxes = defineCollection({
  name: "boxes",
  fields: { label: string(), weight: nullable(number()), due: nullable(instant()) },
});
const defineTestOperation = (more: object) =>
  defineOperation({ id: "boxes.try", method: "GET", path: "/v1/try", access: "public", ...more } as never);

let sandbox: LocalSandbox | undefined;
afterEach(async () => {
  await sandbox?.close();
  sandbox = undefined;
});
const ask = async (more: object, path = "/v1/try") => {
  sandbox = await createSandbox({
    ...{ seed: 7, clock: { mode: "frozen" } },
    operations: [boxes, defineTestOperation({ uses: { boxes }, ...more })],
    fixture: {
      extends: "reference",
      boxes: [
        { id: "box_a", label: "a", weight: 3, due: "2020-01-01T00:00:00Z" },
        { id: "box_b", label: "b", weight: -2, due: null },
        { id: "box_c", label: "c", weight: null, due: "2030-01-01T00:00:00Z" },
      ],
    } as object,
  });
  const answer = await sandbox.fetch(path);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

const query = {
  tags: optional(array(string())),
  sizes: optional(array(integer())),
  weight: optional(number({ min: -1e6 })),
  limit: optional(nullable(integer())),
  deep: optional(boolean()),
  sort: optional(words(["up", "down"])),
};
it.each<[string, object]>([
  ["tags=a&tags=b&tags=c", { tags: ["a", "b", "c"] }],
  ["tags=a", { tags: ["a"] }],
  ["tags=", { tags: [""] }],
  ["sizes=1&sizes=-2", { sizes: [1, -2] }],
  ["weight=1.5", { weight: 1.5 }],
  ["weight=-2e3", { weight: -2000 }],
  ["weight=7", { weight: 7 }],
  ["limit=3&deep=true&sort=up", { limit: 3, deep: true, sort: "up" }],
])(
  "a query of %s reaches the handler in the types of its declaration [interfaces 18]",
  async (sent, read) => {
    const handle = (call: { query: object }) => call.query;
    expect(await ask({ query, handle }, `/v1/try?${sent}`)).toEqual({ status: 200, body: read });
  },
);

it.each([
  ["sizes=1&sizes=x", "sizes[1] must be integer"],
  ["weight=1,5", "weight must be number"],
  ["weight=1e999", "weight is too large to be represented exactly"],
  ["weight=9007199254740993", "weight is too large to be represented exactly"],
  ["weight=1&weight=2", "weight was sent twice"],
  ["sort=up&sort=down", "sort was sent twice"],
  ["deep=1", "deep must be boolean"],
])("a query of %s is refused with a sentence [interfaces 18]", async (sent, message) => {
  const { status, body } = await ask({ query, handle: () => ({}) }, `/v1/try?${sent}`);
  expect([status, body["error"]]).toMatchObject([422, { message }]);
});

it.each([
  ["sizes=1&sizes=x", { field: "sizes[1]", value: "x" }],
  ["sizes=1.5", { field: "sizes[0]", value: "1.5" }],
  ["sort=up&sort=down", { field: "sort", value: ["up", "down"] }],
])("the refusal of a query of %s has the value of the field that it names [G08]", async (sent, details) => {
  const { body } = await ask({ query, handle: () => ({}) }, `/v1/try?${sent}`);
  expect(body["error"]).toMatchObject({ details });
});

it.each<[string, object, (value: never) => boolean]>([
  ["a negative integer", integer({ max: -5 }), (value) => value <= -5],
  ["a number between whole ones", number({ min: 0.1, max: 0.9 }), (value) => value >= 0.1 && value <= 0.9],
  ["a number above 0", { type: "number", exclusiveMinimum: 0, maximum: 1 }, (value) => value > 0],
  [
    "a list of at least two",
    array(integer({ min: 3 }), { min: 2 }),
    ([a, b]: number[]) => a! >= 3 && b! >= 3,
  ],
  ["an object of bounded fields", object({ a: integer({ max: -1 }) }), ({ a }: { a: number }) => a <= -1],
  ["an id without a reference", id("pal_"), (value: string) => value.startsWith("pal_")],
])("a new record without this field gets a valid value: %s [interfaces 18]", async (_, field, fits) => {
  const crates = defineCollection({ name: "crates", fields: { value: field as never } });
  sandbox = await createSandbox({
    seed: 7,
    operations: [crates, defineTestOperation({ handle: () => ({}) })],
  });
  const created: object[] = [];
  for (let i = 0; i < 5; i++) created.push(await sandbox.state("crates" as never).create({} as never));
  expect((created as { value: never }[]).filter(({ value }) => fits(value))).toHaveLength(5);
});

it("a new record gets an id with the prefix of its field, and mentions a user that exists [interfaces 18]", async () => {
  const crates = defineCollection({
    name: "crates",
    fields: { id: id("cr_"), packed_by: userId({ description: "The packer" }) },
  });
  sandbox = await createSandbox({ operations: [crates] });
  const state = sandbox.state("crates" as never);
  expect(await state.create({} as never)).toEqual({
    id: expect.stringMatching(/^cr_/),
    packed_by: expect.stringMatching(/^usr_/),
  });
  await expect(state.create({ packed_by: "usr_none" } as never)).rejects.toThrow(
    "packed_by must name one of the users",
  );
});

it.each<[string, object, string, unknown]>([
  ["an integer", integer({ min: 1 }), "12", 12],
  ["a number", number(), "-1.5", -1.5],
  ["a boolean", boolean(), "false", false],
  ["a text of digits", string(), "0012", "0012"],
])(
  "a path parameter that is %s reaches the handler with that type [interfaces 18]",
  async (_, schema, sent, read) => {
    const handle = (call: { params: object }) => call.params;
    const { status, body } = await ask(
      { path: "/v1/try/{n}", params: { n: schema }, handle },
      `/v1/try/${sent}`,
    );
    expect([status, body]).toEqual([200, { n: read }]);
  },
);

it("a default is a fresh value in each request, also of a field named like an inherited one [interfaces 18]", async () => {
  const body = {
    tags: array(string(), { default: [] }),
    constructor: string({ default: "b" }),
    mood: nullable(string({ default: "good" })),
  };
  const handle = (call: { body: { tags: string[] } }) => {
    call.body.tags.push("a");
    return { ...call.body };
  };
  await ask({ method: "POST", body, handle });
  const send = async () => {
    const headers = { "content-type": "application/json" };
    return (await sandbox!.fetch("/v1/try", { method: "POST", headers, body: "{}" })).json();
  };
  const defaults = { tags: ["a"], constructor: "b", mood: "good" };
  expect([await send(), await send()]).toEqual([defaults, defaults]);
});

it("the default of a field inside an object or a list is its value if the client omits it [interfaces 18]", async () => {
  const size = integer({ default: 10 });
  const body = { box: object({ size }), boxes: array(object({ size, label: optional(string()) })) };
  await ask({ method: "POST", body, handle: (call: { body: object }) => call.body });
  const sent = JSON.stringify({ box: {}, boxes: [{ label: "a" }, { size: 2 }] });
  const headers = { "content-type": "application/json" };
  const answer = await sandbox!.fetch("/v1/try", { method: "POST", headers, body: sent });
  const read = { box: { size: 10 }, boxes: [{ size: 10, label: "a" }, { size: 2 }] };
  expect([answer.status, await answer.json()]).toEqual([200, read]);
});

it("the default of a field inside a record is its value if an insert, a state call or an update omits it [interfaces 18]", async () => {
  const size = integer({ default: 10 });
  const crates = defineCollection({
    name: "crates",
    fields: { label: string({ default: "new" }), box: object({ size }), boxes: array(object({ size })) },
  });
  const fields = { box: {}, boxes: [{}, { size: 2 }] };
  const handle = ({ world }: { world: { crates: { insert(values: object): object } } }) =>
    world.crates.insert(fields);
  const read = { label: "new", box: { size: 10 }, boxes: [{ size: 10 }, { size: 2 }] };
  const operations = [crates, defineTestOperation({ method: "POST", uses: { crates }, handle })];
  sandbox = await createSandbox({ operations });
  const answer = await sandbox!.fetch("/v1/try", { method: "POST" });
  expect([answer.status, await answer.json()]).toMatchObject([200, read]);
  const state = sandbox!.state("crates" as "threads");
  const { id } = await state.create({ ...fields, label: "old" } as never);
  expect(await state.update(id, { box: {} } as never)).toMatchObject({ ...read, label: "old" });
});

it("a body that may have any other fields is accepted with them, without a warning [G09]", async () => {
  const body = object({ label: string() }, { additionalProperties: true });
  await ask({ method: "POST", body, handle: (call: { body: object }) => call.body });
  const sent = { label: "a", colour: "red" };
  const headers = { "content-type": "application/json" };
  const send = () => sandbox!.fetch("/v1/try", { method: "POST", headers, body: JSON.stringify(sent) });
  expect(await (await send()).json()).toEqual(sent);
  const { entries } = await sandbox!.journal.list();
  expect(entries[0]!.warnings).toEqual([]);
  await sandbox!.configure({ unknown_fields: "reject" });
  expect((await send()).status).toBe(200);
});

it("a path parameter that is not an integer is refused with the text that was sent [interfaces 18]", async () => {
  const more = { path: "/v1/try/{n}", params: { n: integer({ min: 10 }) }, handle: () => ({}) };
  const { status, body } = await ask(more, "/v1/try/0x1f");
  expect([status, body["error"]]).toMatchObject([
    422,
    { message: "n must be integer", details: { field: "n", value: "0x1f" } },
  ]);
});

it("a handler may store a time as a JavaScript Date [interfaces 18]", async () => {
  const due = new Date("2026-05-01T12:00:00.000Z");
  type Store = Record<"insert" | "update", (...given: unknown[]) => { id: string; due: string }>;
  const handle = ({ world }: { world: { boxes: Store } }) => {
    const { id: box_id, due: inserted } = world.boxes.insert({ label: "d", weight: 1, due });
    return { inserted, updated: world.boxes.update(box_id, { due: new Date(0) }).due };
  };
  expect(await ask({ handle })).toEqual({
    status: 200,
    body: { inserted: due.toISOString(), updated: "1970-01-01T00:00:00.000Z" },
  });
});

type Boxes = Iterable<{ label: string }> &
  Record<"where" | "orderBy" | "page", (...given: unknown[]) => Boxes>;
const label = ({ label: text }: { label: string }) => text;
it.each<[string, (found: Boxes) => Iterable<{ label: string }>, string]>([
  ["two values of one field", (found) => found.where({ label: "a" }).where({ label: "b" }), ""],
  ["the same value twice", (found) => found.where({ label: "a" }).where({ label: "a" }), "a"],
  ["two ids", (found) => found.where({ id: "box_a" }).where({ id: "box_b" }), ""],
  [
    "a time given as a Date",
    (found) => {
      const { due } = [...found].find(({ label: text }) => text === "c") as unknown as { due: string };
      return found.where({ due: new Date(due) });
    },
    "c",
  ],
  ["numbers in their order, absent ones last", (found) => found.orderBy("weight"), "bac"],
  ["numbers in the other order", (found) => found.orderBy("weight", "desc"), "cab"],
  ["times in their order, absent ones last", (found) => found.orderBy("due"), "acb"],
  ["a page before the first", (found) => found.orderBy("label").page({ offset: -1, limit: 2 }), "ab"],
  ["the same page without an order", (found) => found.page({ offset: -1 }), "abc"],
  ["a page of less than none", (found) => found.orderBy("label").page({ limit: -1 }), ""],
  ["a page without a limit", (found) => found.orderBy("label").page({ limit: null, offset: null }), "abc"],
  ["the same without an order", (found) => found.page({ limit: null }), "abc"],
])("a handler that searches for %s gets those [interfaces 18]", async (_, find, labels) => {
  const handle = ({ world }: { world: { boxes: Boxes } }) => ({
    found: [...find(world.boxes)].map(label).join(""),
  });
  const { body } = await ask({ handle });
  const found = String(body["found"]);
  expect(_.includes("without an order") ? [...found].sort().join("") : found).toBe(labels);
});

type Box = { id: string; label: string };
type FoundBoxes = Record<"get" | "require" | "remove", (id: string) => Box | undefined> &
  Record<"update", (id: string, fields: object) => Box>;
it.each<[string, (found: FoundBoxes) => unknown]>([
  ["require", (found) => found.require("box_b")],
  ["update", (found) => found.update("box_b", { label: "x" })],
  ["remove", (found) => found.remove("box_b")],
])("%s of the records with a value finds no record with another [interfaces 18]", async (_, find) => {
  const handle = ({ world }: { world: { boxes: { where(values: object): FoundBoxes } } }) => {
    const found = world.boxes.where({ label: "a" });
    if (found.get("box_a")?.label === "a" && found.get("box_b") === undefined) find(found);
    return {};
  };
  expect(await ask({ handle, errors: ["RESOURCE_NOT_FOUND"] })).toMatchObject({ status: 404 });
});

it.each<[string, object, string]>([
  [
    "returns a refusal",
    { handle: () => refuse("RESOURCE_NOT_FOUND") },
    "returned an error; a handler throws it",
  ],
  [
    "refuses with a header of no name",
    {
      errors: ["RESOURCE_NOT_FOUND"],
      handle: () => {
        throw refuse("RESOURCE_NOT_FOUND", { headers: { "x y": "1" } });
      },
    },
    'refused with the header "x y", which cannot be sent',
  ],
  [
    "refuses with a header beyond Latin-1",
    {
      errors: ["RESOURCE_NOT_FOUND"],
      handle: () => {
        throw refuse("RESOURCE_NOT_FOUND", { headers: { "x-name": "snow ☃" } });
      },
    },
    'refused with the header "x-name", which cannot be sent',
  ],
])(
  "a handler that %s is answered 500 with the reason in the journal [interfaces 18]",
  async (_, more, reason) => {
    expect((await ask(more)).status).toBe(500);
    const { entries } = await sandbox!.journal.list();
    expect(entries[0]!.reasons.at(-1)).toContain(reason);
  },
);

const fine = { handle: () => ({}) };
it.each<[string, object[], string]>([
  [
    "an impossible status",
    [defineTestOperation({ ...fine, status: 99 })],
    "has the status 99; that of a success",
  ],
  [
    "a status in words",
    [defineTestOperation({ ...fine, status: "created" })],
    'has the status "created"; that of',
  ],
  [
    "the status of a failure",
    [defineTestOperation({ ...fine, status: 404 })],
    "has the status 404; that of a success",
  ],
  [
    "a response that its status cannot carry",
    [defineTestOperation({ ...fine, status: 204, response: { a: string() } })],
    "has a response, and the status 204, which has no body",
  ],
  [
    "one parameter twice in its path",
    [defineTestOperation({ ...fine, path: "/v1/{a}/{a}" })],
    "has the parameter a twice in its path",
  ],
  [
    "a misspelt key",
    [defineTestOperation({ ...fine, acess: "public" })],
    "the operation boxes.try has the unknown key acess (did you mean access?)",
  ],
  [
    "an invented key",
    [defineTestOperation({ ...fine, whatever: 1 })],
    "has the unknown key whatever; there are id, method",
  ],
  [
    "a misspelt change in `emits`",
    [defineCollection({ name: "boxes", fields: {}, emits: { inserted: "box.made" } as never })],
    "the `emits` of boxes has the unknown key inserted (did you mean insert?)",
  ],
  [
    "an event about nothing",
    [boxes, defineEvent({ name: "box.made", data: ["id"] } as never)],
    "the event box.made needs a `name`, `about`, a collection, and `data`, a list of its fields",
  ],
  [
    "an event without data",
    [boxes, defineEvent({ name: "box.made", about: boxes } as never)],
    "the event box.made needs a `name`, `about`, a collection, and `data`, a list of its fields",
  ],
  [
    "an object in its query",
    [defineTestOperation({ ...fine, query: { filter: object({ a: string() }) } })],
    "filter has objects or lists in it, which its place in the URL cannot carry",
  ],
  [
    "a list in its path",
    [defineTestOperation({ ...fine, path: "/v1/{a}", params: { a: array(string()) } })],
    "a is a list, which its place in the URL cannot carry",
  ],
])("a declaration with %s is refused with a sentence [interfaces 18]", async (_, operations, sentence) => {
  await expect(createSandbox({ operations })).rejects.toThrow(sentence);
});

it("the default of a field inside a record is its value if a fixture omits it [interfaces 5, 18]", async () => {
  const size = integer({ default: 10 });
  const crates = defineCollection({
    name: "crates",
    fields: {
      label: string({ default: "new" }),
      mood: nullable(string({ default: "good" })),
      box: object({ size, mood: nullable(string({ default: "good" })) }),
      boxes: array(object({ size })),
      lid: nullable(object({ size })),
      filled: nullable(object({ size })),
      // A union: the defaults of one branch are not those of the other.
      content: { anyOf: [object({ size }), object({ text: string() })] } as never,
    },
  });
  const entry = {
    id: "crate_1",
    box: {},
    boxes: [{}, { size: 2 }],
    lid: {},
    filled: null,
    content: { text: "hat" },
  };
  const fixture = { extends: "reference", crates: [entry] };
  sandbox = await createSandbox({ operations: [crates], fixture });
  expect(await sandbox!.state("crates" as "threads").get("crate_1")).toStrictEqual({
    ...{ id: "crate_1", label: "new", mood: "good", box: { size: 10, mood: "good" } },
    ...{ boxes: [{ size: 10 }, { size: 2 }], lid: { size: 10 }, filled: null },
    content: { text: "hat" },
  });
});
