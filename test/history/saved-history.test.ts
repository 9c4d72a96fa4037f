import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HistoryPage } from "../../types/control-api.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";
import { createHistoryClient } from "../support/history-setup.ts";
import { removeTempFolders, startServer } from "../support/run-understudy.ts";
import { announce } from "../support/upload-setup.ts";

const STORES = "/v1/organizations/org_acme/stores/vs_empty/files";
let folder: string;
const open: Api[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "understudy-history-"));
});
afterEach(async () => {
  for (const api of open.splice(0)) await api.close();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(removeTempFolders);

async function start(persist: NonNullable<Parameters<typeof startReference>[0]>["persist"]): Promise<Api> {
  const api = await startReference({ persist });
  open.push(api);
  return api;
}

async function restart(api: Api, persist: Parameters<typeof start>[0]): Promise<Api> {
  open.splice(open.indexOf(api), 1);
  await api.close();
  return start(persist);
}

describe("a saved history [interfaces 10]", () => {
  it("shows after a restart which attempt was accepted, while the journal is empty [interfaces 10]", async () => {
    const first = await start({ folder });
    const before = createHistoryClient(first);
    const { url } = await before.ok("POST", "/receivers", { answers: [500, 204] });
    await first.call("ada", "POST", "/webhooks", { url, events: ["thread.deleted"] });
    await first.call("ada", "DELETE", "/v1/threads/thread_ada");
    await first.understudy.sandboxes.get("default")!.world.whenSettled();
    await before.ok("POST", "/clock/advance", { by: "1m" });
    const listTaken = async (of: typeof before) =>
      (await of.entries("?kind=delivery")).map(({ delivered }) => delivered);
    expect(await listTaken(before)).toEqual([false, true]);
    const second = await restart(first, { folder });
    const after = createHistoryClient(second);
    expect(await listTaken(after)).toEqual([false, true]);
    // This request comes after the entries that are compared.
    await second.call("dan", "GET", "/v1/models");
    const [request] = (await after.ok("GET", "/journal")).entries;
    const positions = (await after.entries()).map(({ journal_position }) => journal_position);
    expect(Math.max(...positions)).toBeLessThan(request.sequence);
  });

  it.each(["folder", "document"])(
    "has its ids and causes after a restart, but no states (%s) [interfaces 10]",
    async (kind) => {
      const persist = kind === "folder" ? { folder } : { file: join(folder, "world.json") };
      const first = await start(persist);
      await first.call("dan", "POST", STORES, { file_id: "file_loose" });
      await first.call("ada", "DELETE", "/v1/threads/thread_ada");
      const before = createHistoryClient(first);
      const [attach, deleted] = await before.entries();
      await before.rewind(deleted!.id);
      const list = await before.list();
      expect(list.entries.map(({ undone }) => undone)).toEqual([false, true, false]);

      const second = await restart(first, persist);
      const after = createHistoryClient(second);
      expect(await after.list()).toEqual({
        ...list,
        entries: list.entries.map((entry) => ({ ...entry, kept: false, journal_position: 0 })),
      });
      const refused = await after.control("POST", `/history/${attach!.id}/rewind`);
      expect(refused.body.type).toBe("urn:understudy:problem:state-evicted");
      // A timer that was set before the restart still has its cause.
      await after.ok("POST", "/clock/advance", { by: "2m" });
      const steps = (await after.entries("?kind=timer")).filter(({ subject }) => subject === "file_loose");
      expect(steps.length).toBeGreaterThan(1);
      for (const { cause } of steps) expect(cause).toBe(attach!.id);
      const ids = (await after.entries()).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      // New entries can be rewound to.
      await after.rewind(steps[0]!.id);
      expect((await after.ok("GET", "/clock")).now).not.toBe("2026-03-15T12:02:00.000Z");
    },
  );

  it("says after a restart that a change was answered by a refusal [interfaces 10]", async () => {
    const persist = { folder, durable: true };
    const first = await start(persist);
    const { upload_url } = await announce(first);
    expect((await fetch(upload_url, { method: "DELETE" })).status).toBe(499);
    const second = await restart(first, persist);
    const { title } = await createHistoryClient(second).newest();
    expect(title).toMatch(/; it was done, but answered 499/);
  });

  it("loses entries that the bound has dropped, as after a reset [interfaces 10]", async () => {
    const persist = { folder };
    const first = await start(persist);
    const before = createHistoryClient(first);
    await before.ok("PATCH", "", { settings: { history_limit: 3 } });
    for (const title of ["a", "b", "c", "d"])
      await before.ok("PATCH", "/state/threads/thread_ada", { title });
    const second = await restart(first, persist);
    const saved = await createHistoryClient(second).list();
    expect([saved.total, saved.dropped]).toEqual([3, 2]);
    await createHistoryClient(second).ok("POST", "/reset");
    const third = await restart(second, persist);
    expect(await createHistoryClient(third).list()).toEqual({ entries: [], total: 0, dropped: 0 });
    await createHistoryClient(third).ok("PATCH", "/state/threads/thread_ada", { title: "e" });
    expect(saved.entries.map(({ id }) => id)).not.toContain((await createHistoryClient(third).newest()).id);
  });

  it.each([
    [{ status: 503 }, "answered 503"],
    [{ wire: "reset" }, "answered by a broken connection"],
  ])(
    "still says after a restart what a change was answered with: %j [interfaces 6, 10]",
    async (effect, answered) => {
      const persist = { folder, durable: true };
      const first = await start(persist);
      const match = { operation: "threads.delete" };
      await createHistoryClient(first).ok("POST", "/faults", { match, phase: "after", effect });
      await first.call("ada", "DELETE", "/v1/threads/thread_ada").catch(() => {});
      const { title } = await createHistoryClient(first).newest("?kind=request");
      expect(title).toContain(`; it was done, but ${answered}`);
      const second = await restart(first, persist);
      expect(await createHistoryClient(second).newest("?kind=request")).toMatchObject({ title });
    },
  );

  it("has acknowledged entries after kill -9 [interfaces 10]", async () => {
    const args = ["--persist", folder, "--durable", "--quiet", "--no-watch", "--clock", "frozen"];
    const killed = await startServer(args);
    const listEntries = async (url: string) =>
      (await (await fetch(`${url}/_control/sandboxes/default/history`)).json()) as HistoryPage;
    const answer = await fetch(`${killed.ready.url}/v1/threads/thread_ada`, {
      method: "DELETE",
      headers: { "api-key": KEYS.ada },
    });
    expect(answer.status).toBe(200);
    const before = await listEntries(killed.ready.url);
    await killed.stop("SIGKILL");
    const again = await startServer(args);
    const after = await listEntries(again.ready.url);
    await again.stop("SIGKILL");
    expect(after.total).toBe(1);
    expect(after.entries[0]).toEqual({ ...before.entries[0], kept: false });
  });
});
