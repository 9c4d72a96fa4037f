import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EventStream } from "../support/event-stream.ts";
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

describe("meeting_sessions.export_transcript", () => {
  it("answers text with a time and a speaker on each line by default [4.1]", async () => {
    const answer = await exportSession("mbsess_standup");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toBe(
      'attachment; filename="transcript_mbsess_standup.txt"',
    );
    const lines = answer.text.trimEnd().split("\n");
    expect(lines).toHaveLength(6);
    for (const line of lines) expect(line).toMatch(/^\[\d\d:\d\d:\d\d\] (Cleo|Dan): \S.+$/);
    expect((await exportSession("mbsess_standup", "txt")).text).toBe(answer.text);
  });

  it("answers an array of entries by start time as JSON [4.1, 2.4]", async () => {
    const answer = await exportSession("mbsess_standup", "json");
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

  it("answers numbered cues with milliseconds as SRT [4.1]", async () => {
    const answer = await exportSession("mbsess_standup", "srt");
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

  it("answers an empty file for an empty transcript [4.1]", async () => {
    expect((await exportSession("mbsess_empty")).text).toBe("");
    expect((await exportSession("mbsess_empty", "srt")).text).toBe("");
    expect((await exportSession("mbsess_empty", "json")).body).toEqual([]);
  });

  it("rounds times down in text, and keeps them exact in SRT [G28]", async () => {
    await say({
      session_id: "mbsess_empty",
      speaker: "A",
      text: "late",
      start_time: 3725.999,
      end_time: 3726.005,
    });
    expect((await exportSession("mbsess_empty")).text).toBe("[01:02:05] A: late\n");
    expect((await exportSession("mbsess_empty", "srt")).text).toBe(
      "1\n01:02:05,999 --> 01:02:06,005\nA: late\n\n",
    );
  });

  it("starts no new line or cue for a line break in a text or speaker [4.1]", async () => {
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
    const text = (await exportSession("mbsess_empty")).text.trimEnd();
    expect(text.split(/[\r\n\u2028\u2029\u0085]/)).toHaveLength(2);
    expect(text).toMatch(/^\[00:00:01\] Zoë Dan: hello 2 00:00:09/);
    const cues = (await exportSession("mbsess_empty", "srt")).text.trimEnd().split(/\r?\n\r?\n/);
    expect(cues).toHaveLength(2);
    for (const cue of cues) {
      expect(cue.split(/[\r\n\u2028\u2029\u0085]/)).toHaveLength(3);
      expect(cue.match(/-->/g)).toHaveLength(1);
    }
    const [first] = (await exportSession("mbsess_empty", "json")).body;
    expect([first.speaker, first.text]).toEqual(["Zoë\r\nDan", forged]);
  });

  it("keeps its headers valid for a title or speaker in any script [4.1]", async () => {
    await callState("PATCH", "meeting_sessions/mbsess_standup", { title: 'Ежедневка\r\nX-Evil: 1 "朝会"' });
    await say({ speaker: "Łukasz 陈", text: "Ça va? 🎧", start_time: 90, end_time: 91 }, "mbsess_standup");
    const answer = await exportSession("mbsess_standup");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-evil")).toBeNull();
    expect(answer.headers.get("content-disposition")).toBe(
      'attachment; filename="transcript_mbsess_standup.txt"',
    );
    expect(answer.text).toContain("[00:01:30] Łukasz 陈: Ça va? 🎧\n");
  });

  it("refuses a non-member, even an owner of another organization [4.1, 7.4]", async () => {
    for (const who of ["dan", "ada", "hana"] as const) {
      const { status, body } = await exportSession("mbsess_secret", "json", who);
      expect([status, body.error.code, body.error.details]).toEqual([
        403,
        "SESSION_ACCESS_DENIED",
        { session_id: "mbsess_secret" },
      ]);
      expect(body.error.type).toBe("authorization_error");
    }
    expect((await exportSession("mbsess_secret", "json", "eve")).body).toHaveLength(3);
  });

  it("answers 404 with the id to an unknown session [4.1, 7.4]", async () => {
    const { status, body } = await exportSession("mbsess_nope");
    expect([status, body.error.code, body.error.details]).toEqual([
      404,
      "SESSION_NOT_FOUND",
      { session_id: "mbsess_nope" },
    ]);
    expect(body.success).toBe(false);
  });

  it("answers 422 to a malformed id or format [G08]", async () => {
    const id = await exportSession("sess_standup");
    expect([id.status, id.body.error.details]).toEqual([422, { field: "session_id", value: "sess_standup" }]);
    const format = await exportSession("mbsess_standup", "vtt");
    expect([format.status, format.body.error.details]).toEqual([422, { field: "format", value: "vtt" }]);
  });
});

describe("meeting_sessions.stop", () => {
  const stop = (session: string, who: Caller = "cleo") =>
    api.call(who, "POST", `${SESSIONS}/${session}/stop`);

  it("ends a session and keeps its data [3.7, G16]", async () => {
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
    expect((await exportSession("mbsess_live", "json")).body).toHaveLength(2);
  });

  it("changes nothing the second time [G16]", async () => {
    const first = await stop("mbsess_live");
    await api.advance(60_000);
    expect((await stop("mbsess_live", "ada")).body).toEqual(first.body);
    const logs = await callState("GET", "meeting_logs?session_id=mbsess_live&limit=100");
    const stopped = logs.body.items.filter(({ message }: { message: string }) => message.includes("stopped"));
    expect(stopped).toHaveLength(1);
  });

  it("is allowed to owners and admins, and not to other members [G16]", async () => {
    const { status, body } = await stop("mbsess_live", "dan");
    expect([status, body.error.code]).toEqual([403, "INSUFFICIENT_PERMISSIONS"]);
    expect((await stop("mbsess_live", "eve")).body.error.code).toBe("SESSION_ACCESS_DENIED");
    expect((await stop("mbsess_nope")).body.error.code).toBe("SESSION_NOT_FOUND");
    expect((await stop("mbsess_live", "ben")).status).toBe(200);
  });
});

describe("meeting_sessions.delete_permanently", () => {
  const remove = (session: string, who: Caller = "cleo") =>
    api.call(who, "DELETE", `${SESSIONS}/${session}/permanent`);

  it("deletes the session, transcripts, logs and recording metadata with 204 [4.2]", async () => {
    for (const collection of ["meeting_transcripts", "meeting_logs", "meeting_recordings"]) {
      const held = await callState("GET", `${collection}?session_id=mbsess_standup`);
      expect(held.body.total, collection).toBeGreaterThan(0);
    }
    const { status, text } = await remove("mbsess_standup");
    expect([status, text]).toEqual([204, ""]);
    expect((await exportSession("mbsess_standup")).body.error.code).toBe("SESSION_NOT_FOUND");
    for (const collection of ["meeting_transcripts", "meeting_logs", "meeting_recordings"]) {
      expect((await callState("GET", `${collection}?session_id=mbsess_standup`)).body.total, collection).toBe(
        0,
      );
    }
    expect((await remove("mbsess_standup")).status).toBe(404);
    expect((await exportSession("mbsess_live", "json")).body).toHaveLength(2);
  });

  it("is allowed to the session's owner, owners and admins, and not to members and non-members [4.2, G16]", async () => {
    expect((await remove("mbsess_live", "dan")).body.error.code).toBe("INSUFFICIENT_PERMISSIONS");
    expect((await remove("mbsess_secret", "ada")).body.error.code).toBe("SESSION_ACCESS_DENIED");
    expect((await remove("mbsess_live", "ben")).status).toBe(204);
    expect((await remove("mbsess_empty", "ada")).status).toBe(204);
  });

  it("leaves nothing for a new session with the same id [4.2]", async () => {
    await remove("mbsess_standup");
    await callState("POST", "meeting_sessions", {
      session_id: "mbsess_standup",
      organization_id: "org_acme",
    });
    expect((await exportSession("mbsess_standup", "json")).body).toEqual([]);
    const stream = await EventStream.open(api, "cleo", `${SESSIONS}/mbsess_standup/logs/stream`);
    expect((await stream.waitForCount(1)).map(({ id }) => id)).toEqual(["1"]);
    stream.close();
  });
});

describe("state calls on meetings", () => {
  it("start a created session with a title, an owner and room for transcripts [G16]", async () => {
    const { status, body } = await callState("POST", "meeting_sessions", {});
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: "running", ended_at: null, started_at: "2026-03-15T12:00:00.000Z" });
    expect(body.title).not.toBe("");
    const first = await say({}, body.session_id);
    const second = await say({}, body.session_id);
    expect(second.body.start_time).toBeGreaterThan(first.body.end_time);
    expect(second.body.text.split(" ").length).toBeGreaterThan(3);
  });

  it("set the start of an entry before its end if only the end is given [2.4]", async () => {
    const late = await say({ end_time: 100 });
    expect(late.status, late.text).toBe(201);
    expect(late.body.start_time).toBeGreaterThan(80);
    expect(late.body.start_time).toBeLessThan(100);
    expect((await say({ end_time: 0.5 })).body).toMatchObject({ start_time: 0, end_time: 0.5 });
  });

  it("keep status and end consistent [3.7]", async () => {
    const stopped = await callState("PATCH", "meeting_sessions/mbsess_live", { status: "completed" });
    expect(stopped.body.ended_at).toBe("2026-03-15T12:00:00.000Z");
    const resumed = await callState("PATCH", "meeting_sessions/mbsess_live", { status: "running" });
    expect(resumed.body.ended_at).toBeNull();
    const broken = await callState("PATCH", "meeting_sessions/mbsess_live", {
      ended_at: "2026-03-15T12:00:00Z",
    });
    expect([broken.status, broken.body.field]).toEqual([422, "ended_at"]);
    const early = await callState("POST", "meeting_sessions", {
      status: "completed",
      started_at: "2026-03-15T12:00:00Z",
      ended_at: "2026-03-15T11:00:00Z",
    });
    expect([early.status, early.body.field]).toEqual([422, "ended_at"]);
  });

  it("let a session that is stopped before its start still be changed [3.7]", async () => {
    const started_at = "2026-03-15T13:00:00.000Z";
    await callState("PATCH", "meeting_sessions/mbsess_live", { started_at });
    const { body } = await api.call("cleo", "POST", `${SESSIONS}/mbsess_live/stop`);
    expect(body.ended_at).toBe(started_at);
    const renamed = await callState("PATCH", "meeting_sessions/mbsess_live", { title: "Called off" });
    expect(renamed.status, renamed.text).toBe(200);
  });

  it("require an existing session and an end after the start for an entry [2.4]", async () => {
    const orphan = await say({ text: "?" }, "mbsess_nope");
    expect([orphan.status, orphan.body.field]).toEqual([422, "session_id"]);
    const backwards = await say({ start_time: 5, end_time: 4 });
    expect([backwards.status, backwards.body.field]).toEqual([422, "end_time"]);
  });

  it("set has_recording from the recordings [4.2]", async () => {
    await callState("PATCH", "meeting_sessions/mbsess_live", { has_recording: true });
    const made = await callState("GET", "meeting_recordings?session_id=mbsess_live");
    expect(made.body.items[0]).toMatchObject({ duration_seconds: null, size_bytes: null });
    await api.call("cleo", "POST", `${SESSIONS}/mbsess_live/stop`);
    const finished = await callState("GET", `meeting_recordings/${made.body.items[0].recording_id}`);
    expect(finished.body.duration_seconds).toBeGreaterThan(0);
    await callState("DELETE", `meeting_recordings/${made.body.items[0].recording_id}`);
    expect((await callState("GET", "meeting_sessions/mbsess_live")).body.has_recording).toBe(false);
  });

  it("give a recording of an ended session its duration, also if they give its start [4.2]", async () => {
    const { started_at } = (await callState("GET", "meeting_sessions/mbsess_standup")).body;
    const made = await callState("POST", "meeting_recordings", { session_id: "mbsess_standup", started_at });
    expect(made.body).toMatchObject({ started_at, duration_seconds: expect.any(Number) });
  });

  it("delete the same records as the API [4.2]", async () => {
    expect((await callState("DELETE", "meeting_sessions/mbsess_standup")).status).toBe(204);
    expect((await callState("GET", "meeting_transcripts?session_id=mbsess_standup")).body.total).toBe(0);
  });

  it("list the documented entries and speakers of the reference world [G16]", async () => {
    const held = await callState("GET", "meeting_transcripts?limit=100");
    const filterSession = (session: string) =>
      held.body.items.filter((entry: { session_id: string }) => entry.session_id === session);
    expect(
      ["mbsess_standup", "mbsess_live", "mbsess_empty", "mbsess_secret"].map(
        (id) => filterSession(id).length,
      ),
    ).toEqual([6, 2, 0, 3]);
    const listSpeakers = (session: string) =>
      [...new Set(filterSession(session).map(({ speaker }: { speaker: string }) => speaker))].sort();
    expect(listSpeakers("mbsess_standup")).toEqual(["Cleo", "Dan"]);
    expect(listSpeakers("mbsess_secret")).toEqual(["Eve"]);
  });
});
