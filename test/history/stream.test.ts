import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EventStream } from "../support/event-stream.ts";
import { type Api, startReference } from "../support/harness.ts";
import { createHistoryClient } from "../support/history-setup.ts";

const STREAM = "/_control/sandboxes/default/history/stream";
let api: Api;
let history: ReturnType<typeof createHistoryClient>;
beforeEach(async () => {
  api = await startReference();
  history = createHistoryClient(api);
});
afterEach(() => api.close());

const rename = (title: string) => history.ok("PATCH", "/state/threads/thread_ada", { title });

describe("history.stream [interfaces 10]", () => {
  it("sends each entry as in the list, and resumes after Last-Event-ID [interfaces 10]", async () => {
    const stream = await EventStream.open(api, "ada", STREAM);
    await rename("a");
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const events = await stream.waitForCount(2);
    stream.close();
    expect(events.map(({ data }) => data)).toEqual(await history.entries());
    await history.rewind(events[1]!.data.id);
    const resumed = await EventStream.open(api, "ada", STREAM, events[0]!.id);
    const missed = await resumed.waitForCount(2);
    resumed.close();
    expect(missed.map(({ data }) => [data.kind, data.undone])).toEqual([
      ["request", true],
      ["restore", false],
    ]);
    expect(missed.map(({ id, data }) => Number(id) - data.sequence)).toEqual([0, 0]);
  });

  it.each(["history", "journal"])(
    "sends all entries after a number beyond the end, which another run of the server gave: %s [interfaces 10]",
    async (log) => {
      await api.call("ada", "DELETE", "/v1/threads/thread_ada");
      const stream = await EventStream.open(api, "ada", STREAM.replace("history", log), "1000");
      const [first] = await stream.waitForCount(1);
      stream.close();
      expect(first!.data).toMatchObject({ sequence: 1 });
    },
  );

  it("continues after a reset and ends with the sandbox [interfaces 10]", async () => {
    await history.ok("POST", "/fork", { name: "follow" });
    const other = createHistoryClient(api, "follow");
    const stream = await EventStream.open(api, "ada", STREAM.replace("default", "follow"));
    await other.ok("PATCH", "/state/threads/thread_ada", { title: "a" });
    await stream.waitForCount(1);
    await other.ok("POST", "/reset");
    await other.ok("PATCH", "/state/threads/thread_ada", { title: "b" });
    const events = await stream.waitForCount(2);
    expect(events[0]!.data.id).not.toBe(events[1]!.data.id);
    expect(Number(events[1]!.id)).toBeGreaterThan(Number(events[0]!.id));
    await other.ok("DELETE", "");
    expect(await stream.ended).toHaveLength(2);
  });

  it("refuses an unreadable Last-Event-ID [interfaces 10]", async () => {
    const answer = await api.call(undefined, "GET", STREAM, undefined, { "last-event-id": "h_1" });
    expect(answer.status).toBe(422);
  });
});
