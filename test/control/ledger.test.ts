import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readsOnly } from "../../src/contract/operation.ts";
import { CONTROL_OPERATIONS } from "../../src/control/operations/index.ts";
import { API } from "../../src/resources/index.ts";
import type { Sandbox, SandboxValue } from "../../src/sandbox/sandbox.ts";
import { TIMER_KINDS } from "../../src/state/timers.ts";
import { encodeWorld, type TableDocument } from "../../src/state/world-document.ts";
import { type Api, startReference } from "../support/harness.ts";
import { FreshWorld } from "../support/openapi/fresh-world.ts";
import { RECIPES } from "../support/openapi/recipes.ts";

/**
 * After each answer the folder is copied as it lies there, which is what kill -9 would leave; a server that
 * starts from the copy has to show all that the first one shows.
 */
const SERVER = { durable: true };
const NOBODY = "http://127.0.0.1:9/hook";

let folder: string;
let api: Api;
let world: FreshWorld;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "understudy-ledger-"));
  api = await startReference({ persist: { folder: join(folder, "live"), ...SERVER } });
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

/** Everything of every sandbox: what clients see, and what they would come to see. */
async function everythingOf({ understudy, call }: Api): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const sandbox of understudy.sandboxes.all()) {
    all[sandbox.name] = "there";
    // No step is about this one.
    if (sandbox.name === "default") continue;
    await sandbox.world.settled();
    const s = `/_control/sandboxes/${sandbox.name}`;
    const calls = ["", "/clock", "/clock/pending", "/faults", "/snapshots", "/outbox", "/receivers"];
    const shown = [];
    for (const path of calls) shown.push((await call(undefined, "GET", s + path)).body);
    const values = [sandbox.value(), ...sandbox.snapshots.values()].map((value) => written(sandbox, value));
    all[sandbox.name] = scrubbed({ shown, values: await Promise.all(values) });
  }
  return all;
}

/** With its records as what became of the fixture's: all of them would be megabytes. */
async function written({ source, seed, blobs }: Sandbox, { world, windows, blobs: held }: SandboxValue) {
  const { tables, ...facts } = encodeWorld(world, { base: source.root(seed) });
  const changed = Object.entries(tables).filter(([, table]) => !isEmpty(table));
  return [facts, Object.fromEntries(changed), windows, await blobs.encode(held)];
}

const isEmpty = (table: TableDocument) =>
  "put" in table && table.put.length === 0 && table.removed.length === 0;

/** What depends on the wall clock and the port. */
function scrubbed(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, one) =>
      key === "duration_ms" || key === "error" || key === "base_url"
        ? "-"
        : typeof one === "string"
          ? one.replaceAll(/127\.0\.0\.1:\d+/g, "HOST")
          : one,
    ),
  );
}

async function expectKept(): Promise<void> {
  const killed = join(folder, "killed");
  rmSync(killed, { recursive: true, force: true });
  cpSync(join(folder, "live"), killed, { recursive: true });
  const again = await startReference({ persist: { folder: killed, ...SERVER } });
  try {
    const [before, after] = [await everythingOf(api), await everythingOf(again)];
    expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort());
    expect(after).toEqual(before);
  } finally {
    await again.close();
  }
}

describe("interfaces 2 --durable, the ledger: what was answered is kept", () => {
  it.each(API.operations.filter((operation) => !readsOnly(operation)).map(({ id }) => id))(
    "interfaces 2 keeps what %s did, and that it was counted",
    async (id) => {
      const { path, method } = API.operations.find((operation) => operation.id === id)!;
      world = await FreshWorld.create(api);
      const [recipe] = RECIPES[id]!;
      const sent = await recipe!.request(world);
      expect((await world.call(path, method, sent)).status).toBe(recipe!.status);
      await expectKept();
    },
  );

  it("interfaces 2 keeps that a request was read, refused and counted, and how far a rule has come", async () => {
    world = await FreshWorld.create(api);
    await world.control("POST", "/faults", { match: { operation: "threads.delete" }, sequence: [503, 429] });
    const at = { who: "dan", params: { thread_id: "thread_long" } } as const;
    expect((await world.call("/v1/threads/{thread_id}", "DELETE", at)).status).toBe(503);
    await expectKept();
    expect((await world.call("/v1/models", "GET", { who: "dan" })).status).toBe(200);
    expect((await world.call("/v1/threads/{thread_id}", "DELETE", { who: "dan" })).status).toBe(429);
    await expectKept();
  });

  const department = { organization_id: "org_acme", name: "Kept", id: "dept_kept", parent_id: null };
  const rule = {
    id: "rule",
    match: { operation: "threads.delete" },
    times: 2,
    effect: { error: "RATE_LIMIT_EXCEEDED" },
  };
  const newestEntry = async () => (await world.control("GET", "/history?limit=1")).body.entries[0].id;
  const create = (path: string, body: object) => world.control("POST", path, body);
  const STEPS: Record<string, () => Promise<unknown>> = {
    "sandboxes.create": () =>
      api.call(undefined, "POST", "/_control/sandboxes", {
        name: "made",
        seed: 9,
        clock: { mode: "frozen" },
      }),
    "sandboxes.update": () => world.control("PATCH", "", { settings: { processing_seconds: 7 } }),
    "sandboxes.delete": () => api.call(undefined, "DELETE", `/_control/sandboxes/${world.name}`),
    "sandboxes.reset": async () => {
      await create("/state/departments", department);
      await world.control("POST", "/reset", { seed: 12 });
    },
    "sandboxes.fork": async () => {
      await create("/state/departments", department);
      await create("/fork", { name: "forked" });
    },
    "snapshots.save": () =>
      create("/snapshots", { name: "b" }).then(() => create("/snapshots", { name: "a" })),
    "snapshots.restore": async () => {
      await create("/snapshots", { name: "before" });
      await create("/state/departments", department);
      await world.control("POST", "/snapshots/before/restore");
    },
    "snapshots.upload": async () => {
      await create("/snapshots", { name: "one" });
      const { body } = await world.control("GET", "/snapshots/one");
      await world.control("PUT", "/snapshots/two", body);
    },
    "snapshots.delete": () =>
      create("/snapshots", { name: "gone" }).then(() => world.control("DELETE", "/snapshots/gone")),
    "clock.set": () => world.control("PUT", "/clock", { mode: "frozen", now: "2027-01-01T00:00:00Z" }),
    "clock.advance": () => create("/clock/advance", { by: "3h" }),
    "state.create": () => create("/state/departments", department),
    "state.update": () => world.control("PATCH", "/state/departments/dept_ops", { name: "Renamed" }),
    "state.delete": () => world.control("DELETE", "/state/departments/dept_ml"),
    "scenarios.activate": () => world.control("PUT", "/scenarios/active", { names: ["slow-network"] }),
    "faults.add": () => create("/faults", { ...rule, lease: { ttl: "10m" } }),
    "faults.remove": () => create("/faults", rule).then(() => world.control("DELETE", "/faults/rule")),
    "faults.clear": () => create("/faults", rule).then(() => world.control("DELETE", "/faults")),
    "history.rewind": async () => {
      await create("/state/departments", department);
      await create("/state/departments", { ...department, id: "dept_undone" });
      await create(`/history/${await newestEntry()}/rewind`, {});
    },
    "history.fork": async () => {
      await create("/state/departments", department);
      await create(`/history/${await newestEntry()}/fork`, { name: "branch" });
    },
    "history.repeat": async () => {
      const path = "/v1/organizations/{organization_id}/departments/{department_id}/reparent";
      const [recipe] = RECIPES["departments.reparent"]!;
      await world.call(path, "POST", await recipe!.request(world));
      await create(`/history/${await newestEntry()}/repeat`, {});
    },
    "events.trigger": async () => {
      await create("/state/webhooks", { organization_id: "org_acme", url: NOBODY, events: ["user.created"] });
      await create("/events", { event: "user.created", for: "usr_dan" });
    },
    "deliveries.redeliver": () => create("/deliveries/redeliver", { ids: ["del_failed"] }),
    // Neither journal nor coverage is kept, whoever clears or reports them.
    "journal.clear": () => world.control("DELETE", "/journal"),
    "coverage.clear": () => world.control("DELETE", "/coverage"),
    "coverage.report": async () => {
      const { body } = await world.control("GET", "/coverage");
      await api.call(undefined, "POST", "/_control/coverage", body);
    },
    "receivers.create": () => create("/receivers", { answers: [500, 200] }),
    "receivers.update": async () => {
      const { body } = await create("/receivers", {});
      await world.control("PATCH", `/receivers/${body.id}`, { answers: [410] });
    },
    "receivers.delete": async () => {
      const { body } = await create("/receivers", {});
      await world.control("DELETE", `/receivers/${body.id}`);
    },
  };

  it.each(CONTROL_OPERATIONS.filter((operation) => !readsOnly(operation)).map(({ id }) => id))(
    "interfaces 2 keeps what %s did",
    async (id) => {
      world = await FreshWorld.create(api);
      const before = JSON.stringify(await everythingOf(api));
      await STEPS[id]!();
      await expectKept();
      // A step that changes nothing would prove nothing.
      const isRound = /(delete|remove|clear|restore|report)$/.test(id) && !/^(state|sandboxes)/.test(id);
      if (!isRound) expect(JSON.stringify(await everythingOf(api))).not.toBe(before);
    },
  );

  it("interfaces 2 keeps what every kind of timer did, and what is still to come", async () => {
    world = await FreshWorld.create(api);
    await world.control("PATCH", "", { settings: { live_meetings: "on", invoicing: "on" } });
    await create("/state/webhooks", { organization_id: "org_acme", url: NOBODY, events: ["user.created"] });
    await create("/events", { event: "user.created", for: "usr_dan" });
    await create("/faults", { ...rule, lease: { ttl: "2m" } });
    const params = { organization_id: "org_acme" };
    const started = { who: "dan", params, body: { connection_id: "conn_wiki", job_type: "sync" } } as const;
    await world.call("/v1/organizations/{organization_id}/knowledge/connectors/jobs", "POST", started);
    const attached = {
      who: "dan",
      params: { ...params, store_id: "store_handbook" },
      body: { file_id: "file_raw" },
    } as const;
    const attach = RECIPES["store_files.attach"]![0]!;
    await world.call("/v1/organizations/{organization_id}/stores/{store_id}/files", "POST", {
      ...attached,
      ...(await attach.request(world)),
    });
    await world.upload(5);
    const kinds = new Set<string>();
    for (const by of ["1m", "5m", "8d", "23d"]) {
      const { body } = await create("/clock/advance", { by });
      for (const { kind } of body.ran) kinds.add(kind);
      await expectKept();
    }
    expect([...kinds].sort()).toEqual([...TIMER_KINDS].sort());
  });
});
