import { afterEach, expect, it, vi } from "vitest";
import { fetchService } from "./fetch-service.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("a stream that breaks is reported once, and not read any further", async () => {
  vi.useFakeTimers();
  const body = new ReadableStream({ pull: (stream) => stream.error(new Error("reset")) });
  const headers = { "content-type": "text/event-stream" };
  vi.stubGlobal("fetch", async () => new Response(body, { headers }));
  const call = fetchService({ sandbox: "default", method: "GET", path: "/v1/stream", key: undefined });
  await expect(call).rejects.toThrow("The connection was lost before the response (200) was complete.");
  expect(vi.getTimerCount()).toBe(0);
});

it("a header that HTTP does not allow is named, and not reported as an unreachable server", async () => {
  const call = { sandbox: "default", method: "GET", path: "/v1/models", key: undefined };
  await expect(fetchService({ ...call, headers: { "x-trace": "日本" } })).rejects.toMatchObject({
    field: "x-trace",
    message: expect.stringContaining("The header x-trace is not valid"),
  });
  await expect(fetchService({ ...call, key: "ak_…1234" })).rejects.toMatchObject({ field: "api-key" });
});
