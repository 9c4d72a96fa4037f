import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Reply, StreamBody } from "../../src/engine/contract/reply.ts";
import type { Services } from "../../src/engine/contract/services.ts";
import { streamTranscripts } from "../../src/engine/resources/meeting-sessions/streams.ts";
import { EventStream } from "../support/event-stream.ts";
import { waitUntilPasses } from "../support/eventually.ts";
import { type Api, type Caller, startReference } from "../support/harness.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const SESSIONS = "/v1/meeting-buddy/sessions";
const STATE = "/_control/sandboxes/default/state";

const exportSession = (session: string, format = "", who: Caller = "dan") =>
  api.call(who, "GET", `${SESSIONS}/${session}/transcripts/export${format && `?format=${format}`}`);
const callState = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `${STATE}/${path}`, body);
const say = (fields: object, session_id = "mbsess_live") =>
  callState("POST", "meeting_transcripts", { session_id, ...fields });
const getWorld = () => api.understudy.sandboxes.get("default")!.world;

describe("meeting streams", () => {
  const open = (name: string, session = "mbsess_live", lastEventId?: string, who: Caller = "dan") =>
    EventStream.open(api, who, `${SESSIONS}/${session}/${name}/stream`, lastEventId);
  const stop = () => api.call("cleo", "POST", `${SESSIONS}/mbsess_live/stop`);

  it("a transcript stream sends existing entries, then new ones, until the session ends [G16]", async () => {
    const stream = await open("transcripts");
    expect(stream.status).toBe(200);
    expect(stream.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(await stream.waitForCount(2)).toHaveLength(2);
    await say({ text: "Is this\nstreamed?", speaker: "Dan" });
    const [, , third] = await stream.waitForCount(3);
    expect(third!.data).toEqual({
      transcript_id: expect.stringMatching(/^mbtrans_/),
      text: "Is this\nstreamed?",
      confidence: expect.any(Number),
      start_time: expect.any(Number),
      end_time: expect.any(Number),
      speaker: "Dan",
      language_code: "en",
    });
    await stop();
    expect((await stream.ended).map(({ id }) => id)).toEqual(["1", "2", "3"]);
    expect((await exportSession("mbsess_live", "json")).body).toEqual(stream.events.map(({ data }) => data));
  });

  it("a stream resumes after Last-Event-ID without loss or repetition [G16]", async () => {
    const first = await open("transcripts");
    await first.waitForCount(1);
    first.close();
    await say({ text: "while nobody listened" });
    const again = await open("transcripts", "mbsess_live", "1");
    const events = await again.waitForCount(2);
    expect(events.map(({ id }) => id)).toEqual(["2", "3"]);
    expect(events[1]!.data.text).toBe("while nobody listened");
    again.close();
    const last = await open("transcripts", "mbsess_live", "3");
    await say({ text: "and this" });
    expect((await last.waitForCount(1))[0]).toMatchObject({ id: "4", data: { text: "and this" } });
    last.close();
  });

  it("a deleted entry is not streamed, and no other entry has its event id [G16]", async () => {
    const { body } = await say({ text: "to be deleted" });
    await callState("DELETE", `meeting_transcripts/${body.transcript_id}`);
    await say({ text: "kept" });
    const resumed = await open("transcripts", "mbsess_live", "3");
    expect((await resumed.waitForCount(1))[0]).toMatchObject({ id: "4", data: { text: "kept" } });
    resumed.close();
  });

  it.each(["99", "abc", "-1", "1e1"])(
    "the unknown Last-Event-ID %s starts from the beginning [G16]",
    async (id) => {
      const stream = await open("transcripts", "mbsess_live", id);
      expect((await stream.waitForCount(2)).map((event) => event.id)).toEqual(["1", "2"]);
      stream.close();
    },
  );

  it("a status stream sends running, then completed, then ends [G16]", async () => {
    const stream = await open("status");
    expect((await stream.waitForCount(1))[0]!.data.status).toBe("running");
    await api.advance(90_000);
    await stop();
    const events = await stream.ended;
    expect(events.map(({ id, data }) => [id, data.status])).toEqual([
      ["1", "running"],
      ["2", "completed"],
    ]);
    expect(events[1]!.data).toEqual({ status: "completed", at: "2026-03-15T12:01:30.000Z" });
    expect(await (await open("status", "mbsess_live", "1")).ended).toEqual([events[1]]);
    expect(await (await open("status", "mbsess_live", "2")).ended).toEqual([]);
  });

  it("a log stream sends level and message, also for the stop [G16]", async () => {
    const stream = await open("logs");
    await stream.waitForCount(1);
    await callState("POST", "meeting_logs", {
      session_id: "mbsess_live",
      level: "warning",
      message: "Low volume.",
    });
    await stop();
    const events = await stream.ended;
    expect(events.at(-2)!.data).toEqual({
      at: "2026-03-15T12:00:00.000Z",
      level: "warning",
      message: "Low volume.",
    });
    expect(events.at(-1)!.data.message).toBe("Session stopped by Cleo Martin.");
    for (const { data } of events) expect(Object.keys(data)).toEqual(["at", "level", "message"]);
  });

  it("the stream of an ended session sends all entries and ends [G16]", async () => {
    expect(await (await open("transcripts", "mbsess_standup")).ended).toHaveLength(6);
    expect(await (await open("transcripts", "mbsess_empty")).ended).toEqual([]);
  });

  it("the streams of a deleted session end [G16]", async () => {
    const streams = await Promise.all(["transcripts", "status", "logs"].map((name) => open(name)));
    await api.call("cleo", "DELETE", `${SESSIONS}/mbsess_live/permanent`);
    const ends = await Promise.all(streams.map(({ ended }) => ended));
    expect(ends).toHaveLength(3);
  });

  it("a slow client of a deleted session gets no entries of a new session with its id [G37]", async () => {
    const services = {
      read: () => getWorld().read(),
      waitForChange: (signal: AbortSignal) => getWorld().waitForChange(signal),
      isClosed: false,
    } as Partial<Services> as Services;
    const call = { params: { session_id: "mbsess_live" }, headers: {} } as never;
    const reply = (await streamTranscripts.finish!(call, undefined, services)) as Reply;
    const chunks = (
      (reply.body as StreamBody).chunks(new AbortController().signal) as AsyncGenerator<string>
    )[Symbol.asyncIterator]();
    const texts: string[] = [];
    for (let n = 0; n < 2; n++) texts.push((await chunks.next()).value as string);
    const { body: session } = await callState("GET", "meeting_sessions/mbsess_live");
    expect((await callState("DELETE", "meeting_sessions/mbsess_live")).status).toBe(204);
    expect((await callState("POST", "meeting_sessions", session)).status).toBe(201);
    for (let n = 0; n < 5; n++) await say({ text: "of another session" });
    for (let next = await chunks.next(); !next.done; next = await chunks.next())
      texts.push(String(next.value));
    expect(texts.join("")).not.toContain("of another session");
  });

  it("a reset of the sandbox closes its streams [G16]", async () => {
    const stream = await open("transcripts");
    await stream.waitForCount(2);
    expect((await api.call(undefined, "POST", "/_control/sandboxes/default/reset", {})).status).toBe(200);
    await stream.ended;
  });

  it("a stream continues from a restored snapshot [G16]", async () => {
    const SNAPSHOTS = "/_control/sandboxes/default/snapshots";
    await api.call(undefined, "POST", SNAPSHOTS, { name: "two" });
    await say({ text: "undone" });
    const stream = await open("transcripts");
    await stream.waitForCount(3);
    await api.call(undefined, "POST", `${SNAPSHOTS}/two/restore`);
    await say({ text: "instead" });
    expect((await stream.waitForCount(4))[3]).toMatchObject({ id: "3", data: { text: "instead" } });
    stream.close();
  });

  it("a stream does not wait for a client that has left [G16]", async () => {
    const before = getWorld()["listeners"].size;
    const streams = await Promise.all(["transcripts", "status", "logs"].map((name) => open(name)));
    await Promise.all(streams.map((stream) => stream.waitForCount(1)));
    await waitUntilPasses(() => expect(getWorld()["listeners"].size).toBe(before + 6));
    for (const stream of streams) stream.close();
    await waitUntilPasses(() => expect(getWorld()["listeners"].size).toBe(before));
    expect((await say({ text: "to nobody" })).status).toBe(201);
  });

  it("a stream without entries sends its headers at once [G16]", async () => {
    await callState("POST", "meeting_sessions", { session_id: "mbsess_quiet", organization_id: "org_acme" });
    const stream = await open("transcripts", "mbsess_quiet");
    expect(stream.status).toBe(200);
    await say({ text: "first word" }, "mbsess_quiet");
    expect((await stream.waitForCount(1))[0]!.data.text).toBe("first word");
    stream.close();
  });

  it("a client that does not read does not delay others [G16]", async () => {
    const stalled = await open("transcripts");
    const reading = await open("transcripts");
    for (let n = 0; n < 20; n++) await say({ text: `line ${n} ${"x".repeat(20_000)}` });
    expect(await reading.waitForCount(22)).toHaveLength(22);
    reading.close();
    stalled.close();
  });

  it.each(["transcripts", "status", "logs"])(
    "the stream %s is 403 for non-members and 404 for unknown sessions [G16]",
    async (name) => {
      const getPath = (session: string) => `${SESSIONS}/${session}/${name}/stream`;
      const foreign = await api.call("dan", "GET", getPath("mbsess_secret"));
      expect([foreign.status, foreign.body.error.code, foreign.body.error.details]).toEqual([
        403,
        "SESSION_ACCESS_DENIED",
        { session_id: "mbsess_secret" },
      ]);
      const unknown = await api.call("dan", "GET", getPath("mbsess_nope"));
      expect([unknown.status, unknown.body.error.code]).toEqual([404, "SESSION_NOT_FOUND"]);
    },
  );
});
