import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readsOnly } from "../../src/contract/operation.ts";
import { CONTROL_OPERATIONS } from "../../src/control/operations/index.ts";
import { API } from "../../src/resources/index.ts";
import { type Api, startReference } from "../support/harness.ts";
import { controlSteps } from "../support/ledger/control-steps.ts";
import { expectKept } from "../support/ledger/everything.ts";
import { FreshWorld, type Sent } from "../support/openapi/fresh-world.ts";
import { RECIPES } from "../support/openapi/recipes.ts";

/*
 * Without --durable nobody waits for a save: what changed is found by looking. Each operation has a sandbox in which
 * nothing else happens after it, so that one that goes unnoticed stays unsaved.
 */
let folder: string;
let api: Api;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "understudy-plain-"));
  api = await startReference({ persist: { folder: join(folder, "live") } });
});
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A copy may be of a moment in which something was being saved. */
const kept = () => vi.waitFor(() => expectKept(api, folder, false), { timeout: 120_000, interval: 600 });

describe("interfaces 2 --persist, the ledger: what has changed is found and saved", () => {
  it("interfaces 2 whatever an emulated operation does is kept", async () => {
    const prepared: { id: string; world: FreshWorld; sent: Sent; status: number }[] = [];
    for (const { id } of API.operations.filter((operation) => !readsOnly(operation))) {
      const world = await FreshWorld.create(api);
      const [recipe] = RECIPES[id]!;
      prepared.push({ id, world, sent: await recipe!.request(world), status: recipe!.status });
    }
    await kept();
    for (const { id, world, sent, status } of prepared) {
      const { path, method } = API.operations.find((operation) => operation.id === id)!;
      expect([id, (await world.call(path, method, sent)).status]).toEqual([id, status]);
    }
    await kept();
  });

  it("interfaces 2 whatever a control call does is kept", async () => {
    const worlds: [string, FreshWorld][] = [];
    for (const { id } of CONTROL_OPERATIONS.filter((operation) => !readsOnly(operation)))
      worlds.push([id, await FreshWorld.create(api)]);
    await kept();
    for (const [id, world] of worlds) await controlSteps(api, world)[id]!();
    await kept();
  });
});
