import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { createSandbox } from "../../src/client/engine.ts";
import { writeLargeDocument } from "../support/own/large-document.ts";
import { serveDocument } from "../support/own/serve-document.ts";

it("five hundred operations with recursive schemas, discriminators and nullable fields are served and accept all valid input", async () => {
  const { understudy, send } = serveDocument(writeLargeDocument(500));
  const { api } = understudy.sandboxes.get("default")!;
  expect(api.operations.filter(({ sourceFile }) => sourceFile !== undefined)).toHaveLength(500);
  for (const at of [0, 42, 99]) {
    const path = `/v1/thing${at}s`;
    const sources = [
      { kind: "card", last4: "4242" },
      { kind: "bank", iban: "x", owner: { id: "a", title: "t", state: "new" } },
    ];
    for (const source of sources) {
      const body = { title: "a", note: null, state: null, amount: 0.5, labels: { a: "b" }, source };
      const made = await send("POST", path, { body });
      expect([made.status, made.body]).toEqual([
        201,
        { ...body, id: made.body.id, created: "2026-03-15T12:00:00.000Z" },
      ]);
      expect((await send("GET", `${path}/${made.body.id}`)).body).toEqual(made.body);
      const changed = await send("PATCH", `${path}/${made.body.id}`, { body: { title: "b" } });
      expect(changed.body).toEqual({ ...made.body, title: "b" });
    }
    expect((await send("GET", `${path}?limit=1&expand=a,b`)).body).toMatchObject({ has_more: true });
    expect((await send("GET", `${path}?limit=0`)).body).toEqual({
      message: "limit must be > 0",
      code: "INVALID_INPUT",
    });
    const wrong = await send("POST", path, { body: { title: "a", source: { kind: "card", last4: "42" } } });
    expect([wrong.status, wrong.body.message]).toEqual([422, 'source.last4 must match pattern "^\\d{4}$"']);
  }
  await understudy.close();
});

it("a document given as an object may be as large and as deep as a file of it [interfaces 18]", async () => {
  let example: object = Array.from({ length: 210_000 }, () => 0);
  for (let depth = 0; depth < 100; depth++) example = { inner: example };
  const answer = { description: "Tags", content: { "application/json": { example } } };
  const get = { operationId: "listTags", responses: { "200": answer } };
  const openapi = { openapi: "3.1.0", info: { title: "Tags", version: "1" }, paths: { "/v1/tags": { get } } };
  const sandbox = await createSandbox({ openapi: [openapi] });
  expect((await sandbox.fetch("/v1/tags")).status).toBe(200);
  await sandbox.close();
});

it("a server without documents loads none of their code [quality 1]", () => {
  const loaded = listStaticImports("dist/understudy.js");
  expect(loaded.size).toBeGreaterThan(1);
  const packages = [...loaded.values()].flat();
  expect(packages).toContain("node:crypto");
  for (const name of ["js-yaml", "json-schema-faker"]) expect(packages).not.toContain(name);
  expect(
    [...loaded.keys()].filter((file) =>
      readFileSync(file, "utf8").includes("this is not an OpenAPI document"),
    ),
  ).toEqual([]);
});

/** The chunks that `start` imports statically, each with the packages that it imports. */
function listStaticImports(start: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const open = [start];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue;
    const imports = [
      ...readFileSync(file, "utf8").matchAll(/(?:^|[;\n}])\s*(?:import|export)\b[^;"'()]*?["']([^"']+)["']/g),
    ].map(([, name]) => name!);
    found.set(
      file,
      imports.filter((name) => !name.startsWith(".")),
    );
    for (const name of imports) if (name.startsWith(".")) open.push(join(dirname(file), name));
  }
  return found;
}
