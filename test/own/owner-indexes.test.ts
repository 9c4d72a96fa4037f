import { expect, it } from "vitest";
import { createSandbox } from "../../src/client/engine.ts";
import { defineCollection, defineOperation, id } from "../../src/client/operations.ts";
import { readSentDocument } from "../../src/documents/openapi/read-sent-document.ts";
import { createJoinedApi, readDeclarations } from "../../src/engine/own/join.ts";

const boxes = defineCollection({
  ...{ name: "boxes", prefix: "box_" },
  fields: { id: id("box_"), thread_id: id("thread_", { belongsTo: "threads" }) },
});
const DOCUMENT = {
  ...{ openapi: "3.1.0", info: { title: "Tags", version: "1" }, paths: {} },
  components: {
    schemas: {
      Tag: { type: "object", properties: { id: { type: "string" }, thread_id: { type: "string" } } },
    },
  },
  "x-understudy": {
    collections: {
      tags: { schema: "#/components/schemas/Tag", prefix: "tag_", belongs_to: { thread_id: "threads" } },
    },
  },
};

it.each([
  ["boxes", await readDeclarations({ boxes }, { source: "operations" })],
  ["tags", readSentDocument({ openapi: DOCUMENT })],
])(
  "the %s of a thread are found without a scan, by `where` and for their deletion [quality 1]",
  (name, source) => {
    const collection = createJoinedApi([source]).api.collections.find((one) => one.name === name)!;
    expect(Object.values(collection.indexes).map(({ field }) => field)).toContain("thread_id");
  },
);

it("the records of an owner are listed by id, and deleted with it [interfaces 18]", async () => {
  const declared = { path: "/v1/boxes", access: "public", uses: { boxes } } as const;
  const list = defineOperation({
    ...{ ...declared, id: "boxes.list", method: "GET" },
    handle: ({ world }) => [...world.boxes.where({ thread_id: "thread_long" })].map((box) => box.id),
  });
  const clear = defineOperation({
    ...{ ...declared, id: "boxes.clear", method: "DELETE" },
    handle: ({ world }) => world.threads.remove("thread_long"),
  });
  const ids = ["box_c", "box_a", "box_b"].map((one) => ({ id: one, thread_id: "thread_long" }));
  const fixture = { extends: "reference", boxes: [...ids, { id: "box_other", thread_id: "thread_ada" }] };
  const sandbox = await createSandbox({ operations: { boxes, list, clear }, fixture });
  const read = async () => (await sandbox.fetch("/v1/boxes")).json();
  expect(await read()).toEqual(["box_a", "box_b", "box_c"]);
  await sandbox.fetch("/v1/boxes", { method: "DELETE" });
  expect(await read()).toEqual([]);
  expect((await sandbox.state(boxes).list()).total).toBe(1);
  await sandbox.close();
});
