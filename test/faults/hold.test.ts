import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { createSandbox } from "../../src/client/engine.ts";
import { waitForHeld } from "../../src/client/held.ts";
import type { SandboxClient } from "../../src/client/sandbox.ts";
import { testSandboxes } from "../../src/client/test-sandbox.ts";
import { waitUntil, waitUntilPasses } from "../support/eventually.ts";
import { type Api, EPOCH, KEYS, startReference } from "../support/harness.ts";
import { followEvents } from "../support/openapi/control-calls.ts";

const MODELS = { match: { operation: "models.list" }, effect: { hold: {} } } as const;
const DELETE = { match: { operation: "threads.delete" }, effect: { hold: {} } } as const;

let api: Api | undefined;
let close: () => Promise<void> = async () => {};
afterEach(async () => {
  await api?.close();
  await close();
  api = undefined;
  close = async () => {};
});

async function openOverSockets(): Promise<SandboxClient> {
  api = await startReference();
  return connect(api.url).open("default");
}

async function openInProcess(): Promise<SandboxClient> {
  const sandbox = await createSandbox({ clock: { mode: "frozen", now: EPOCH } });
  close = () => sandbox.close();
  return sandbox;
}

describe.each([
  ["over sockets", openOverSockets],
  ["in process", openInProcess],
])("held requests, %s", (_where, start) => {
  let sandbox: SandboxClient;
  beforeEach(async () => {
    sandbox = await start();
  });
  const asUser = (who: keyof typeof KEYS, init: RequestInit = {}) => ({
    ...init,
    headers: { "api-key": KEYS[who] },
  });
  const listModels = (init?: RequestInit) => sandbox.fetch("/v1/models", asUser("dan", init));
  const deleteThread = (init: RequestInit = {}) =>
    sandbox.fetch("/v1/threads/thread_welcome", asUser("dan", { method: "DELETE", ...init }));
  const hasThread = () =>
    sandbox
      .state("threads")
      .get("thread_welcome")
      .then(
        () => true,
        () => false,
      );

  it("are released by a test in another order than they arrived [interfaces 20]", async () => {
    await sandbox.faults.add(MODELS);
    const order: string[] = [];
    const one = listModels().then(() => order.push("one"));
    const first = await sandbox.held.next({ operation: "models.list" });
    const two = listModels().then(() => order.push("two"));
    const second = await sandbox.held.next({ operation: "models.list" });
    expect([first.id, second.id]).toEqual(["held_1", "held_2"]);
    await second.release();
    await two;
    await first.release();
    await one;
    expect(order).toEqual(["two", "one"]);
    expect((await sandbox.held.list()).items).toEqual([]);
  });

  it("stay held as long as a test says, also for months of the sandbox's clock [interfaces 20]", async () => {
    await sandbox.faults.add(MODELS);
    const waiting = sandbox.held.next({ operation: "models.list" }, { within: "30d" });
    for (let i = 0; i < 5; i++) await sandbox.held.list();
    const asked = listModels();
    await (await waiting).release();
    expect((await asked).status).toBe(200);
  });

  it("can be released after their retry was answered [interfaces 20]", async () => {
    await sandbox.faults.add({ ...DELETE, times: 1 });
    const impatient = new AbortController();
    const asked = deleteThread({ signal: impatient.signal });
    const first = await sandbox.held.next();
    expect((await deleteThread()).status).toBe(200);
    await first.release();
    expect((await asked).status).toBe(404);
  });

  it("have changed nothing before a release, and everything with `phase: after` [interfaces 20]", async () => {
    await sandbox.faults.add({ ...DELETE, times: 1 });
    const asked = deleteThread();
    const { phase, response, release } = await sandbox.held.next();
    expect([phase, response, await hasThread()]).toEqual(["before", null, true]);
    await release();
    expect((await asked).status).toBe(200);
    expect(await hasThread()).toBe(false);
    await sandbox.faults.add({ ...MODELS, phase: "after" });
    const listed = listModels();
    const after = await sandbox.held.next();
    expect(after).toMatchObject({ phase: "after", response: { status: 200 } });
    expect(after.response!.body).toHaveProperty("models");
    await after.release({ answer: { body: { models: [] } } });
    expect(await (await listed).json()).toEqual({ models: [] });
  });

  it("are released with another answer: a status, a body, an error, a broken connection [interfaces 20]", async () => {
    await sandbox.faults.add(DELETE);
    for (const [release, status, body] of [
      [{ answer: { status: 207, headers: { "x-edge": "fra1" }, body: { own: true } } }, 207, { own: true }],
      [{ error: "INSUFFICIENT_PERMISSIONS" }, 403, { error: { code: "insufficient_permissions" } }],
      [{ answer: { status: 503 } }, 503, { error: { code: "HTTP_503" } }],
    ] as const) {
      const asked = deleteThread();
      await (await sandbox.held.next()).release(release);
      const answer = await asked;
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject(body);
      expect(answer.headers.get("x-sandbox-decision")).toMatch(/^fault:inline\/fault_1/);
    }
    const broken = deleteThread().catch((error: Error) => error);
    await (await sandbox.held.next()).release({ wire: "reset" });
    expect(await broken).toBeInstanceOf(TypeError);
    expect(await hasThread()).toBe(true);
  });

  it("show a compressed body as its value [interfaces 20]", async () => {
    await sandbox.faults.add({ match: { path: "/packed" }, effect: { hold: {} } });
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    const asked = sandbox.fetch("/packed", { method: "POST", headers, body: gzipSync('{"name":"Ops"}') });
    const { request, release } = await sandbox.held.next();
    await release();
    await asked;
    expect(request.body).toEqual({ name: "Ops" });
  });

  it("are released after their timeout, on the wall clock of a frozen sandbox [interfaces 20]", async () => {
    await sandbox.faults.add({ ...MODELS, effect: { hold: { timeout: "50ms" } } });
    expect((await listModels()).status).toBe(200);
    const [entry] = (await sandbox.journal.list()).entries;
    expect(entry!.reasons.at(-1)).toBe("inline/fault_1 held it as held_1 until its timeout of 50 ms");
    expect(entry!.duration_ms).toBeGreaterThanOrEqual(45);
  });

  it("last 30 s with `hold: true` [interfaces 20]", async () => {
    await sandbox.faults.add({ ...MODELS, effect: { hold: true } });
    const earliest = Date.now();
    const asked = listModels();
    const { ends_at, release } = await sandbox.held.next();
    const end = Date.parse(ends_at);
    expect(end).toBeGreaterThanOrEqual(earliest + 30_000);
    expect(end).toBeLessThanOrEqual(Date.now() + 30_000);
    await release();
    await asked;
  });

  it("end when their client leaves, and change nothing [interfaces 20]", async () => {
    await sandbox.faults.add(DELETE);
    const leaving = new AbortController();
    const asked = deleteThread({ signal: leaving.signal }).catch((error: Error) => error.name);
    await sandbox.held.next();
    leaving.abort();
    expect(await asked).toBe("AbortError");
    await waitUntilPasses(async () => expect((await sandbox.held.list()).total).toBe(0));
    await waitUntilPasses(async () => expect((await sandbox.journal.list()).total).toBe(1));
    const [entry] = (await sandbox.journal.list()).entries;
    expect(entry).toMatchObject({ status: 0, operation: "threads.delete", history: null });
    expect(entry!.reasons.at(-1)).toContain("until its client left");
    expect(await hasThread()).toBe(true);
  });

  it("are released by a reset: an unfinished one is answered 503, and the new world does not change [interfaces 20]", async () => {
    await sandbox.faults.add(DELETE);
    await sandbox.faults.add({ ...MODELS, phase: "after" });
    const [deleted, listed] = [deleteThread(), listModels()];
    await sandbox.held.next({ operation: "threads.delete" });
    await sandbox.held.next({ operation: "models.list" });
    await sandbox.reset();
    expect([(await deleted).status, (await listed).status]).toEqual([503, 200]);
    expect(await hasThread()).toBe(true);
  });

  it("are answered 503 at a reset if they are delayed, and the new world does not change [interfaces 20]", async () => {
    await sandbox.faults.add({ match: DELETE.match, effect: { delay: "1h" } });
    await sandbox.faults.add({ match: MODELS.match, phase: "after", effect: { delay: "1h" } });
    const [deleted, listed] = [deleteThread(), listModels()];
    await waitUntil(async () => (await sandbox.faults.list()).items.every(({ hits }) => hits === 1));
    await sandbox.reset();
    expect([(await deleted).status, (await listed).status]).toEqual([503, 200]);
    expect(await hasThread()).toBe(true);
    const { entries } = await sandbox.journal.list({ operation: "threads.delete" });
    expect(entries[0]!.reasons.at(-1)).toBe("the sandbox was reset while the request waited");
  });

  it.each(["restored", "rewound"])(
    "are answered 503 after the sandbox was %s if they waited, and the restored world does not change [interfaces 10, 20]",
    async (change) => {
      await sandbox.state("threads").update("thread_ada", { title: "Before" });
      await sandbox.snapshots.save("before");
      const { entries } = await sandbox.history.list();
      await sandbox.faults.add({ ...DELETE, match: { ...DELETE.match, path: "/v1/threads/thread_long" } });
      const path = "/v1/threads/thread_welcome";
      await sandbox.faults.add({ match: { ...DELETE.match, path }, effect: { delay: "1h" } });
      const held = sandbox.fetch("/v1/threads/thread_long", asUser("dan", { method: "DELETE" }));
      const { id } = await sandbox.held.next({ operation: "threads.delete" });
      const delayed = deleteThread();
      await waitUntil(async () => (await sandbox.faults.list()).items.every(({ hits }) => hits > 0));
      if (change === "restored") await sandbox.snapshots.restore("before");
      else await sandbox.history.rewind(entries[0]!.id);
      expect((await delayed).status).toBe(503);
      await sandbox.held.release(id);
      expect((await held).status).toBe(503);
      expect(await hasThread()).toBe(true);
      const { entries: requests } = await sandbox.journal.list({ operation: "threads.delete" });
      for (const { reasons } of requests)
        expect(reasons.at(-1)).toBe("the sandbox was restored while the request waited");
    },
  );

  it("are released when the sandbox is deleted, as is a call that waits for one [interfaces 20]", async () => {
    const other = await openSandbox(sandbox);
    await other.faults.add(MODELS);
    const asked = other.fetch("/v1/models", asUser("dan"));
    await other.held.next();
    const waiting = other.held.next().catch((error: Error) => error.message);
    await other.delete();
    expect((await asked).status).toBe(503);
    expect(await waiting).toContain("before the sandbox was deleted");
  });

  it("end with the sandbox, as do delayed ones, which are answered, and hanging ones, whose connections break", async () => {
    const other = await openSandbox(sandbox);
    const headers = { "x-sandbox-delay": "59m" };
    await other.faults.add({ match: { path: "/v2/models" }, effect: { delay: "1h" } });
    await other.faults.add({ match: { path: "/v1/hang" }, effect: { wire: "hang" } });
    const hanging = other.fetch("/v1/hang").catch((error: Error) => error);
    const answers = ["/v1/models", "/v2/models"].map((path) =>
      other.fetch(path, { headers: { "api-key": KEYS.dan, ...(path === "/v1/models" && headers) } }),
    );
    await waitUntil(async () => (await other.faults.list()).items.every(({ hits }) => hits === 1));
    await other.delete();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await hanging).toBeInstanceOf(TypeError);
  });

  it("are not released by unknown ids, a second release or impossible answers, which are refused with a message [interfaces 20]", async () => {
    await sandbox.faults.add(DELETE);
    const asked = deleteThread();
    const { id, release } = await sandbox.held.next();
    const expectRefusal = (options: object, of = id) =>
      sandbox.held.release(of, options).then(
        () => "released",
        ({ status, problem }) => [status, problem.field ?? problem.value, problem.detail],
      );
    expect(await expectRefusal({}, "held_9")).toEqual([
      404,
      "held_9",
      expect.stringContaining("held at the moment: held_1"),
    ]);
    expect(await expectRefusal({}, "nonsense")).toEqual([404, "nonsense", expect.anything()]);
    for (const [options, field, message] of [
      [{ answer: { status: 99 } }, "answer.status", ""],
      [{ answer: { status: 204, body: {} } }, "answer.body", "has no body"],
      [
        { answer: { status: 200, headers: { "content-length": "1" } } },
        "answer.headers.content-length",
        "belongs",
      ],
      [{ answer: { status: 200 }, error: "RATE_LIMIT_EXCEEDED" }, "answer.status", "cannot go with"],
      [{ error: "DEPARTMENT_CYCLE_DETECTED" }, "error", "threads.delete never answers"],
      [{ error: "NO_SUCH_CODE" }, "error", "not a code"],
      [{ wire: "sideways" }, "wire", ""],
      [{ answers: {} }, "answers", ""],
    ] as const)
      expect(await expectRefusal(options), JSON.stringify(options)).toEqual([
        ...[422, field, expect.stringContaining(message)],
      ]);
    expect((await sandbox.held.list()).total).toBe(1);
    await release();
    expect((await asked).status).toBe(200);
    expect(await expectRefusal({})).toEqual([409, id, expect.stringContaining("no longer held")]);
  });

  it.each([
    ["operation", "models.lst", "models.list"],
    ["event", "thread.delted", "thread.deleted"],
    ["kind", "delivry", "delivery"],
  ])(
    "are not waited for by a misspelt %s, which is refused with a suggestion [interfaces 20]",
    async (field, value, hint) => {
      await expect(sandbox.held.next({ [field]: value }, { within: "1ms" })).rejects.toMatchObject({
        problem: { field, value, detail: expect.stringContaining(hint) },
      });
    },
  );

  it("on a path outside the contract may be released with any code of the catalogue [interfaces 20]", async () => {
    await sandbox.faults.add({ match: { path: "/v1/orders" }, effect: { hold: {}, status: 402 } });
    const asked = sandbox.fetch("/v1/orders", asUser("dan"));
    const { release } = await sandbox.held.next();
    await expect(release({ error: "NO_SUCH_CODE" as never })).rejects.toMatchObject({
      problem: { detail: expect.stringMatching(/^release: "NO_SUCH_CODE" is not a code/) },
    });
    await release({ error: "RESOURCE_NOT_FOUND" });
    expect((await asked).status).toBe(404);
  });

  it("are released by one of two calls at once; the other is refused [interfaces 20]", async () => {
    await sandbox.faults.add(MODELS);
    const asked = listModels();
    const { id } = await sandbox.held.next();
    const calls = [200, 201].map((status) => sandbox.held.release(id, { answer: { status } }));
    const released = await Promise.allSettled(calls);
    expect((await asked).status).toBe(200);
    expect(released).toMatchObject([{ status: "fulfilled" }, { reason: { status: 409 } }]);
  });

  it("can be deliveries, which wait, fail as the release says, and are retried only then [interfaces 20]", async () => {
    const receiver = await sandbox.receivers.add({});
    await sandbox.state("webhooks").create({ url: receiver.url, events: ["thread.deleted"] } as never);
    await sandbox.faults.add({ match: { event: "thread.deleted" }, effect: { hold: {} } });
    expect((await deleteThread()).status).toBe(200);
    const first = await sandbox.held.next({ event: "thread.deleted" });
    expect(first).toMatchObject({
      kind: "delivery",
      method: "POST",
      request_id: expect.stringMatching(/\.1$/),
    });
    expect((await sandbox.receivers.requests(receiver.id)).total).toBe(0);
    await expect(sandbox.held.release(first.id, { error: "RATE_LIMIT_EXCEEDED" })).rejects.toThrow(
      "delivery",
    );
    await first.release({ answer: { status: 503 } });
    await waitUntilPasses(async () => {
      const { entries } = await sandbox.journal.list({ event: "thread.deleted" } as never);
      expect(entries.map(({ status, reasons }) => [status, reasons[0]])).toEqual([
        [503, "inline/fault_1 held it as held_1 until a call released it with another answer"],
      ]);
    });
    const advanced = sandbox.clock.advance("10m");
    const retry = await sandbox.held.next({ event: "thread.deleted" });
    expect(retry.request_id).toMatch(/\.2$/);
    await retry.release();
    await advanced;
    expect((await sandbox.receivers.requests(receiver.id)).total).toBe(1);
  });

  it("are predicted by explain and named in the answer's decision [interfaces 20]", async () => {
    await sandbox.faults.add(MODELS);
    const { decision, status, rules } = await sandbox.faults.explain({
      operation: "models.list",
      principal: "usr_dan",
    });
    expect([decision, status, rules[0]!.triggers]).toEqual(["fault:inline/fault_1", 200, true]);
    const asked = listModels();
    await (await sandbox.held.next()).release();
    const answer = await asked;
    expect(answer.headers.get("x-sandbox-decision")).toBe("fault:inline/fault_1");
  });

  it("may be held by one rule and answered by another [interfaces 20]", async () => {
    await sandbox.faults.add({ match: { operation: "models.list" }, effect: { status: 503 } });
    await sandbox.faults.add({ match: { operation: "models.*" }, effect: { hold: {}, delay: "1ms" } });
    const asked = listModels();
    await (await sandbox.held.next()).release();
    expect((await asked).status).toBe(503);
  });

  it("are listed in the message of `next` if none matches in time [interfaces 20]", async () => {
    await sandbox.faults.add(MODELS);
    const asked = listModels();
    await waitUntil(async () => (await sandbox.held.list()).total === 1);
    await expect(sandbox.held.next({ operation: "threads.delete" }, { within: "1ms" })).rejects.toThrow(
      'No request that fits {"operation":"threads.delete"} was held within 1ms; held at the moment: GET /v1/models (held_1, held by the rule inline/fault_1)',
    );
    await expect(sandbox.held.next({ operations: "threads.delete" } as never)).rejects.toThrow(TypeError);
    // An undefined value leaves the field out, as in other calls.
    await (await sandbox.held.next({ operation: undefined } as object)).release();
    await asked;
  });
});

it("`held.next` fails if the server sends no list [interfaces 20]", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const follow = (signal: AbortSignal) =>
      connect(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`).http.streamEvents<never>(
        "/_control/sandboxes/default/held/stream",
        undefined,
        signal,
      );
    const options = { match: {}, returnedIds: new Set<string>(), listJournal: async () => {} };
    const waiting = waitForHeld(follow, { ...options, within: "1s" });
    const refused = expect(waiting).rejects.toThrow(
      "held.next: the server sent no list of what it holds within 8 s.",
    );
    await vi.advanceTimersByTimeAsync(8_000);
    await refused;
  } finally {
    vi.useRealTimers();
    silent.closeAllConnections();
    silent.close();
  }
});

async function openSandbox(sandbox: SandboxClient): Promise<SandboxClient> {
  const { id } = (await sandbox.state("threads").create({})) as unknown as { id: string };
  const [entry] = (await sandbox.history.list()).entries;
  expect(id ?? entry).toBeTruthy();
  return sandbox.history.fork(entry!.id, { name: "other" });
}

it("held requests are shown to pages in the stream of the timeline, and each change in the other stream [interfaces 20]", async () => {
  const sandbox = await openOverSockets();
  await sandbox.faults.add(MODELS);
  const live = await followEvents(api!, "/_control/sandboxes/default/live");
  const held = await followEvents(api!, "/_control/sandboxes/default/held/stream");
  await held.waitForCount(1);
  const asked = sandbox.fetch("/v1/models", { headers: { "api-key": KEYS.dan } });
  const { id, release } = await sandbox.held.next();
  await held.waitForCount(2);
  await release();
  await asked;
  await held.waitForCount(3);
  expect(held.events).toMatchObject([{ total: 0 }, { items: [{ id }] }, { items: [] }]);
  await waitUntilPasses(() => {
    const lists = live.events.flatMap((event) => (event as { held?: { id: string }[] }).held ?? []);
    expect(lists).toMatchObject([{ id, operation: "models.list" }]);
    expect((live.events.at(-1) as { held?: unknown[] }).held ?? []).toEqual([]);
  });
  live.close();
  held.close();
});

it("held requests are shown to pages also after the journal is cleared [interfaces 20]", async () => {
  const sandbox = await openOverSockets();
  await sandbox.faults.add(MODELS);
  const live = await followEvents(api!, "/_control/sandboxes/default/live");
  const asked = sandbox.fetch("/v1/models", { headers: { "api-key": KEYS.dan } });
  const { id, release } = await sandbox.held.next();
  await waitUntilPasses(() => expect(live.events.at(-1)).toMatchObject({ held: [{ id }] }));
  await sandbox.journal.clear();
  await waitUntilPasses(() => {
    const beginnings = (live.events as { begins?: boolean }[]).filter(({ begins }) => begins);
    expect(beginnings).toMatchObject([{}, { held: [{ id }] }]);
  });
  await release();
  await asked;
  live.close();
});

describe("a test that leaves a request held", () => {
  it("fails with a message that says which one and what to do [interfaces 20]", async () => {
    const sandboxes = testSandboxes({ engine: true });
    let asked: Promise<Response> | undefined;
    const run = sandboxes.with(async (sandbox) => {
      await sandbox.faults.add(MODELS);
      asked = sandbox.fetch("/v1/models", { headers: { "api-key": KEYS.dan } });
      await sandbox.held.next();
    });
    await expect(run()).rejects.toThrow(
      /still held at the end of the test: GET \/v1\/models \(held_1, held by the rule inline\/fault_1\)\. Release each/,
    );
    expect((await asked)!.status).toBe(503);
    await sandboxes.close();
  });
});
