import { afterEach, beforeEach, expect, it } from "vitest";
import { type Api, startReference } from "../support/harness.ts";

const S = "/_control/sandboxes/default";
let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const control = async (method: string, path: string, body?: unknown) => {
  const type: Record<string, string> = method === "GET" ? {} : { "content-type": "application/json" };
  const answer = await api.call(undefined, method, S + path, body, type);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
};

it("a request is an entry with what it changed, and names its journal entry [interfaces 10]", async () => {
  const { headers } = await api.call("ada", "DELETE", "/v1/threads/thread_ada");
  const request = headers.get("x-request-id");
  const { entries, total, dropped } = await control("GET", "/history");
  expect([total, dropped]).toEqual([1, 0]);
  expect(entries[0]).toMatchObject({
    kind: "request",
    request,
    cause: null,
    undone: false,
    subject: "thread_ada",
  });
  expect(entries[0].changes.threads).toEqual({ added: 0, removed: 1, changed: 0 });
  expect((await control("GET", `/journal/${request}`)).history).toBe(entries[0].id);
  const changes = await control("GET", `/history/${entries[0].id}/changes`);
  expect(changes.threads).toEqual([
    { id: "thread_ada", before: expect.objectContaining({ id: "thread_ada" }), after: null },
  ]);
});

it("a request that changed nothing is only in the journal [interfaces 10]", async () => {
  const { headers } = await api.call("dan", "GET", "/v1/models");
  await api.call("dan", "DELETE", "/v1/threads/thread_nowhere");
  expect((await control("GET", "/history")).total).toBe(0);
  expect((await control("GET", `/journal/${headers.get("x-request-id")}`)).history).toBeNull();
});

it("an advance has the time at which it began, with and without timers [interfaces 10]", async () => {
  const { now } = await control("GET", "/clock");
  await control("POST", "/clock/advance", { by: "1s" });
  const { ran } = await control("POST", "/clock/advance", { next: true });
  expect(ran.length).toBeGreaterThan(0);
  const { entries } = await control("GET", "/history?kind=control");
  const later = new Date(Date.parse(now) + 1000).toISOString();
  expect(entries.map(({ at }: { at: string }) => at)).toEqual([later, now]);
});

it("rewinds to before a request, which then gives the same bytes again [interfaces 10]", async () => {
  const first = await api.call("ada", "DELETE", "/v1/threads/thread_ada");
  const [{ id }] = (await control("GET", "/history")).entries;
  const sandbox = await control("POST", `/history/${id}/rewind`);
  expect(sandbox).toMatchObject({ name: "default", restarted_uploads: [] });
  await control("GET", "/state/threads/thread_ada");
  const after = await control("GET", "/history");
  expect(after.entries.map((entry: { kind: string; undone: boolean }) => [entry.kind, entry.undone])).toEqual(
    [
      ["restore", false],
      ["request", true],
    ],
  );
  const again = await api.call("ada", "DELETE", "/v1/threads/thread_ada");
  expect([again.status, again.text, again.headers.get("x-request-id")]).toEqual([
    first.status,
    first.text,
    first.headers.get("x-request-id"),
  ]);
  await control("POST", `/history/${id}/rewind`, { to: "after" });
  const states = (await control("GET", "/history")).entries.map((entry: { undone: boolean }) => entry.undone);
  expect(states).toEqual([false, true, true, false]);
});
