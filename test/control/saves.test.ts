import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { isReadOnly } from "../../src/engine/contract/operation.ts";
import { API } from "../../src/engine/resources/index.ts";
import { TIMER_KINDS } from "../../src/engine/state/clock.ts";
import { timers } from "../../src/engine/state/timers.ts";
import type { World } from "../../src/engine/state/world.ts";
import { SqliteStore } from "../../src/persistence/sqlite-store.ts";
import { type Api, startReference } from "../support/harness.ts";
import { FreshWorld, type Sent } from "../support/openapi/fresh-world.ts";
import { RECIPES } from "../support/openapi/recipes.ts";
import { controlSteps, SAVED_CALLS } from "../support/saves/control-steps.ts";
import { expectSaved } from "../support/saves/read-everything.ts";
import { ADVANCES, advance, setTimers } from "../support/saves/timer-steps.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/*
 * Without --durable, no request waits for a save: the server must detect all changes itself. Each operation has its
 * own sandbox and is the last change in it, so that an undetected change stays unsaved.
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

afterEach(async () => {
  for (const { name } of [...api.understudy.sandboxes.all()]) {
    if (name !== "default") await api.call(undefined, "DELETE", `/_control/sandboxes/${name}`);
  }
});

/** Retries, since a copy may be made while the server is saving. */
const expectEventuallySaved = () =>
  vi.waitFor(() => expectSaved(api, folder, false), { timeout: 120_000, interval: 600 });

describe("--persist, without a request that waits,", () => {
  it("stores what every emulated operation does [interfaces 2]", async () => {
    const prepared: { id: string; world: FreshWorld; sent: Sent; status: number }[] = [];
    for (const { id } of API.operations.filter((operation) => !isReadOnly(operation))) {
      const world = await FreshWorld.create(api);
      const [recipe] = RECIPES[id]!;
      prepared.push({ id, world, sent: await recipe!.request(world), status: recipe!.status });
    }
    await expectEventuallySaved();
    for (const { id, world, sent, status } of prepared) {
      const { path, method } = API.operations.find((operation) => operation.id === id)!;
      expect([id, (await world.call(path, method, sent)).status]).toEqual([id, status]);
    }
    await expectEventuallySaved();
  });

  it("stores what every control call does [interfaces 2]", async () => {
    const worlds: [string, FreshWorld][] = [];
    for (const { id } of SAVED_CALLS) worlds.push([id, await FreshWorld.create(api)]);
    await expectEventuallySaved();
    for (const [id, world] of worlds) await controlSteps(api, world)[id]!();
    await expectEventuallySaved();
  });

  it("stores what every timer does, and the pending ones [interfaces 2]", async () => {
    // One sandbox for each advance, which is the last one in it.
    const worlds: FreshWorld[] = [];
    for (const i of ADVANCES.keys()) {
      const world = await FreshWorld.create(api);
      await setTimers(world);
      for (const by of ADVANCES.slice(0, i)) await advance(world, by);
      worlds.push(world);
    }
    await expectEventuallySaved();
    const kinds = new Set<string>();
    for (const [i, by] of ADVANCES.entries())
      for (const kind of await advance(worlds[i]!, by)) kinds.add(kind);
    await expectEventuallySaved();
    expect([...kinds].sort()).toEqual([...TIMER_KINDS].sort());
  });

  it("stores a timer's changes [interfaces 2]", { timeout: 120_000 }, async () => {
    const fresh = await FreshWorld.create(api);
    await setTimers(fresh);
    const { world } = api.understudy.sandboxes.get(fresh.name)!;
    // The fixture's timers are not in the saved rows until they have run.
    await expect.poll(() => listSavedTimers(fresh.name), POLL_OPTIONS).not.toEqual([]);
    const set = await listSavedTimers(fresh.name);
    expect(listTimerIds(world)).toEqual(expect.arrayContaining(set));
    // From here on, only the sandbox's own timer runs. A server that started from a copy would run overdue timers
    // itself.
    // More than a day a second: the timers that were saved first may be due weeks later.
    await fresh.control("PUT", "/clock", { mode: "scaled", rate: 100_000 });
    const listRun = () => set.filter((id) => !listTimerIds(world).includes(id));
    await expect.poll(() => listRun().length, POLL_OPTIONS).toBeGreaterThan(0);
    const ranTimers = listRun();
    const listRanTimersLeft = async () =>
      (await listSavedTimers(fresh.name)).filter((id) => ranTimers.includes(id));
    await expect.poll(listRanTimersLeft, POLL_OPTIONS).toEqual([]);
  });
});

const POLL_OPTIONS = { interval: 400, timeout: 60_000 };
const listTimerIds = (world: World) => [...world.read().all(timers)].map(({ id }) => id);

/** Lists the timers of a sandbox that kill -9 would leave. */
async function listSavedTimers(sandbox: string): Promise<string[]> {
  const killed = join(folder, "read");
  rmSync(killed, { recursive: true, force: true });
  cpSync(join(folder, "live"), killed, { recursive: true });
  const store = await SqliteStore.open(killed, () => {});
  const rows = await store.load(sandbox);
  await store.close();
  return rows.filter(({ section }) => section === "records/_timers").map(({ id }) => id);
}
