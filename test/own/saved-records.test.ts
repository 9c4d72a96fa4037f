import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type CreateOptions, createUnderstudy } from "../../src/client/index.ts";
import { defineCollection, defineOperation, string } from "../../src/client/operations.ts";
import * as operations from "./notes.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "understudy-own-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const fixture = { extends: "reference", notes: [{ id: "note_first", text: "First" }] } as object;

it.each<[string, (folder: string) => NonNullable<CreateOptions["persist"]>]>([
  ["in a folder", (place) => ({ folder: place })],
  ["in a document", (place) => ({ file: join(place, "worlds.json") })],
])(
  "own records are saved %s, and refused with a message without their declarations [interfaces 18]",
  async (_name, place) => {
    const persist = place(folder);
    const begin = (more: CreateOptions) => createUnderstudy({ persist, seed: 7, ...more });
    const list = async (understudy: Awaited<ReturnType<typeof begin>>, name: string) => {
      const answer = await fetch(`${understudy.url}/_control/sandboxes/${name}/state/notes`);
      return ((await answer.json()) as { items: { text: string }[] }).items.map(({ text }) => text).sort();
    };
    const first = await begin({ operations });
    const mine = await first.sandbox({ name: "mine", fixture });
    const answer = await fetch(`${mine.url}/v1/notes`, {
      method: "POST",
      headers: { "api-key": mine.credentials.usr_ada, "content-type": "application/json" },
      body: JSON.stringify({ text: "Second" }),
    });
    expect(answer.status).toBe(201);
    await mine.faults.add({
      match: { operation: "notes.list" as never },
      effect: { error: "RATE_LIMIT_EXCEEDED" },
      times: 1,
    });
    await first.close();

    await expect(begin({})).rejects.toThrow(
      /Sandbox mine was saved with operations of operations, which this server lacks: .*\. Start it with these files again; nothing was changed\./,
    );
    const again = await begin({ operations });
    expect(await list(again, "mine")).toEqual(["First", "Second"]);
    expect((await fetch(`${again.url}/_s/mine/v1/notes`)).status).toBe(429);
    await again.close();
  },
);

it("a world whose records are no longer valid after an edit of a declaration is loaded with a warning [interfaces 18]", async () => {
  const persist = { file: join(folder, "edited.json") };
  const declare = (fields: object) => ({
    tags: defineCollection({ name: "tags", fields: fields as { text: ReturnType<typeof string> } }),
    ping: defineOperation({ id: "ping", method: "GET", path: "/v1/ping", handle: () => ({ ok: true }) }),
  });
  const first = await createUnderstudy({ persist, operations: declare({ text: string() }) });
  const before = await first.open("default");
  await before.state("tags" as "threads").create({ id: "tag_a", text: "kept" } as never);
  await before.state("threads").create({ id: "thread_mine", title: "Mine" });
  await first.close();
  const again = await createUnderstudy({ persist, operations: declare({ text: string(), due: string() }) });
  const after = await again.open("default");
  expect(await after.state("tags" as "threads").get("tag_a")).toEqual({ id: "tag_a", text: "kept" });
  expect(await after.state("threads").get("thread_mine")).toMatchObject({ title: "Mine" });
  await again.close();
});

it("a world without own records is served without the declarations [interfaces 18]", async () => {
  const persist = { file: join(folder, "worlds.json") };
  await (await createUnderstudy({ persist, operations })).close();
  expect(readFileSync(persist.file, "utf8")).toContain('"operations"');
  const plain = await createUnderstudy({ persist });
  expect((await fetch(`${plain.url}/v1/notes`)).status).toBe(404);
  await plain.close();
});
