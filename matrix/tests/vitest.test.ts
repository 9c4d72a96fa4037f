import { setupServer } from "msw/node";
import { handlersFor } from "understudy-sandbox/msw";
import { expect, test } from "understudy-sandbox/vitest";
import { afterEach, vi } from "vitest";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a fresh sandbox with a fault, a clock and a matcher", async ({ sandbox }) => {
  await sandbox.faults.add({
    match: { operation: "models.list" },
    lease: { ttl: "1m" },
    effect: { error: "RATE_LIMIT_EXCEEDED" },
  });
  const ask = () =>
    fetch(`${sandbox.url}/v1/models`, { headers: { "api-key": sandbox.credentials.usr_dan } });
  expect((await ask()).status).toBe(429);
  await sandbox.clock.advance("1m");
  expect((await ask()).status).toBe(200);
  await expect(sandbox).toHaveReceived({ operation: "models.list" }, { times: 2 });
});

test("bytes that are uploaded come back", async ({ sandbox }) => {
  const headers = { "api-key": sandbox.credentials.usr_ada, "content-type": "application/json" };
  const body = JSON.stringify({ name: "Design", parent_id: null });
  const answer = await fetch(`${sandbox.url}/v1/nowhere`, { method: "POST", headers, body });
  expect(answer.status).toBe(404);
});

test("a stub of fetch that is left in place", async ({ sandbox }) => {
  const stub = vi.fn(() => Promise.reject(new Error("offline")));
  vi.stubGlobal("fetch", stub);
  await sandbox.clock.advance("1h");
  expect(stub).not.toHaveBeenCalled();
});

test("fake timers", async ({ sandbox }) => {
  vi.useFakeTimers();
  await sandbox.clock.advance("1h");
  const { ok } = await sandbox.journal.verify({
    match: { operation: "models.list" },
    count: 1,
    within: "20ms",
  });
  expect(ok).toBe(false);
});

test("MSW that refuses what it does not know", async ({ sandbox }) => {
  const network = setupServer(...handlersFor(sandbox, { origin: "https://api.example.com" }));
  const seen: string[] = [];
  network.events.on("request:start", ({ request }) => void seen.push(request.url));
  network.listen({ onUnhandledRequest: "error" });
  try {
    await sandbox.clock.advance("1h");
    const headers = { "api-key": sandbox.credentials.usr_dan };
    expect((await fetch("https://api.example.com/v1/models", { headers })).status).toBe(200);
    await sandbox.faults.add({ match: { operation: "models.list" }, times: 1, effect: { wire: "reset" } });
    await expect(fetch("https://api.example.com/v1/models", { headers })).rejects.toThrow();
  } finally {
    network.close();
  }
  expect(seen.filter((url) => url.includes("/_control"))).toEqual([]);
});

test("skipped in its body", async ({ sandbox, skip }) => {
  await sandbox.faults.add({ match: { operation: "models.list" }, effect: { error: "RATE_LIMIT_EXCEEDED" } });
  skip();
});
