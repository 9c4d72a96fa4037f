import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { waitUntilPasses } from "../support/eventually.ts";
import {
  createTempFolder,
  type RunningServer,
  removeTempFolders,
  runCommand,
  startServer,
} from "../support/run-understudy.ts";

afterAll(removeTempFolders);

const NOTES = `
import { defineCollection, string } from "understudy-sandbox/operations";
type Unused = { a: string };
export const notes = defineCollection({ name: "notes", fields: { text: string({ min: 1 }) }, emits: {} });
`;
const list = (response: string) => `
import { array, defineOperation, object } from "understudy-sandbox/operations";
import { notes } from "./notes.ts";
export { notes };
export const createNote = defineOperation({
  id: "notes.create", method: "POST", path: "/v1/notes", body: { text: notes.record.properties.text } as never,
  status: 201, response: notes.record, uses: { notes },
  handle: ({ world, body }) => world.notes.insert(body as { text: string }),
});
export const listNotes = defineOperation({
  id: "notes.list", method: "GET", path: "/v1/notes", uses: { notes },
  handle: ({ world }) => ${response},
});
`;

const makeFolder = () => {
  const folder = join(createTempFolder(), "operations");
  mkdirSync(folder);
  writeFileSync(join(folder, "notes.ts"), NOTES);
  writeFileSync(join(folder, "list.mts"), list("({ data: world.notes.page() })"));
  return folder;
};
const key = { "api-key": "ak_danMemberAcme00000000000000000000000000" };
const send = async ({ ready }: RunningServer, method: string, body?: object) => {
  const headers = { ...key, "content-type": "application/json" };
  const answer = await fetch(`${ready.url}/v1/notes`, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
};

it("a folder of declarations is served, and keeps its records in edits [interfaces 18]", async () => {
  const folder = makeFolder();
  const server = await startServer(["--operations", folder, "--clock", "frozen"]);
  try {
    const made = await send(server, "POST", { text: "one" });
    expect(made).toMatchObject({ status: 201, body: { text: "one" } });
    expect(await send(server, "GET")).toMatchObject({ status: 200, body: { data: [made.body] } });
    expect((await send(server, "POST", {})).status).toBe(422);

    writeFileSync(join(folder, "list.mts"), list("({ notes: world.notes.page(), total: world.notes.size })"));
    await waitUntilPasses(async () => {
      expect((await send(server, "GET")).body).toEqual({ notes: [made.body], total: 1 });
    });
    await waitUntilPasses(() => {
      expect(server.output().stderr).toContain("the operations were edited and reloaded");
    });

    writeFileSync(join(folder, "list.mts"), list("({ notes: world.notes.page(),, })"));
    await waitUntilPasses(() => {
      expect(server.output().stderr).toMatch(/list\.mts:12:\d+: Unexpected token/);
    });
    expect((await send(server, "GET")).body).toEqual({ notes: [made.body], total: 1 });

    writeFileSync(join(folder, "notes.ts"), NOTES.replace("string({ min: 1 })", "string({ min: 3 })"));
    writeFileSync(join(folder, "list.mts"), list("({ data: world.notes.page() })"));
    await waitUntilPasses(async () => {
      expect((await send(server, "GET")).body).toEqual({ data: [made.body] });
    });
    expect((await send(server, "POST", { text: "ab" })).status).toBe(422);
  } finally {
    await server.stop();
  }
});

it("an error of a handler outside its request does not stop the server [interfaces 18]", async () => {
  const file = join(createTempFolder(), "late.mjs");
  writeFileSync(
    file,
    `export const late = { kind: "operation", id: "notes.late", method: "GET", path: "/v1/notes", handle: () => {
      Promise.reject(new Error("a rejection left behind"));
      setTimeout(() => { throw new Error("a timer left behind"); });
      return { fine: true };
    } };`,
  );
  const server = await startServer(["--operations", file]);
  try {
    expect((await send(server, "GET")).body).toEqual({ fine: true });
    await waitUntilPasses(() => {
      const { stderr } = server.output();
      expect(stderr).toContain(
        "an error outside the handlers of --operations: Error: a rejection left behind",
      );
      expect(stderr).toContain("an error outside the handlers of --operations: Error: a timer left behind");
    });
    expect((await send(server, "GET")).body).toEqual({ fine: true });
  } finally {
    await server.stop();
  }
});

it("an error of a handler is printed in one line, with its place [interfaces 18]", async () => {
  const file = join(createTempFolder(), "wrong.ts");
  writeFileSync(
    file,
    `export const wrong = { kind: "operation", id: "notes.wrong", method: "GET", path: "/v1/notes",
      handle: () => { throw new Error("my mistake"); } };`,
  );
  const server = await startServer(["--operations", file]);
  try {
    expect((await send(server, "GET")).status).toBe(500);
    const place = /notes\.wrong threw Error: my mistake \([^)]*wrong\.ts:2:\d+\)/;
    await waitUntilPasses(() => expect(server.output().stderr).toMatch(place));
    const { stderr } = server.output();
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).not.toContain("\\n    at ");
  } finally {
    await server.stop();
  }
});

const valid = list("1");
it.each<[string, string, RegExp]>([
  ["is not TypeScript", "export const a = {{;", /list\.mts:1:\d+: Unexpected token/],
  [
    "throws while it is loaded",
    "const a: number = 1;\nundefined.foo;\n",
    /list\.mts:2:\d+: Cannot read properties of undefined \(reading 'foo'\)/,
  ],
  [
    "imports a file that does not exist",
    'import "./none.ts";',
    /list\.mts:1:8: Cannot find module '\.\/none\.ts'/,
  ],
  [
    "has a field that is not a schema",
    valid.replace("body: {", "body: { wrong: 7 as never,"),
    /list\.mts:6:\d+: the operation notes\.create: body\.wrong is 7, not a schema such as string\(\)/,
  ],
  [
    "has a path that is none",
    valid.replace('path: "/v1/notes", body', 'path: "v1/notes", body'),
    /list\.mts:6:\d+: the operation notes\.create has the path "v1\/notes"/,
  ],
  [
    "has an operation twice",
    valid.replace('"notes.list"', '"notes.create"'),
    /declares the operation notes\.create twice/,
  ],
  [
    "names an unknown code",
    valid.replace("status: 201", 'status: 201, errors: ["NOPE"]'),
    /the operation notes\.create has the error NOPE/,
  ],
])(
  "a start with a file that %s is refused with the place of the mistake [interfaces 18]",
  async (_name, text, message) => {
    const folder = makeFolder();
    writeFileSync(join(folder, "list.mts"), text);
    const { code, stderr } = await runCommand(["start", "--port", "0", "--operations", folder]);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  },
);

it("a start is refused with the place in the imported module that throws [interfaces 18]", async () => {
  const folder = createTempFolder();
  writeFileSync(join(folder, "names.ts"), "export const name: string = 'x';\n\nundefined.foo;\n");
  writeFileSync(join(folder, "list.ts"), 'import { name } from "./names.ts";\nexport const copy = name;\n');
  const { code, stderr } = await runCommand([
    "start",
    "--port",
    "0",
    "--operations",
    join(folder, "list.ts"),
  ]);
  expect(stderr).toMatch(/names\.ts:3:\d+: Cannot read properties of undefined \(reading 'foo'\)/);
  expect(code).toBe(2);
});

it("files of the configuration are served too [interfaces 18]", async () => {
  const folder = makeFolder();
  const config = join(folder, "understudy.config.yaml");
  writeFileSync(config, `operations: [${JSON.stringify(folder)}]\n`);
  const server = await startServer(["--config", config]);
  try {
    expect((await send(server, "GET")).body).toEqual({ data: [] });
    expect(readFileSync(config, "utf8")).toContain("operations");
  } finally {
    await server.stop();
  }
});

it.each([
  ["none.ts", "there is no file"],
  ["data.yaml", "is neither TypeScript nor JavaScript"],
])("--operations %s is wrong usage [interfaces 18]", async (name, message) => {
  const folder = createTempFolder();
  writeFileSync(join(folder, "data.yaml"), "a: 1");
  const { code, stderr } = await runCommand(["start", "--port", "0", "--operations", join(folder, name)]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

it("a bundle names the files that it needs, and is replayed only with them [interfaces 18]", async () => {
  const folder = makeFolder();
  const server = await startServer(["--operations", folder, "--clock", "frozen"]);
  const file = join(createTempFolder(), "bug.json");
  try {
    await send(server, "POST", { text: "one" });
    await send(server, "GET");
    expect((await runCommand(["bundle", file, "--url", server.ready.url])).code).toBe(0);
  } finally {
    await server.stop();
  }
  const { operations } = JSON.parse(readFileSync(file, "utf8"));
  expect(operations).toEqual([
    { source: expect.stringContaining("list.mts"), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
  const without = await runCommand(["replay", file]);
  expect([without.code, without.stderr]).toEqual([
    2,
    expect.stringMatching(
      /The bundle needs the operations of .*list\.mts, .*notes\.ts; give the same files with --operations/,
    ),
  ]);
  const elsewhere = makeFolder();
  expect(await runCommand(["replay", file, "--operations", elsewhere])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("every answer was the same"),
  });
  writeFileSync(join(elsewhere, "notes.ts"), `${NOTES}\n`);
  const changed = await runCommand(["replay", file, "--operations", elsewhere]);
  expect([changed.code, changed.stderr]).toEqual([
    2,
    expect.stringContaining(`with the SHA-256 ${operations[0].sha256}; the given files differ`),
  ]);
});

it("the types of declarations are generated for a client [interfaces 18]", async () => {
  const folder = makeFolder();
  const out = join(createTempFolder(), "types.ts");
  expect((await runCommand(["types", "--operations", folder, "--out", out])).code).toBe(0);
  const written = readFileSync(out, "utf8");
  expect(written).toContain("  notes: {\n    id: string;\n    text: string;\n  };");
  expect(written).toMatch(
    /"notes\.create": \{\n {4}params: undefined;\n {4}query: undefined;\n {4}body: \{\n {6}text: string;/,
  );
  expect(written).toContain("export interface OwnEvents {}\nexport type OwnEventName = keyof OwnEvents;");
  expect((await runCommand(["types"])).code).toBe(2);
});
