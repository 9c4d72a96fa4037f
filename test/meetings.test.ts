import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EventStream } from "./event-stream.ts";
import { type Api, startReference, type Who } from "./harness.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const SESSIONS = "/v1/meeting-buddy/sessions";
const STATE = "/_control/sandboxes/default/state";

const exported = (session: string, format = "", who: Who = "dan") =>
  api.call(who, "GET", `${SESSIONS}/${session}/transcripts/export${format && `?format=${format}`}`);
const state = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `${STATE}/${path}`, body);
const say = (fields: object, session_id = "mbsess_live") =>
  state("POST", "meeting_transcripts", { session_id, ...fields });
const world = () => api.understudy.sandboxes.get("default")!.world;

describe("meeting_sessions.export_transcript", () => {
  it("4.1 exports text with a time and a speaker on each line, by default", async () => {
    const answer = await exported("mbsess_standup");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toBe(
      'attachment; filename="transcript_mbsess_standup.txt"',
    );
    const lines = answer.text.trimEnd().split("\n");
    expect(lines).toHaveLength(6);
    for (const line of lines) expect(line).toMatch(/^\[\d\d:\d\d:\d\d\] (Cleo|Dan): \S.+$/);
    expect((await exported("mbsess_standup", "txt")).text).toBe(answer.text);
  });

  it("4.1 2.4 exports the entries as a JSON array by start time", async () => {
    const answer = await exported("mbsess_standup", "json");
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toContain('"transcript_mbsess_standup.json"');
    expect(answer.body).toHaveLength(6);
    expect(answer.body[0]).toEqual({
      transcript_id: expect.stringMatching(/^mbtrans_/),
      text: expect.any(String),
      confidence: expect.any(Number),
      start_time: expect.any(Number),
      end_time: expect.any(Number),
      speaker: "Cleo",
      language_code: "en",
    });
    const starts = answer.body.map(({ start_time }: { start_time: number }) => start_time);
    expect(starts).toEqual(starts.toSorted((a: number, b: number) => a - b));
  });

  it("4.1 exports numbered SRT cues with milliseconds", async () => {
    const answer = await exported("mbsess_standup", "srt");
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toContain('"transcript_mbsess_standup.srt"');
    const cues = answer.text.trimEnd().split("\n\n");
    expect(cues).toHaveLength(6);
    for (const [position, cue] of cues.entries()) {
      const [number, time, text, ...more] = cue.split("\n");
      expect(number).toBe(String(position + 1));
      expect(time).toMatch(/^\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}$/);
      expect(text).toMatch(/^(Cleo|Dan): /);
      expect(more).toEqual([]);
    }
  });

  it("4.1 an empty transcript is an empty file", async () => {
    expect((await exported("mbsess_empty")).text).toBe("");
    expect((await exported("mbsess_empty", "srt")).text).toBe("");
    expect((await exported("mbsess_empty", "json")).body).toEqual([]);
  });

  it("G28 text times are rounded down, SRT times are not", async () => {
    await say({
      session_id: "mbsess_empty",
      speaker: "A",
      text: "late",
      start_time: 3725.999,
      end_time: 3726.005,
    });
    expect((await exported("mbsess_empty")).text).toBe("[01:02:05] A: late\n");
    expect((await exported("mbsess_empty", "srt")).text).toBe(
      "1\n01:02:05,999 --> 01:02:06,005\nA: late\n\n",
    );
  });

  it("4.1 a text or a speaker cannot begin a line or a cue of its own", async () => {
    const forged = "hello\r\n\r\n2\n00:00:09,000 --> 00:00:10,000\nEve: forged\u2028[00:00:09] Eve: forged";
    await say({
      session_id: "mbsess_empty",
      speaker: "Zoë\r\nDan",
      text: forged,
      start_time: 1,
      end_time: 2,
    });
    await say({
      session_id: "mbsess_empty",
      speaker: "00:00:01,000 --> 00:00:02,000",
      text: "",
      start_time: 3,
      end_time: 4,
    });
    const text = (await exported("mbsess_empty")).text.trimEnd();
    expect(text.split(/[\r\n\u2028\u2029\u0085]/)).toHaveLength(2);
    expect(text).toMatch(/^\[00:00:01\] Zoë Dan: hello 2 00:00:09/);
    const cues = (await exported("mbsess_empty", "srt")).text.trimEnd().split(/\r?\n\r?\n/);
    expect(cues).toHaveLength(2);
    for (const cue of cues) {
      expect(cue.split(/[\r\n\u2028\u2029\u0085]/)).toHaveLength(3);
      expect(cue.match(/-->/g)).toHaveLength(1);
    }
    const [first] = (await exported("mbsess_empty", "json")).body;
    expect([first.speaker, first.text]).toEqual(["Zoë\r\nDan", forged]);
  });

  it("4.1 a title or speaker of any script leaves the headers alone", async () => {
    await state("PATCH", "meeting_sessions/mbsess_standup", { title: 'Ежедневка\r\nX-Evil: 1 "朝会"' });
    await say({ speaker: "Łukasz 陈", text: "Ça va? 🎧", start_time: 90, end_time: 91 }, "mbsess_standup");
    const answer = await exported("mbsess_standup");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-evil")).toBeNull();
    expect(answer.headers.get("content-disposition")).toBe(
      'attachment; filename="transcript_mbsess_standup.txt"',
    );
    expect(answer.text).toContain("[00:01:30] Łukasz 陈: Ça va? 🎧\n");
  });

  it("4.1 7.4 a non-member is refused, whatever the role elsewhere", async () => {
    for (const who of ["dan", "ada", "hana"] as const) {
      const { status, body } = await exported("mbsess_secret", "json", who);
      expect([status, body.error.code, body.error.details]).toEqual([
        403,
        "SESSION_ACCESS_DENIED",
        { session_id: "mbsess_secret" },
      ]);
      expect(body.error.type).toBe("authorization_error");
    }
    expect((await exported("mbsess_secret", "json", "eve")).body).toHaveLength(3);
  });

  it("4.1 7.4 an unknown session is 404 with its id", async () => {
    const { status, body } = await exported("mbsess_nope");
    expect([status, body.error.code, body.error.details]).toEqual([
      404,
      "SESSION_NOT_FOUND",
      { session_id: "mbsess_nope" },
    ]);
    expect(body.success).toBe(false);
  });

  it("G08 a malformed id or format is 422", async () => {
    const id = await exported("sess_standup");
    expect([id.status, id.body.error.details]).toEqual([422, { field: "session_id", value: "sess_standup" }]);
    const format = await exported("mbsess_standup", "vtt");
    expect([format.status, format.body.error.details]).toEqual([422, { field: "format", value: "vtt" }]);
  });
});

describe("meeting_sessions.stop", () => {
  const stop = (session: string, who: Who = "cleo") => api.call(who, "POST", `${SESSIONS}/${session}/stop`);

  it("3.7 G16 ends a running session and keeps its data", async () => {
    const { status, body } = await stop("mbsess_live");
    expect(status).toBe(200);
    expect(body).toEqual({
      session_id: "mbsess_live",
      title: expect.any(String),
      status: "completed",
      language_code: "en",
      owner_id: "usr_cleo",
      organization_id: "org_acme",
      started_at: expect.stringMatching(/^2026-03-15T11:/),
      ended_at: "2026-03-15T12:00:00.000Z",
      has_recording: false,
    });
    expect((await exported("mbsess_live", "json")).body).toHaveLength(2);
  });

  it("G16 stopping again changes nothing", async () => {
    const first = await stop("mbsess_live");
    await api.advance(60_000);
    expect((await stop("mbsess_live", "ada")).body).toEqual(first.body);
    const logs = await state("GET", "meeting_logs?session_id=mbsess_live&limit=100");
    const stopped = logs.body.items.filter(({ message }: { message: string }) => message.includes("stopped"));
    expect(stopped).toHaveLength(1);
  });

  it("G16 another member may not stop, an owner or admin of the organization may", async () => {
    const { status, body } = await stop("mbsess_live", "dan");
    expect([status, body.error.code]).toEqual([403, "INSUFFICIENT_PERMISSIONS"]);
    expect((await stop("mbsess_live", "eve")).body.error.code).toBe("SESSION_ACCESS_DENIED");
    expect((await stop("mbsess_nope")).body.error.code).toBe("SESSION_NOT_FOUND");
    expect((await stop("mbsess_live", "ben")).status).toBe(200);
  });
});

describe("meeting_sessions.delete_permanently", () => {
  const remove = (session: string, who: Who = "cleo") =>
    api.call(who, "DELETE", `${SESSIONS}/${session}/permanent`);

  it("4.2 removes the session, transcripts, logs and recording metadata, and answers 204 without a body", async () => {
    for (const collection of ["meeting_transcripts", "meeting_logs", "meeting_recordings"]) {
      const held = await state("GET", `${collection}?session_id=mbsess_standup`);
      expect(held.body.total, collection).toBeGreaterThan(0);
    }
    const { status, text } = await remove("mbsess_standup");
    expect([status, text]).toEqual([204, ""]);
    expect((await exported("mbsess_standup")).body.error.code).toBe("SESSION_NOT_FOUND");
    for (const collection of ["meeting_transcripts", "meeting_logs", "meeting_recordings"]) {
      expect((await state("GET", `${collection}?session_id=mbsess_standup`)).body.total, collection).toBe(0);
    }
    expect((await remove("mbsess_standup")).status).toBe(404);
    expect((await exported("mbsess_live", "json")).body).toHaveLength(2);
  });

  it("4.2 G16 who may: the owner, owners and admins; a member not, a stranger not", async () => {
    expect((await remove("mbsess_live", "dan")).body.error.code).toBe("INSUFFICIENT_PERMISSIONS");
    expect((await remove("mbsess_secret", "ada")).body.error.code).toBe("SESSION_ACCESS_DENIED");
    expect((await remove("mbsess_live", "ben")).status).toBe(204);
    expect((await remove("mbsess_empty", "ada")).status).toBe(204);
  });

  it("4.2 a session that is created anew under the same id starts empty", async () => {
    await remove("mbsess_standup");
    await state("POST", "meeting_sessions", { session_id: "mbsess_standup", organization_id: "org_acme" });
    expect((await exported("mbsess_standup", "json")).body).toEqual([]);
    const stream = await EventStream.open(api, "cleo", `${SESSIONS}/mbsess_standup/logs/stream`);
    expect((await stream.upTo(1)).map(({ id }) => id)).toEqual(["1"]);
    stream.leave();
  });
});

describe("meeting streams", () => {
  const open = (name: string, session = "mbsess_live", lastEventId?: string, who: Who = "dan") =>
    EventStream.open(api, who, `${SESSIONS}/${session}/${name}/stream`, lastEventId);
  const stop = () => api.call("cleo", "POST", `${SESSIONS}/mbsess_live/stop`);

  it("G16 transcripts: what exists first, then what comes, until the session has ended", async () => {
    const stream = await open("transcripts");
    expect(stream.status).toBe(200);
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    expect(await stream.upTo(2)).toHaveLength(2);
    await say({ text: "Is this\nstreamed?", speaker: "Dan" });
    const [, , third] = await stream.upTo(3);
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
    expect((await exported("mbsess_live", "json")).body).toEqual(stream.events.map(({ data }) => data));
  });

  it("G16 Last-Event-ID resumes after that event, without loss or repetition", async () => {
    const first = await open("transcripts");
    await first.upTo(1);
    first.leave();
    await say({ text: "while nobody listened" });
    const again = await open("transcripts", "mbsess_live", "1");
    const events = await again.upTo(2);
    expect(events.map(({ id }) => id)).toEqual(["2", "3"]);
    expect(events[1]!.data.text).toBe("while nobody listened");
    again.leave();
    const last = await open("transcripts", "mbsess_live", "3");
    await say({ text: "and this" });
    expect((await last.upTo(1))[0]).toMatchObject({ id: "4", data: { text: "and this" } });
    last.leave();
  });

  it("G16 an entry that was deleted is not streamed, and gives its id to no other", async () => {
    const { body } = await say({ text: "to be deleted" });
    await state("DELETE", `meeting_transcripts/${body.transcript_id}`);
    await say({ text: "kept" });
    const resumed = await open("transcripts", "mbsess_live", "3");
    expect((await resumed.upTo(1))[0]).toMatchObject({ id: "4", data: { text: "kept" } });
    resumed.leave();
  });

  it.each(["99", "abc", "-1", "1e1"])(
    "G16 an id that was never given (%s) means from the beginning",
    async (id) => {
      const stream = await open("transcripts", "mbsess_live", id);
      expect((await stream.upTo(2)).map((event) => event.id)).toEqual(["1", "2"]);
      stream.leave();
    },
  );

  it("G16 status: running, then completed at the sandbox's instant, then the end", async () => {
    const stream = await open("status");
    expect((await stream.upTo(1))[0]!.data.status).toBe("running");
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

  it("G16 logs: entries with level and message, the stop among them", async () => {
    const stream = await open("logs");
    await stream.upTo(1);
    await state("POST", "meeting_logs", {
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

  it("G16 the stream of a session that has ended tells all and ends", async () => {
    expect(await (await open("transcripts", "mbsess_standup")).ended).toHaveLength(6);
    expect(await (await open("transcripts", "mbsess_empty")).ended).toEqual([]);
  });

  it("G16 deleting the session ends its streams", async () => {
    const streams = await Promise.all(["transcripts", "status", "logs"].map((name) => open(name)));
    await api.call("cleo", "DELETE", `${SESSIONS}/mbsess_live/permanent`);
    await Promise.all(streams.map(({ ended }) => ended));
  });

  it("G16 a reset of the sandbox ends its streams", async () => {
    const stream = await open("transcripts");
    await stream.upTo(2);
    expect((await api.call(undefined, "POST", "/_control/sandboxes/default/reset", {})).status).toBe(200);
    await stream.ended;
  });

  it("G16 after a snapshot was restored, a stream goes on from there", async () => {
    const SNAPSHOTS = "/_control/sandboxes/default/snapshots";
    await api.call(undefined, "POST", SNAPSHOTS, { name: "two" });
    await say({ text: "undone" });
    const stream = await open("transcripts");
    await stream.upTo(3);
    await api.call(undefined, "POST", `${SNAPSHOTS}/two/restore`);
    await say({ text: "instead" });
    expect((await stream.upTo(4))[3]).toMatchObject({ id: "3", data: { text: "instead" } });
    stream.leave();
  });

  it("G16 a client that leaves is not waited for", async () => {
    const before = world()["listeners"].size;
    const streams = await Promise.all(["transcripts", "status", "logs"].map((name) => open(name)));
    await Promise.all(streams.map((stream) => stream.upTo(1)));
    await vi.waitFor(() => expect(world()["listeners"].size).toBe(before + 3));
    for (const stream of streams) stream.leave();
    await vi.waitFor(() => expect(world()["listeners"].size).toBe(before));
    expect((await say({ text: "to nobody" })).status).toBe(201);
  });

  it("G16 a session without anything to tell answers its head at once", async () => {
    await state("POST", "meeting_sessions", { session_id: "mbsess_quiet", organization_id: "org_acme" });
    const stream = await open("transcripts", "mbsess_quiet");
    expect(stream.status).toBe(200);
    await say({ text: "first word" }, "mbsess_quiet");
    expect((await stream.upTo(1))[0]!.data.text).toBe("first word");
    stream.leave();
  });

  it("G16 one client that does not read holds up no other", async () => {
    const stalled = await open("transcripts");
    const reading = await open("transcripts");
    for (let n = 0; n < 20; n++) await say({ text: `line ${n} ${"x".repeat(20_000)}` });
    expect(await reading.upTo(22)).toHaveLength(22);
    reading.leave();
    stalled.leave();
  });

  it.each(["transcripts", "status", "logs"])("G16 %s: strangers 403, unknown sessions 404", async (name) => {
    const path = (session: string) => `${SESSIONS}/${session}/${name}/stream`;
    const foreign = await api.call("dan", "GET", path("mbsess_secret"));
    expect([foreign.status, foreign.body.error.code, foreign.body.error.details]).toEqual([
      403,
      "SESSION_ACCESS_DENIED",
      { session_id: "mbsess_secret" },
    ]);
    const unknown = await api.call("dan", "GET", path("mbsess_nope"));
    expect([unknown.status, unknown.body.error.code]).toEqual([404, "SESSION_NOT_FOUND"]);
  });
});

describe("state of meetings", () => {
  it("G16 a session that is POSTed runs, has a title and an owner, and takes transcripts", async () => {
    const { status, body } = await state("POST", "meeting_sessions", {});
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: "running", ended_at: null, started_at: "2026-03-15T12:00:00.000Z" });
    expect(body.title).not.toBe("");
    const first = await say({}, body.session_id);
    const second = await say({}, body.session_id);
    expect(second.body.start_time).toBeGreaterThan(first.body.end_time);
    expect(second.body.text.split(" ").length).toBeGreaterThan(3);
  });

  it("3.7 status and end hold together", async () => {
    const stopped = await state("PATCH", "meeting_sessions/mbsess_live", { status: "completed" });
    expect(stopped.body.ended_at).toBe("2026-03-15T12:00:00.000Z");
    const resumed = await state("PATCH", "meeting_sessions/mbsess_live", { status: "running" });
    expect(resumed.body.ended_at).toBeNull();
    const broken = await state("PATCH", "meeting_sessions/mbsess_live", { ended_at: "2026-03-15T12:00:00Z" });
    expect([broken.status, broken.body.field]).toEqual([422, "ended_at"]);
    const early = await state("POST", "meeting_sessions", {
      status: "completed",
      started_at: "2026-03-15T12:00:00Z",
      ended_at: "2026-03-15T11:00:00Z",
    });
    expect([early.status, early.body.field]).toEqual([422, "ended_at"]);
  });

  it("2.4 an entry belongs to a session that exists and does not end before it starts", async () => {
    const orphan = await say({ text: "?" }, "mbsess_nope");
    expect([orphan.status, orphan.body.field]).toEqual([422, "session_id"]);
    const backwards = await say({ start_time: 5, end_time: 4 });
    expect([backwards.status, backwards.body.field]).toEqual([422, "end_time"]);
  });

  it("4.2 has_recording and the recording's metadata come and go together", async () => {
    await state("PATCH", "meeting_sessions/mbsess_live", { has_recording: true });
    const made = await state("GET", "meeting_recordings?session_id=mbsess_live");
    expect(made.body.items[0]).toMatchObject({ duration_seconds: null, size_bytes: null });
    await api.call("cleo", "POST", `${SESSIONS}/mbsess_live/stop`);
    const finished = await state("GET", `meeting_recordings/${made.body.items[0].recording_id}`);
    expect(finished.body.duration_seconds).toBeGreaterThan(0);
    await state("DELETE", `meeting_recordings/${made.body.items[0].recording_id}`);
    expect((await state("GET", "meeting_sessions/mbsess_live")).body.has_recording).toBe(false);
  });

  it("4.2 deleting by a state call takes with it what the API would", async () => {
    expect((await state("DELETE", "meeting_sessions/mbsess_standup")).status).toBe(204);
    expect((await state("GET", "meeting_transcripts?session_id=mbsess_standup")).body.total).toBe(0);
  });

  it("G16 the reference world's sessions hold the entries and speakers that it promises", async () => {
    const held = await state("GET", "meeting_transcripts?limit=100");
    const by = (session: string) =>
      held.body.items.filter((entry: { session_id: string }) => entry.session_id === session);
    expect(
      ["mbsess_standup", "mbsess_live", "mbsess_empty", "mbsess_secret"].map((id) => by(id).length),
    ).toEqual([6, 2, 0, 3]);
    const speakers = (session: string) =>
      [...new Set(by(session).map(({ speaker }: { speaker: string }) => speaker))].sort();
    expect(speakers("mbsess_standup")).toEqual(["Cleo", "Dan"]);
    expect(speakers("mbsess_secret")).toEqual(["Eve"]);
  });
});
