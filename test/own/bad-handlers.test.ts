import { afterEach, expect, it } from "vitest";
import { createSandbox, type LocalSandbox } from "../../src/client/engine.ts";
import {
  defineCollection,
  defineEvent,
  defineOperation,
  refuse,
  string,
} from "../../src/client/operations.ts";
import { waitUntilPasses } from "../support/eventually.ts";

const notes = defineCollection({ name: "notes", fields: { text: string() } });
const uses = { notes };
const post = { method: "POST", access: "caller", uses } as const;
// biome-ignore lint/suspicious/noExplicitAny: handlers that no compiler would accept
type Handle = (call: any, loaded: any) => unknown;
const defineTestOperation = (handle: Handle, more: object = {}) =>
  defineOperation({ id: "notes.spoil", path: "/v1/spoil", ...post, ...more, handle });
const insert = (call: { world: object }) =>
  (call.world as { notes: { insert(fields: object): { text: string } } }).notes.insert({ text: "new" });

let sandbox: LocalSandbox | undefined;
afterEach(async () => {
  await sandbox?.close();
  sandbox = undefined;
});
const begin = async (...declarations: object[]) => {
  sandbox = await createSandbox({ seed: 7, clock: { mode: "frozen" }, operations: { notes, declarations } });
  await sandbox.state("notes" as "threads").create({ id: "note_first", text: "first" } as never);
  return sandbox;
};
const send = async (path = "/v1/spoil") =>
  await sandbox!.fetch(path, { method: "POST", headers: { "api-key": sandbox!.credentials.usr_dan } });

const loop: Handle = () => {
  for (;;);
};
const circle: Record<string, unknown> = {};
circle["self"] = circle;

it.each<[string, Handle, object, string]>([
  [
    "inserts a value that JSON cannot carry",
    ({ world }) => world.notes.insert({ text: 1n }),
    {},
    "notes.spoil threw a value that cannot be read",
  ],
  [
    "refuses with details that JSON cannot carry",
    () => {
      throw refuse("RESOURCE_NOT_FOUND", { details: circle });
    },
    { errors: ["RESOURCE_NOT_FOUND"] },
    "notes.spoil threw a value that cannot be read",
  ],
  [
    "throws",
    (call) => {
      insert(call);
      throw new TypeError("no such thing");
    },
    {},
    "notes.spoil threw TypeError: no such thing",
  ],
  [
    "throws a text",
    (call) => {
      insert(call);
      throw "oops";
    },
    {},
    "notes.spoil threw oops",
  ],
  [
    "returns a promise",
    async (call) => insert(call),
    {},
    "notes.spoil returned a promise; a handler answers at once, in one transaction",
  ],
  [
    "returns a promise that fails",
    async (call) => {
      insert(call);
      throw new Error("later");
    },
    {},
    "notes.spoil returned a promise; a handler answers at once, in one transaction",
  ],
  [
    "has an access that returns a promise that fails",
    insert,
    {
      access: async () => {
        throw new Error("later");
      },
    },
    "notes.spoil returned a promise; a handler answers at once, in one transaction",
  ],
  [
    "never ends",
    (call, loaded) => {
      insert(call);
      return loop(call, loaded);
    },
    {},
    "notes.spoil did not end within 1 s and was stopped",
  ],
  [
    "returns what its response forbids",
    (call) => ({ text: insert(call).text.length }),
    { response: { text: string() } },
    "notes.spoil returned a body that does not fit its response: /text must be string",
  ],
  [
    "returns nothing although it declares a response",
    (call) => void insert(call),
    { response: { text: string() } },
    "notes.spoil returned nothing, and its response is not empty",
  ],
  [
    "returns a circle",
    (call) => {
      insert(call);
      return circle;
    },
    {},
    "notes.spoil returned a value that JSON cannot carry: Converting circular structure to JSON",
  ],
  [
    "returns a Map",
    (call) => {
      insert(call);
      return { texts: new Map([[1, 2]]) };
    },
    {},
    "notes.spoil returned a value that JSON cannot carry: a Map would be {}",
  ],
  [
    "returns a Response",
    (call) => {
      insert(call);
      return Response.json({ error: "no" }, { status: 409 });
    },
    {},
    "notes.spoil returned a value that JSON cannot carry: a Response would be {}",
  ],
  [
    "returns a list of promises",
    (call) => [Promise.resolve(insert(call))],
    {},
    "notes.spoil returned a value that JSON cannot carry: a Promise would be {}",
  ],
  [
    "returns a function",
    (call) => {
      insert(call);
      return () => 1;
    },
    {},
    "notes.spoil returned a value that JSON cannot carry",
  ],
  [
    "returns a value whose toJSON does not end",
    (call) => {
      insert(call);
      return { toJSON: loop };
    },
    {},
    "notes.spoil did not end within 1 s and was stopped",
  ],
  [
    "throws a value that throws when it is read",
    () => {
      const fail = () => {
        throw new Error("unreadable");
      };
      throw new Proxy({}, { get: fail });
    },
    {},
    "notes.spoil threw a value that cannot be read",
  ],
  [
    "throws an error with an odd stack",
    () => {
      throw Object.assign(new Error("odd"), { stack: 5 });
    },
    {},
    "notes.spoil threw Error: odd",
  ],
  [
    "throws an object",
    () => {
      throw { code: 5 };
    },
    {},
    'notes.spoil threw {"code":5}',
  ],
  [
    "refuses with a code that it does not declare",
    (call) => {
      insert(call);
      throw refuse("FILE_NOT_IN_STORE");
    },
    {},
    "notes.spoil refused with FILE_NOT_IN_STORE, which its errors do not list",
  ],
  [
    "emits an event that does not exist",
    (call) => {
      call.world.emit("note.lost" as never, insert(call));
    },
    {},
    "there is no event note.lost",
  ],
  [
    "emits an event about the record in an object that it returns",
    (call) => ({ data: insert(call) }),
    { emit: "thread.created" },
    "thread.created needs the record that it is about",
  ],
  [
    "emits an event about a record and returns nothing",
    (call) => void insert(call),
    { emit: "thread.created" },
    "thread.created needs the record that it is about",
  ],
  [
    "filters by a field that does not exist",
    (call) => {
      insert(call);
      return (call.world as never as Record<string, { where(w: object): object }>)["notes"]!.where({
        colour: "red",
      });
    },
    {},
    "colour is not a field of notes",
  ],
  [
    "filters by a field and a value instead of an object",
    ({ world }) => world.notes.where("text", "other").size,
    {},
    'where takes fields with their values, or a function, not "text"',
  ],
  [
    "sorts in a direction of another case",
    ({ world }) => world.notes.orderBy("text", "DESC"),
    {},
    '"DESC" is not a direction of orderBy; use "asc" or "desc"',
  ],
  [
    "sorts in the direction of a sign",
    ({ world }) => world.notes.orderBy("text", -1),
    {},
    '-1 is not a direction of orderBy; use "asc" or "desc"',
  ],
  [
    "filters by nothing",
    ({ world }) => world.notes.where().size,
    {},
    "where takes fields with their values, or a function, not undefined",
  ],
  [
    "filters by a number",
    ({ world }) => world.notes.where(5).size,
    {},
    "where takes fields with their values, or a function, not 5",
  ],
  [
    "filters by an undefined value",
    ({ world }) => world.notes.where({ text: undefined }).size,
    {},
    "where has the field text with the value undefined; leave it out to find all records, or give null",
  ],
  [
    "sorts by a mistyped field",
    ({ world }) => world.notes.orderBy("txt"),
    {},
    'txt is not a field of notes (did you mean "text"?)',
  ],
  [
    "uses the collection of a mistyped declaration",
    ({ world }) => world.of({ name: "notez" }).size,
    {},
    'there is no collection notez (did you mean "notes"?)',
  ],
  ["uses the collection of nothing", ({ world }) => world.of().size, {}, "there is no collection undefined"],
  [
    "emits a mistyped event",
    ({ world }) => world.emit("thread.creatd", {}),
    {},
    'there is no event thread.creatd (did you mean "thread.created"?)',
  ],
  ["emits no event", ({ world }) => world.emit(), {}, "there is no event undefined"],
  ...["get", "require", "update", "remove"].map((method): [string, Handle, object, string] => [
    `gives a record to ${method}`,
    ({ world }) => world.notes[method](world.notes.first(), { text: "new" }),
    { errors: ["RESOURCE_NOT_FOUND"] },
    "a record of notes was given where its id is expected",
  ]),
])(
  "a handler that %s fails only its request, and leaves the world as it was [interfaces 18]",
  async (_, handle, more, reason) => {
    await begin(defineTestOperation(handle, more));
    const answer = await send();
    expect(answer.status).toBe(500);
    expect(answer.headers.get("x-sandbox-decision")).toBe("internal");
    expect(await answer.json()).toMatchObject({ error: { code: "INTERNAL_ERROR" } });
    const { entries } = await sandbox!.journal.list();
    expect(entries[0]!.reasons.at(-1)).toContain(reason);
    expect(
      ((await sandbox!.state("notes" as "threads").list()) as never as { items: unknown[] }).items,
    ).toEqual([{ id: "note_first", text: "first" }]);
    const request = { method: "POST", path: "/v1/spoil", principal: "usr_dan" } as const;
    const explained = await sandbox!.faults.explain(request);
    expect(explained).toMatchObject({ status: 500, decision: "internal", code: "INTERNAL_ERROR" });
    expect(explained.steps.find(({ outcome }) => outcome === "decides")!.says).toContain(reason);
    // The sandbox still serves requests.
    expect(
      (await sandbox!.fetch("/v1/models", { headers: { "api-key": sandbox!.credentials.usr_dan } })).status,
    ).toBe(200);
  },
);

it.each([undefined, null, 5, {}])(
  "a handler that looks a record up by %j finds none, changes none and deletes none [interfaces 18]",
  async (id) => {
    const find = defineTestOperation(({ world }) => {
      const refused = ["require", "update", "remove"].map((method) => {
        try {
          return world.notes[method](id, { text: "changed" });
        } catch (error) {
          return (error as { code: string }).code;
        }
      });
      return { found: [world.notes, world.users].map((records) => records.get(id) ?? null), refused };
    });
    await begin(find);
    const refused = Array(3).fill("RESOURCE_NOT_FOUND");
    expect(await (await send()).json()).toEqual({ found: [null, null], refused });
    expect((await sandbox!.state("notes" as "threads").list()).items).toEqual([
      { id: "note_first", text: "first" },
    ]);
  },
);

it("a handler sends an event about a budget, which has no id [interfaces 18]", async () => {
  const figures = { monthly_limit: 10, current_usage: 9, utilization_percentage: 90 };
  const budget = { organization_id: "org_acme", scope: "organization", ...figures };
  await begin(defineTestOperation(({ world }) => void world.emit("usage.threshold", budget)));
  const { items } = await sandbox!.state("webhooks").list();
  const { webhook_id } = items[0] as unknown as { webhook_id: string };
  const change = { active: true, organization_id: "org_acme", events: ["usage.threshold" as const] };
  await sandbox!.state("webhooks").update(webhook_id, change);
  expect((await send()).status).toBe(204);
  const listSent = async () =>
    (await sandbox!.journal.list()).entries.flatMap(({ delivery, request }) =>
      delivery ? [request.body] : [],
    );
  await waitUntilPasses(async () => expect(await listSent()).toMatchObject([{ data: budget }]));
});

it("a handler that returns records answers a list of them [interfaces 18]", async () => {
  await begin(defineTestOperation((call) => ({ data: call.world.notes })));
  expect(await (await send()).json()).toEqual({ data: [{ id: "note_first", text: "first" }] });
});

it("a handler that uses the world after its request has ended gets an error, since the change would be lost [interfaces 18]", async () => {
  let late: unknown;
  const spoil = defineTestOperation(({ world }) => {
    const table = world.notes;
    queueMicrotask(() => {
      for (const use of [() => table.insert({ text: "late" }), () => world.notes.size])
        try {
          use();
        } catch (error) {
          late = error;
        }
    });
  });
  await begin(spoil);
  expect((await send()).status).toBe(204);
  expect(String(late)).toContain(
    "notes.spoil used the world after its end; a handler reads and changes records before it returns",
  );
});

it.each<[string, number, { access: Handle; handle: Handle }]>([
  [
    "its access function kept it",
    204,
    {
      access: ({ world }) => void queueMicrotask(() => tryLate(world)),
      handle: () => undefined,
    },
  ],
  [
    "its access function refused",
    403,
    {
      access({ world }) {
        queueMicrotask(() => tryLate(world));
        return false;
      },
      handle: () => undefined,
    },
  ],
  [
    "its handler refused",
    404,
    {
      access: () => undefined,
      handle({ world }) {
        queueMicrotask(() => tryLate(world));
        throw refuse("RESOURCE_NOT_FOUND");
      },
    },
  ],
])(
  "an operation that changes the world after its request has ended gets an error if %s [interfaces 18]",
  async (_, status, { access, handle }) => {
    lateError = undefined;
    await begin(defineTestOperation(handle, { access, errors: ["RESOURCE_NOT_FOUND"] }));
    expect((await send()).status).toBe(status);
    expect(String(lateError)).toContain("notes.spoil used the world after its end");
  },
);
let lateError: unknown;
function tryLate(world: { notes: { insert(fields: object): object } }) {
  try {
    world.notes.insert({ text: "late" });
  } catch (error) {
    lateError = error;
  }
}

it("a handler reads the records that its access function returned [interfaces 18]", async () => {
  const findFirstNote: Handle = ({ world }) => world.notes.where({ text: "first" });
  await begin(defineTestOperation((_call, found) => ({ data: found }), { access: findFirstNote }));
  expect(await (await send()).json()).toEqual({ data: [{ id: "note_first", text: "first" }] });
});

it.each<[string, (table: { insert(fields: object): object; remove(id: string): void }) => void]>([
  ["inserts a record", (table) => void table.insert({ text: "more" })],
  ["removes a record", (table) => table.remove("note_first")],
])(
  "the `organization` of an event that %s fails the request, since it may only read [interfaces 18]",
  async (_what, change) => {
    const created = defineEvent({
      ...{ name: "note.created", about: notes, data: ["id"] },
      organization(_record, world) {
        change(world.of(notes));
        return "org_acme";
      },
    });
    const spoil = defineTestOperation(
      ({ world }) => {
        world.emit(created, world.notes.insert({ text: "new" }));
      },
      { summary: "Emits" },
    );
    await begin(spoil, created);
    expect((await send()).status).toBe(500);
    const [entry] = (await sandbox!.journal.list()).entries;
    expect(entry!.reasons.join()).toContain(
      "the event note.created: `organization` changed the world, which it only reads; change it in the handler of an operation",
    );
    expect((await sandbox!.state("notes" as "threads").list()).total).toBe(1);
  },
);

it.each<[string, () => unknown, string]>([
  ["returns no id", () => undefined, "returned no id."],
  ["throws", () => missing.length, "threw TypeError: Cannot read"],
])(
  "a state call names the `organization` of an event that %s [interfaces 18]",
  async (_what, organization, problem) => {
    const emits = { insert: "note.created" } as const;
    const declared = defineCollection({ name: "notes", fields: { text: string() }, emits });
    const created = defineEvent({
      ...{ name: "note.created", about: declared, data: ["id"] },
      organization: organization as () => string,
    });
    sandbox = await createSandbox({ operations: { declared, created } });
    const adding = sandbox.state("notes" as "threads").create({ text: "x" } as never);
    await expect(adding).rejects.toThrow(`the event note.created: \`organization\` ${problem}`);
  },
);
const missing = undefined as never as string;

it("a handler that changes its arguments does not change stored records [interfaces 18]", async () => {
  const spoil = defineTestOperation((call) => {
    const { notes: table, threads } = call.world as never as Record<
      string,
      Iterable<Record<string, unknown>> & { insert(f: object): object }
    >;
    for (const record of [...table!, ...threads!])
      for (const name of Object.keys(record)) record[name] = "spoilt";
    const given = { text: "given" };
    table!.insert(given);
    given.text = "spoilt";
    (call.principal as { user_id: string }).user_id = "usr_ada";
    (call.headers as Record<string, string>)["api-key"] = "gone";
  });
  await begin(spoil);
  const before = await sandbox!.state("threads" as "threads").list();
  expect((await send()).status).toBe(204);
  expect(await sandbox!.state("threads" as "threads").list()).toEqual(before);
  const { items } = (await sandbox!.state("notes" as "threads").list()) as never as {
    items: { text: string }[];
  };
  expect(items.map(({ text }) => text).sort()).toEqual(["first", "given"]);
  const { entries } = await sandbox!.journal.list();
  expect(entries[0]!.principal).toBe("usr_dan");
});

const declared = { id: "notes.spoil", method: "POST", path: "/v1/spoil", handle: () => 1 } as const;
it.each<[string, object[], string]>([
  [
    "no declaration",
    [{ a: 1 }],
    "exports no operation; make one with defineOperation of understudy-sandbox/operations",
  ],
  [
    "two operations on one path",
    [
      defineOperation({ ...declared, path: "/v1/a/{x}" }),
      defineOperation({ ...declared, id: "b", path: "/v1/a/{y}" }),
    ],
    "operations declares POST /v1/a/{} twice: notes.spoil and b",
  ],
  [
    "two operations of one id",
    [defineOperation(declared), defineOperation({ ...declared, path: "/v1/other" })],
    "operations declares the operation notes.spoil twice: notes.spoil and notes.spoil",
  ],
  [
    "two collections of one name",
    [notes, defineCollection({ name: "notes", fields: {} })],
    "operations: the collection notes is declared twice",
  ],
  [
    "a collection of the reference",
    [defineCollection({ name: "threads", fields: {} })],
    "operations declares the collection threads, which the built-in API has already",
  ],
  [
    "an event of the reference",
    [
      notes,
      defineEvent({ name: "thread.created", about: notes, data: ["id"], organization: () => "org_acme" }),
    ],
    "operations declares the event thread.created, which the built-in API has already",
  ],
  [
    "an event without an audience",
    [notes, defineEvent({ name: "note.created", about: notes, data: ["id"] })],
    "operations: the event note.created needs `organization`",
  ],
  [
    "an event that a collection lacks",
    [defineCollection({ name: "notes", fields: {}, emits: { insert: "note.made" } })],
    "operations: notes emits note.made, which is not an event",
  ],
  [
    "an event about another collection",
    [defineCollection({ name: "notes", fields: {}, emits: { insert: "thread.created" } })],
    "operations: notes emits thread.created, which is an event about threads",
  ],
  [
    "an unknown code",
    [defineOperation({ ...declared, errors: ["NO_SUCH_CODE" as never] })],
    "operations: the operation notes.spoil has the error NO_SUCH_CODE, which is not a code of the catalogue",
  ],
  [
    "an unknown event",
    [defineOperation({ ...declared, emit: "note.made" as never })],
    "operations: the operation notes.spoil emits note.made, which is not an event",
  ],
  [
    "a role that does not exist",
    [defineOperation({ ...declared, access: "chief" as never })],
    'operations: the operation notes.spoil has the access "chief", not public, caller, member, admin, owner or a',
  ],
  [
    "a path below the product's own",
    [defineOperation({ ...declared, path: "/_control/x" })],
    'operations: the operation notes.spoil has the path "/_control/x"',
  ],
])("declarations with %s are refused with a sentence [interfaces 18]", async (_, operations, sentence) => {
  await expect(createSandbox({ operations })).rejects.toThrow(sentence);
});

it.each<[string, object, string]>([
  ["a field that the collection lacks", { text: "new", colour: "red" }, "colour"],
  ["a value of another type", { text: 7 }, "text"],
  ["an id that is in use", { id: "note_first", text: "new" }, "id"],
])(
  "a handler that stores %s refuses the request with that field [interfaces 18]",
  async (_name, fields, field) => {
    await begin(defineTestOperation((call) => void call.world.notes.insert(fields)));
    const answer = await send();
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ error: { code: "INVALID_INPUT", details: { field } } });
  },
);

it("a refusal has the records that its handler found in its details [interfaces 18]", async () => {
  const handle: Handle = ({ world }) => {
    throw refuse("RESOURCE_NOT_FOUND", { details: { found: world.notes } });
  };
  await begin(defineTestOperation(handle, { errors: ["RESOURCE_NOT_FOUND"] }));
  const { error } = (await (await send()).json()) as { error: object };
  expect(error).toMatchObject({ details: { found: [{ id: "note_first", text: "first" }] } });
});
