import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { isReadOnly } from "../../src/engine/contract/operation.ts";
import { API } from "../../src/engine/resources/index.ts";
import { TIMER_KINDS } from "../../src/engine/state/clock.ts";
import { type Api, startReference } from "../support/harness.ts";
import { FreshWorld } from "../support/openapi/fresh-world.ts";
import { RECIPES } from "../support/openapi/recipes.ts";
import { controlSteps, SAVED_CALLS } from "../support/saves/control-steps.ts";
import { expectSaved, readEverything } from "../support/saves/read-everything.ts";
import { ADVANCES, advance, setTimers } from "../support/saves/timer-steps.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;
let api: Api;
let world: FreshWorld;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "understudy-ledger-"));
  api = await startReference({ persist: { folder: join(folder, "live"), durable: true } });
});
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(async () => {
  for (const { name } of [...api.understudy.sandboxes.all()]) {
    if (name !== "default") await api.call(undefined, "DELETE", `/_control/sandboxes/${name}`);
  }
});

describe("--durable, once a request was answered", () => {
  it.each(API.operations.filter((operation) => !isReadOnly(operation)).map(({ id }) => id))(
    "stores what %s did, and that it was counted [interfaces 2]",
    async (id) => {
      const { path, method } = API.operations.find((operation) => operation.id === id)!;
      world = await FreshWorld.create(api);
      const [recipe] = RECIPES[id]!;
      const sent = await recipe!.request(world);
      expect((await world.call(path, method, sent)).status).toBe(recipe!.status);
      await expectSaved(api, folder, true);
    },
  );

  it("stores that a request was read, refused and counted, and how far a rule has come [interfaces 2]", async () => {
    world = await FreshWorld.create(api);
    await world.control("POST", "/faults", { match: { operation: "threads.delete" }, sequence: [503, 429] });
    const at = { who: "dan", params: { thread_id: "thread_long" } } as const;
    expect((await world.call("/v1/threads/{thread_id}", "DELETE", at)).status).toBe(503);
    await expectSaved(api, folder, true);
    expect((await world.call("/v1/models", "GET", { who: "dan" })).status).toBe(200);
    expect((await world.call("/v1/threads/{thread_id}", "DELETE", { who: "dan" })).status).toBe(429);
    await expectSaved(api, folder, true);
  });

  it.each(SAVED_CALLS.map(({ id }) => id))("stores what %s did [interfaces 2]", async (id) => {
    world = await FreshWorld.create(api);
    const before = JSON.stringify(await readEverything(api));
    await controlSteps(api, world)[id]!();
    await expectSaved(api, folder, true);
    // A call that changes nothing would make the test meaningless.
    const isRound = /(delete|remove|clear|restore|report)$/.test(id) && !/^(state|sandboxes)/.test(id);
    if (!isRound) expect(JSON.stringify(await readEverything(api))).not.toBe(before);
  });

  it("stores what every kind of timer did, and the pending ones [interfaces 2]", async () => {
    world = await FreshWorld.create(api);
    await setTimers(world);
    const kinds = new Set<string>();
    for (const by of ADVANCES) {
      for (const kind of await advance(world, by)) kinds.add(kind);
      await expectSaved(api, folder, true);
    }
    expect([...kinds].sort()).toEqual([...TIMER_KINDS].sort());
  });
});
