import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { EventStream } from "../support/event-stream.ts";
import { waitUntilPasses } from "../support/eventually.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";

let api: Api;
beforeEach(async () => {
  await api?.close();
  api = await startReference();
});
afterAll(() => api.close());

const LIVE = "/_control/sandboxes/default/live";
const deleteThread = (id: string) => api.call("dan", "DELETE", `/v1/threads/${id}?api-key=${KEYS.dan}`);
const listPaths = (events: EventStream["events"]) =>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  events.flatMap(({ data }) => data.requests.map(({ path }: any) => path));

describe("the console's stream of a sandbox", () => {
  it("begins with the stored entries, without messages and secrets, and then sends new ones [interfaces 11]", async () => {
    await deleteThread("thread_1");
    const stream = await EventStream.open(api, "dan", LIVE);
    const [first] = await stream.waitForCount(1);
    expect(first!.data).toMatchObject({ begins: true, dropped: 0 });
    const [line] = first!.data.requests;
    const { body: entry } = await api.call(
      undefined,
      "GET",
      `/_control/sandboxes/default/journal/${line.id}`,
    );
    const { request, response, reasons, api_key, kind, delivery, ...shared } = entry;
    // The stream sends requests only; the history describes deliveries.
    expect({ kind, delivery }).toEqual({ kind: "request", delivery: null });
    expect(line).toEqual({
      ...shared,
      sent_code: "thread_not_found",
      query: request.query,
      why: reasons[0] ?? null,
      warnings: entry.warnings.length,
    });
    expect(JSON.stringify(first)).not.toContain(KEYS.dan);
    await deleteThread("thread_2");
    expect(listPaths(await stream.waitForCount(2))).toEqual(["/v1/threads/thread_1", "/v1/threads/thread_2"]);
    expect(stream.events[1]!.data.begins).toBe(false);
    stream.close();
  });

  it("says how long a delivery attempt waited, by its entry in the history [interfaces 14]", async () => {
    const receiver = await api.call(undefined, "POST", LIVE.replace("live", "receivers"), { answers: [200] });
    const hook = { url: receiver.body.url, events: ["thread.deleted"] };
    await api.call("ada", "POST", "/webhooks", hook);
    const stream = await EventStream.open(api, "dan", LIVE);
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const fetchJournal = () => api.call(undefined, "GET", LIVE.replace("live", "journal?kind=delivery"));
    const [attempt] = await waitUntilPasses(async () => {
      const { entries } = (await fetchJournal()).body;
      expect(entries).toHaveLength(1);
      return entries;
    });
    const entries = await waitUntilPasses(async () => {
      const attempts = stream.events.flatMap(({ data }) => data.attempts);
      expect(attempts).toHaveLength(1);
      return attempts;
    });
    expect(entries).toEqual([{ history: attempt.history, duration_ms: attempt.duration_ms }]);
    const { body } = await api.call(undefined, "GET", LIVE.replace("live", `history/${attempt.history}`));
    expect(body).toMatchObject({ kind: "delivery", subject: attempt.delivery.delivery_id });
    stream.close();
  });

  it("continues after the last event that was received [interfaces 11]", async () => {
    await deleteThread("thread_1");
    const stream = await EventStream.open(api, "dan", LIVE);
    const [first] = await stream.waitForCount(1);
    stream.close();
    await deleteThread("thread_2");
    const resumed = await EventStream.open(api, "dan", LIVE, first!.id);
    const [next] = await resumed.waitForCount(1);
    expect([next!.data.begins, listPaths(resumed.events)]).toEqual([false, ["/v1/threads/thread_2"]]);
    resumed.close();
  });

  it("restarts after a reset, a clearing, and in another sandbox of the same name [interfaces 11]", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "again" });
    const path = LIVE.replace("default", "again");
    const stream = await EventStream.open(api, "dan", path);
    await stream.waitForCount(1);
    await api.call(undefined, "POST", "/_control/sandboxes/again/reset");
    expect((await stream.waitForCount(2))[1]!.data).toEqual({
      begins: true,
      attempts: [],
      requests: [],
      history: [],
      dropped: 0,
    });
    await api.call(undefined, "DELETE", "/_control/sandboxes/again/journal");
    const { id, data } = (await stream.waitForCount(3))[2]!;
    expect(data.begins).toBe(true);
    await api.call(undefined, "DELETE", "/_control/sandboxes/again");
    await stream.ended;
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "again" });
    for (const odd of [id, "none", "x.y", `${id}0`]) {
      const other = await EventStream.open(api, "dan", path, odd);
      expect((await other.waitForCount(1))[0]!.data.begins, odd).toBe(true);
      other.close();
    }
  });

  it("sends each change of the world, and again when it is undone [interfaces 11]", async () => {
    const stream = await EventStream.open(api, "dan", LIVE);
    await stream.waitForCount(1);
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const listHistory = () => stream.events.flatMap(({ data }) => data.history);
    // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
    const listLines = () => stream.events.flatMap(({ data }) => data.requests) as any[];
    await expect.poll(() => listLines().length).toBe(1);
    await expect.poll(() => listHistory().length).toBeGreaterThan(0);
    const [entry] = listHistory();
    expect(entry).toMatchObject({ kind: "request", undone: false, kept: true, request: listLines()[0].id });
    expect(listLines()[0].history).toBe(entry.id);
    await api.call(undefined, "POST", `/_control/sandboxes/default/history/${entry.id}/rewind`);
    await expect
      .poll(() => listHistory().filter(({ id, undone }) => id === entry.id && undone).length)
      .toBeGreaterThan(0);
    expect(listHistory().some(({ kind }) => kind === "restore")).toBe(true);
    // A new reader gets the same events immediately.
    const other = await EventStream.open(api, "dan", LIVE, stream.events.at(-1)!.id);
    const [first] = await other.waitForCount(1);
    expect(first!.data).toMatchObject({ begins: false, requests: [] });
    // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
    expect(first!.data.history.find(({ id }: any) => id === entry.id).undone).toBe(true);
    stream.close();
    other.close();
  });

  it("sends a long journal in pieces, and nothing twice [interfaces 11]", async () => {
    for (let count = 0; count < 260; count += 1) await deleteThread(`thread_${count}`);
    const stream = await EventStream.open(api, "dan", LIVE);
    await stream.waitForCount(2);
    expect(stream.events.map(({ data }) => data.requests.length)).toEqual([250, 10]);
    expect(new Set(listPaths(stream.events)).size).toBe(260);
    stream.close();
  });
});
