import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CONTROL_OPERATIONS } from "../../src/control/operations/index.ts";
import { isReadOnly } from "../../src/engine/contract/operation.ts";
import { type Api, startReference } from "../support/harness.ts";
import { createHistoryClient } from "../support/history-setup.ts";

let api: Api;
let history: ReturnType<typeof createHistoryClient>;
beforeEach(async () => {
  api = await startReference();
  history = createHistoryClient(api);
});
afterEach(() => api.close());

/** Calls without an entry: they change no existing world, end the history, or send a request that has its own entry. */
const WITHOUT_ENTRY = new Set([
  "coverage.clear",
  "journal.clear",
  "sandboxes.create",
  "sandboxes.delete",
  "sandboxes.fork",
  "sandboxes.reset",
  "snapshots.save",
  "snapshots.upload",
  "snapshots.delete",
  "history.fork",
  "history.repeat",
  // The advance and the held request have their own entries.
  "clock.stop",
  "held.release",
]);

describe("the history [interfaces 10]", () => {
  it("has an entry for every control call that changes a world [interfaces 10]", () => {
    const silent = CONTROL_OPERATIONS.filter((one) => !isReadOnly(one) && one.describeChange === undefined)
      .filter(({ path }) => path.startsWith("/_control/sandboxes"))
      .map(({ id }) => id)
      .filter((id) => !WITHOUT_ENTRY.has(id));
    expect(silent).toEqual([]);
  });

  it("has no entry for a reading call of the emulated API [interfaces 10]", async () => {
    for (const path of [
      "/v1/models",
      "/v2/models",
      "/v1/organizations/org_acme/audit-logs/export",
      "/webhooks",
      "/v1/organizations/org_acme/stores/vs_handbook/files/file_policies/status",
    ])
      await api.call("ada", "GET", path);
    expect((await history.list()).total).toBe(0);
  });

  it("releases the oldest states over 32 MB in total, and keeps their entries [interfaces 10]", async () => {
    await api.close();
    const departments = Array.from({ length: 4000 }, (_, index) => ({
      id: `dept_below_${index}`,
      name: `Below ${index}`,
      parent_id: "dept_ml",
      organization_id: "org_acme",
    }));
    api = await startReference({ fixture: { extends: "reference", departments } as object });
    history = createHistoryClient(api);
    const path = "/v1/organizations/org_acme/departments/dept_ml/reparent";
    for (let index = 0; index < 20; index++) {
      const new_parent_id = index % 2 === 0 ? "dept_ops" : "dept_eng";
      expect((await api.call("ada", "POST", path, { new_parent_id })).status).toBe(200);
    }
    const entries = await history.entries();
    expect(entries).toHaveLength(20);
    const kept = entries.filter((entry) => entry.kept);
    expect(kept.length).toBeGreaterThan(5);
    expect(kept).toEqual(entries.slice(-kept.length));
    expect(kept.length).toBeLessThan(20);
    for (const { changes } of entries)
      expect(changes["departments"]).toEqual({ added: 0, removed: 0, changed: 4001 });
    await history.rewind(kept[0]!.id);
  });
});
