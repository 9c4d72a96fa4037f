import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { waitUntilPasses } from "../support/eventually.ts";
import { type Api, startReference } from "../support/harness.ts";
import { createHistoryClient } from "../support/history-setup.ts";
import { announce, chunk, probe, put, sendAndDisconnect } from "../support/upload-setup.ts";

const ORGANIZATION = "/v1/organizations/org_acme";
let api: Api;
let history: ReturnType<typeof createHistoryClient>;
beforeEach(async () => {
  api = await startReference();
  history = createHistoryClient(api);
});
afterEach(() => api.close());

const move = (parent: string) =>
  api.call("ada", "POST", `${ORGANIZATION}/departments/dept_ml/reparent`, { new_parent_id: parent });

describe("a rewind [interfaces 10]", () => {
  it("restores clock, timers, windows and random state, and keeps settings, rules and journal [interfaces 10]", async () => {
    const before = {
      clock: await history.ok("GET", "/clock"),
      pending: await history.ok("GET", "/clock/pending"),
    };
    const first = await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const { id } = await history.newest();
    await history.ok("PATCH", "", { settings: { processing_seconds: 7 } });
    await history.ok("POST", "/faults", {
      id: "stays",
      match: { operation: "models.*" },
      effect: { error: "RATE_LIMIT_EXCEEDED" },
    });
    await history.ok("POST", "/clock/advance", { by: "1h" });
    const journal = (await history.ok("GET", "/journal")).total;
    const rewound = await history.rewind(id);
    expect(rewound.settings.processing_seconds).toBe(7);
    expect(rewound.restarted_uploads).toEqual([]);
    expect((await history.ok("GET", "/faults")).items.map((rule: { id: string }) => rule.id)).toEqual([
      "stays",
    ]);
    expect(await history.newest("?kind=scenario")).toMatchObject({ subject: "stays", undone: false });
    const [advance, settings] = (await history.list("?kind=control")).entries;
    expect(advance).toMatchObject({ undone: true });
    expect(settings).toMatchObject({ title: "Settings were changed: processing_seconds.", undone: false });
    expect((await history.ok("GET", "/journal")).total).toBe(journal);
    expect(await history.ok("GET", "/clock")).toEqual(before.clock);
    expect(await history.ok("GET", "/clock/pending")).toEqual(before.pending);
    const again = await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    for (const name of ["x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset"])
      expect(again.headers.get(name), name).toBe(first.headers.get(name));
    // The request id repeats; it then names the newest entry.
    const request = await history.ok("GET", `/journal/${again.headers.get("x-request-id")}`);
    expect(request.history).toBe((await history.newest("?kind=request")).id);
    expect(request.history).not.toBe(id);
  });

  it("marks undone entries, which can be rewound to as well [interfaces 10]", async () => {
    await move("dept_ops");
    await move("dept_eng");
    const [to_ops, to_eng] = await history.entries();
    const readParent = async () => (await history.ok("GET", "/state/departments/dept_ml")).parent_id;
    await history.rewind(to_ops!.id);
    const listUndone = async () => (await history.entries()).map(({ undone }) => undone);
    expect(await listUndone()).toEqual([true, true, false]);
    await history.rewind(to_eng!.id);
    expect(await readParent()).toBe("dept_ops");
    expect(await listUndone()).toEqual([false, true, true, false]);
    await history.rewind(to_eng!.id, "after");
    expect(await readParent()).toBe("dept_eng");
    expect(await listUndone()).toEqual([false, false, true, true, false]);
    const ids = (await history.entries()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect((await history.newest()).changes).toMatchObject({ departments: { changed: 1 } });
  });

  it("is taken back by one to before it [interfaces 10]", async () => {
    const readParent = async () => (await history.ok("GET", "/state/departments/dept_ml")).parent_id;
    await move("dept_ops");
    await move("dept_eng");
    await history.rewind((await history.entries())[0]!.id);
    const rewind = await history.newest();
    await history.rewind(rewind.id);
    expect(await readParent()).toBe("dept_eng");
    expect((await history.entries()).map(({ undone }) => undone)).toEqual([false, false, true, false]);
  });

  it("leaves no entry if it is refused [interfaces 10]", async () => {
    expect((await history.control("POST", "/snapshots/nowhere/restore")).status).toBe(404);
    expect((await history.control("POST", "/history/h_9/rewind")).status).toBe(404);
    expect((await history.control("POST", "/clock/advance", { to: "2020-01-01T00:00:00Z" })).status).toBe(
      422,
    );
    expect((await history.list()).total).toBe(0);
  });

  it("to after an advance has what it ran, and to before it has everything pending [interfaces 10]", async () => {
    await history.ok("POST", "/clock/advance", { by: "2m" });
    const advance = await history.newest("?kind=control");
    const ran = (await history.list("?kind=timer")).total;
    expect(ran).toBeGreaterThan(0);
    expect(advance.changes).toEqual({});
    await history.rewind(advance.id);
    expect((await history.ok("GET", "/clock")).now).toBe("2026-03-15T12:00:00.000Z");
    expect((await history.entries("?kind=timer")).every(({ undone }) => undone)).toBe(true);
    await history.rewind(advance.id, "after");
    expect((await history.ok("GET", "/clock")).now).toBe("2026-03-15T12:02:00.000Z");
    expect((await history.entries("?kind=timer")).some(({ undone }) => undone)).toBe(false);
  });

  it("to before a timer that a call ran early has it pending at its own time [interfaces 4, 10]", async () => {
    const clock = await history.ok("GET", "/clock");
    const pending = await history.ok("GET", "/clock/pending");
    for (const { kind, subject } of pending) {
      await history.ok("POST", "/clock/pending/run", { kind, subject });
      const early = await history.newest("?kind=timer");
      expect(early.advanced_by).toBe((await history.newest("?kind=control")).id);
      await history.rewind(early.id);
      expect(await history.ok("GET", "/clock/pending")).toEqual(pending);
      expect(await history.ok("GET", "/clock")).toEqual(clock);
    }
  });

  it("is impossible over a reset, which starts a new history and reuses no id [interfaces 10]", async () => {
    await move("dept_ops");
    const { id } = await history.newest();
    await history.ok("POST", "/reset");
    expect(await history.list()).toEqual({ entries: [], total: 0, dropped: 0 });
    expect((await history.control("GET", `/history/${id}`)).status).toBe(404);
    await move("dept_ops");
    expect((await history.newest()).id).not.toBe(id);
  });

  it("continues an upload with the bytes it had [interfaces 10]", async () => {
    const { upload_url } = await announce(api, { file_size: 10 });
    await chunk(upload_url, "0123", 0, 10);
    const first = await history.newest();
    expect(first).toMatchObject({ kind: "request", changes: {} });
    await chunk(upload_url, "4567", 4, 10);
    const second = await history.newest();
    expect((await history.rewind(second.id)).restarted_uploads).toEqual([]);
    expect((await probe(upload_url, 10)).range).toBe("bytes=0-3");
    expect((await history.rewind(first.id)).restarted_uploads).toEqual([]);
    expect((await probe(upload_url, 10)).range).toBeNull();
    // No stored state held the bytes at that time.
    expect((await history.rewind(second.id, "after")).restarted_uploads).toHaveLength(1);
    expect((await put(upload_url, "0123456789")).status).toBe(200);
  });

  it("keeps the bytes that another upload got during the undone request [interfaces 10]", async () => {
    const [slow, other] = [await announce(api, { file_size: 4 }), await announce(api, { file_size: 4 })];
    const headers = { "content-range": "bytes 0-2/4", "content-length": 3 };
    const sender = request(slow.upload_url, { method: "PUT", headers });
    const answered = new Promise((resolve) => sender.on("response", (answer) => resolve(answer.resume())));
    sender.write("ab");
    await waitUntilPasses(async () => expect((await probe(slow.upload_url)).range).toBe("bytes=0-1"));
    await chunk(other.upload_url, "xyz", 0, 4);
    sender.end("c");
    await answered;
    expect((await history.rewind((await history.newest()).id)).restarted_uploads).toEqual([]);
    const ranges = [await probe(slow.upload_url), await probe(other.upload_url)].map(({ range }) => range);
    expect(ranges).toEqual([null, "bytes=0-2"]);
  });

  it("undoes the bytes of a request whose client left [interfaces 10]", async () => {
    const { upload_url } = await announce(api, { file_size: 10 });
    const before = await history.newest();
    const headers = { "content-range": "bytes 0-9/10", "content-length": 10 };
    const waitForBytes = () =>
      waitUntilPasses(async () => expect((await probe(upload_url)).range).toBe("bytes=0-3"));
    await sendAndDisconnect(upload_url, { method: "PUT", headers }, Buffer.from("0123"), waitForBytes);
    const { id } = await waitUntilPasses(async () => {
      const entry = await history.newest();
      expect(entry.id).not.toBe(before.id);
      return entry;
    });
    await history.rewind(id);
    expect((await probe(upload_url)).range).toBeNull();
  });

  it("restarts an upload whose bytes were released, and says so [interfaces 10]", async () => {
    const { announced, upload_url, gcs_path } = await announce(api, { file_size: 4 });
    await put(upload_url, "text");
    const registered = await api.call("dan", "POST", `${ORGANIZATION}/files`, { ...announced, gcs_path });
    expect(registered.status).toBe(201);
    const { id } = await history.newest();
    const { restarted_uploads } = await history.rewind(id);
    expect(restarted_uploads).toEqual([expect.stringMatching(/^upload_/)]);
    expect((await probe(upload_url, 4)).status).toBe(308);
    expect((await put(upload_url, "text")).status).toBe(200);
    const again = await api.call("dan", "POST", `${ORGANIZATION}/files`, { ...announced, gcs_path });
    expect(again.status).toBe(201);
    expect((await history.rewind(id, "after")).restarted_uploads).toEqual([]);
  });

  it("is refused for an entry without states, which is still described [interfaces 10]", async () => {
    await move("dept_ops");
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const kept = await history.entries();
    expect(kept.map((entry) => entry.kept)).toEqual([true, true]);
    api.understudy.sandboxes.get("default")!.history.releaseStates(0);
    const [entry] = await history.entries();
    expect(entry).toEqual({ ...kept[0], kept: false });
    for (const [method, path] of [
      ["POST", "rewind"],
      ["POST", "fork"],
      ["GET", "changes"],
    ]) {
      const answer = await history.control(method!, `/history/${entry!.id}/${path}`);
      expect([answer.status, answer.body.type]).toEqual([409, "urn:understudy:problem:state-evicted"]);
      expect(answer.body.advice).toMatch(/snapshot/);
    }
  });

  it("reaches as many entries as history_limit allows, none with 0 [interfaces 10]", async () => {
    await history.ok("PATCH", "", { settings: { history_limit: 2 } });
    for (const parent of ["dept_ops", "dept_eng", "dept_ops"]) await move(parent);
    expect(await history.list()).toMatchObject({ total: 2, dropped: 2 });
    await history.ok("PATCH", "", { settings: { history_limit: 0 } });
    const { headers } = await move("dept_eng");
    expect(await history.list()).toMatchObject({ entries: [], total: 0 });
    expect((await history.ok("GET", `/journal/${headers.get("x-request-id")}`)).history).toBeNull();
    await history.ok("PATCH", "", { settings: { history_limit: 5 } });
    await move("dept_ops");
    expect((await history.list("?kind=request")).total).toBe(1);
  });
});
