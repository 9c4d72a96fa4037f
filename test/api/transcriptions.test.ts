import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, type Caller, startReference } from "../support/harness.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const BASE = "/v1/audio/transcribe";
const STATE = "/_control/sandboxes/default/state";
const FORMATS = ["sentences", "paragraphs", "subtitles/srt", "subtitles/vtt"] as const;

const get = (id: string, rest = "sentences", headers: Record<string, string> = {}, who: Caller = "dan") =>
  api.call(who, "GET", `${BASE}/${id}/${rest}`, undefined, headers);
const callState = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `${STATE}/${path}`, body);
const follow = (action: { href: string; method: string }) =>
  api.call("dan", action.method, action.href.slice(api.url.length));

interface TimedSentence {
  text: string;
  start: number;
  end: number;
}

describe("transcriptions.list_sentences", () => {
  it("answers all sentences in the success envelope without a limit [4.11, G17]", async () => {
    const { status, body } = await get("trans_interview");
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(["success", "data", "metadata", "actions"]);
    expect(body.success).toBe(true);
    expect(body.data.transcription_id).toBe("trans_interview");
    expect(body.data.sentences).toHaveLength(1200);
    expect(body.metadata).toEqual({
      request_id: expect.stringMatching(/^req_/),
      timestamp: "2026-03-15T12:00:00.000Z",
      processing_time_ms: expect.any(Number),
      upstream_latency_ms: expect.any(Number),
      retry_attempts: expect.any(Number),
      cache_hit: expect.any(Boolean),
      total_count: 1200,
      returned_count: 1200,
    });
    expect(body.actions).not.toHaveProperty("next");
    expect(body.actions).not.toHaveProperty("previous");
  });

  it("has the request's id as metadata.request_id [4.11]", async () => {
    const { headers, body } = await get("trans_short");
    expect(body.metadata.request_id).toBe(headers.get("x-request-id"));
  });

  it("has consecutive sentences that end within the audio [2.5]", async () => {
    const { data } = (await get("trans_interview")).body;
    let clock = 0;
    for (const sentence of data.sentences as TimedSentence[]) {
      expect(Object.keys(sentence)).toEqual(["text", "start", "end"]);
      expect(sentence.start).toBeGreaterThanOrEqual(clock);
      expect(sentence.end).toBeGreaterThan(sentence.start);
      expect(sentence.text).toMatch(/^[A-Z].+[.?]$/);
      clock = sentence.end;
    }
    expect(data.audio_duration_seconds).toBeGreaterThanOrEqual(clock);
  });

  it.each<[number, object, number]>([
    [3, { sentences: 20 }, 20],
    [
      3,
      {
        sentences: [
          { text: "One." },
          { text: "Two, and much longer than what is left of this audio.", start: 2.5 },
          { text: "Three.", end: 2.75 },
        ],
      },
      3,
    ],
    [3, {}, 1],
    [0, {}, 0],
    [20, {}, 4],
  ])("of a fixture have the audio's given length of %d seconds (%j) [2.5]", async (length, fields, count) => {
    const transcriptions = [{ id: "trans_given", audio_duration_seconds: length, ...fields }];
    const fixture = { extends: "reference", transcriptions };
    await api.call(undefined, "POST", "/_control/sandboxes/default/reset", { fixture });
    const { data } = (await get("trans_given")).body;
    expect(data.audio_duration_seconds).toBe(length);
    expect(data.sentences).toHaveLength(count);
    for (const { start, end } of data.sentences as TimedSentence[]) {
      expect(start).toBeLessThanOrEqual(end);
      expect(end).toBeLessThanOrEqual(length);
    }
  });

  it("has the links next and previous through all pages [4.11]", async () => {
    const whole = (await get("trans_interview")).body.data.sentences;
    let page = (await get("trans_interview", "sentences?limit=500")).body;
    expect(page.actions.previous).toBeUndefined();
    const pages = [page];
    while (page.actions.next) {
      page = (await follow(page.actions.next)).body;
      pages.push(page);
    }
    expect(pages.map(({ metadata }) => metadata.returned_count)).toEqual([500, 500, 200]);
    expect(pages.map(({ metadata }) => metadata.total_count)).toEqual([1200, 1200, 1200]);
    expect(pages.flatMap(({ data }) => data.sentences)).toEqual(whole);
    const back = [page];
    while (page.actions.previous) {
      page = (await follow(page.actions.previous)).body;
      back.unshift(page);
    }
    expect(back.map(({ data }) => data)).toEqual(pages.map(({ data }) => data));
  });

  it("has an empty page after the end, whose previous link leads to the last page [4.11]", async () => {
    const { body } = await get("trans_short", "sentences?limit=2&offset=50");
    expect([body.data.sentences, body.metadata.returned_count, body.actions.next]).toEqual([
      [],
      0,
      undefined,
    ]);
    expect((await follow(body.actions.previous)).body.metadata.returned_count).toBe(2);
  });

  it("has a previous link to the sentences before if there is no limit [4.11]", async () => {
    const { body } = await get("trans_interview", "sentences?offset=1190");
    expect(body.metadata.returned_count).toBe(10);
    const { metadata, data } = (await follow(body.actions.previous)).body;
    expect(metadata.returned_count).toBe(1000);
    expect(data.sentences.at(-1).end).toBeLessThanOrEqual(body.data.sentences[0].start);
  });

  it("has next and previous links from any page that lead to each sentence once [4.11]", async () => {
    const whole = (await get("trans_short")).body.data.sentences;
    const total = whole.length;
    for (const limit of ["", "&limit=1", "&limit=2", `&limit=${total - 1}`, "&limit=1000"]) {
      for (const offset of [0, 1, total - 1, total, total + 7]) {
        const first = (await get("trans_short", `sentences?offset=${offset}${limit}`)).body;
        const found = [...first.data.sentences];
        for (let page = first; page.actions.next; ) {
          page = (await follow(page.actions.next)).body;
          found.push(...page.data.sentences);
        }
        for (let page = first; page.actions.previous; ) {
          page = (await follow(page.actions.previous)).body;
          found.unshift(...page.data.sentences);
        }
        expect(found, `offset=${offset}${limit}`).toEqual(whole);
        await api.advance(60_000);
      }
    }
  });

  it("has no other pages for a transcription without sentences [4.11]", async () => {
    const { body } = await callState("POST", "transcriptions", { organization_id: "org_acme" });
    const page = (await get(body.transcription_id, "sentences?limit=5&offset=7")).body;
    expect(page.metadata.total_count).toBe(0);
    expect([page.actions.next, page.actions.previous]).toEqual([undefined, undefined]);
  });

  it("has links in actions that work in every format [4.11, G17]", async () => {
    const answers = [
      await get("trans_interview", "sentences?limit=10&offset=10"),
      await get("trans_short", "paragraphs"),
    ];
    for (const { body } of answers) {
      expect(Object.keys(body.actions)).toEqual(
        expect.arrayContaining(["get_sentences", "get_paragraphs", "get_subtitles_srt", "get_subtitles_vtt"]),
      );
      for (const action of Object.values(body.actions) as { href: string; method: string }[]) {
        expect(action.href.startsWith(`${api.url}/v1/`)).toBe(true);
        expect((await follow(action)).status, action.href).toBe(200);
      }
    }
    expect(answers[0]!.body.actions).toMatchObject({ next: expect.anything(), previous: expect.anything() });
  });

  it("has links that stay within the sandbox of the request [G17]", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "other" });
    const { body } = await api.call("dan", "GET", `/_s/other${BASE}/trans_short/sentences`);
    const { href } = body.actions.get_paragraphs;
    expect(href).toBe(`${api.url}/_s/other${BASE}/trans_short/paragraphs`);
    expect((await follow(body.actions.get_paragraphs)).status).toBe(200);
  });

  it.each([
    ["limit", "0", "0"],
    ["limit", "1001", "1001"],
    ["limit", "ten", "ten"],
    ["limit", "", ""],
    ["offset", "-1", "-1"],
  ])("answers 422 to %s=%s [8, G08]", async (field, text, value) => {
    const { status, body } = await get("trans_interview", `sentences?${field}=${text}`);
    expect([status, body.error.code, body.error.details]).toEqual([422, "INVALID_INPUT", { field, value }]);
  });

  it("has at most 1000 sentences on a page [8]", async () => {
    expect((await get("trans_interview", "sentences?limit=1000")).body.data.sentences).toHaveLength(1000);
  });
});

describe.each(FORMATS)("%s", (format) => {
  it("answers 422 with the status to a transcription that is not completed [4.11, G17]", async () => {
    const { status, body } = await get("trans_pending", format);
    expect([status, body.error.code, body.error.details]).toEqual([
      422,
      "INVALID_INPUT",
      { field: "status", value: "processing" },
    ]);
  });

  it("answers the same 404 to unknown and foreign transcriptions [G17]", async () => {
    for (const [id, who] of [
      ["trans_nope", "dan"],
      ["trans_short", "eve"],
    ] as const) {
      const { status, body } = await get(id, format, {}, who);
      expect([status, body.error.code, body.error.details]).toEqual([
        404,
        "RESOURCE_NOT_FOUND",
        { transcription_id: id },
      ]);
    }
  });

  it("has validators and may be cached for a day [4.11]", async () => {
    const { headers } = await get("trans_short", format);
    expect(headers.get("etag")).toMatch(/^(W\/)?"[0-9a-f]{32}"$/);
    expect(headers.get("last-modified")).toMatch(/^\w{3}, \d\d \w{3} 2026 \d\d:\d\d:\d\d GMT$/);
    expect(headers.get("cache-control")).toBe("public, max-age=86400");
    expect(headers.get("x-pii-redacted")).toBeNull();
    expect(headers.get("x-pii-policies")).toBeNull();
  });

  it("answers 304 without a body to If-None-Match with the tag alone, in a list, weak, or * [4.11]", async () => {
    const fresh = await get("trans_redacted", format);
    const etag = fresh.headers.get("etag")!.replace("W/", "");
    for (const held of [etag, `"other", ${etag}`, `W/${etag}`, `"a,b",W/"x" ,  W/${etag}`, "*", " * "]) {
      const { status, text, headers } = await get("trans_redacted", format, { "if-none-match": held });
      expect([status, text], held).toEqual([304, ""]);
      for (const name of ["etag", "last-modified", "cache-control", "x-pii-redacted", "x-pii-policies"]) {
        expect(headers.get(name), name).toBe(fresh.headers.get(name));
      }
      expect(headers.get("content-length")).toBeNull();
    }
  });

  it("answers the whole content to If-None-Match with other tags or an invalid value [4.11]", async () => {
    const etag = (await get("trans_short", format)).headers.get("etag")!.replace("W/", "");
    for (const held of ['"other"', etag.replaceAll('"', ""), `"${etag.slice(1, -2)}"`, "", ","]) {
      expect((await get("trans_short", format, { "if-none-match": held })).status, held).toBe(200);
    }
  });

  it("answers a refusal, never 304, to If-None-Match [4.11]", async () => {
    expect((await get("trans_pending", format, { "if-none-match": "*" })).status).toBe(422);
    expect((await get("trans_nope", format, { "if-none-match": "*" })).status).toBe(404);
    expect((await get("trans_short", format, { "if-none-match": "*" }, "eve")).status).toBe(404);
  });

  it("answers 304 to If-Modified-Since with the date of Last-Modified or later, in all three formats [G39]", async () => {
    const fresh = await get("trans_short", format);
    const modified = fresh.headers.get("last-modified")!;
    const at = Date.parse(modified);
    const day = new Date(at + 86_400_000);
    const [weekday, date, month, year, time] = day.toUTCString().split(/,? /) as [string, ...string[]];
    const long = day.toLocaleDateString("en", { weekday: "long", timeZone: "UTC" });
    const held = [
      modified,
      day.toUTCString(),
      `${long}, ${date}-${month}-${year!.slice(2)} ${time} GMT`,
      `${weekday} ${month} ${String(Number(date)).padStart(2)} ${time} ${year}`,
    ];
    for (const since of held) {
      const { status, text, headers } = await get("trans_short", format, { "if-modified-since": since });
      expect([status, text, headers.get("etag")], since).toEqual([304, "", fresh.headers.get("etag")]);
    }
    for (const since of [new Date(at - 1000).toUTCString(), "yesterday", String(at), day.toISOString(), ""])
      expect((await get("trans_short", format, { "if-modified-since": since })).status, since).toBe(200);
  });

  it("follows If-None-Match if both conditions are sent [G39]", async () => {
    const { headers } = await get("trans_short", format);
    const [etag, modified] = [headers.get("etag")!, headers.get("last-modified")!];
    const fetchConditionally = async (tag: string, since: string) =>
      (await get("trans_short", format, { "if-none-match": tag, "if-modified-since": since })).status;
    expect(await fetchConditionally('"other"', modified)).toBe(200);
    expect(await fetchConditionally(etag, "Thu, 01 Jan 1970 00:00:00 GMT")).toBe(304);
  });

  it("changes its entity tag if and only if the content changes [4.11]", async () => {
    const first = await get("trans_short", format);
    await api.advance(5000);
    expect((await get("trans_short", format)).headers.get("etag")).toBe(first.headers.get("etag"));
    const { items } = (await callState("GET", "sentences?transcription_id=trans_short")).body;
    await callState("PATCH", `sentences/${items[0].id}`, { text: "Corrected." });
    const changed = await get("trans_short", format);
    expect(changed.headers.get("etag")).not.toBe(first.headers.get("etag"));
    expect(changed.headers.get("last-modified")).toBe("Sun, 15 Mar 2026 12:00:05 GMT");
    expect(changed.text).toContain("Corrected.");
  });

  it("indicates the redaction in the headers and in the text [G17]", async () => {
    const { headers, text } = await get("trans_redacted", format);
    expect(headers.get("x-pii-redacted")).toBe("true");
    expect(headers.get("x-pii-policies")).toBe("person_name,email_address");
    expect(text).toContain("[PERSON_NAME]");
    expect(text).toContain("[EMAIL_ADDRESS]");
    expect(text).not.toMatch(/\S@\S/);
  });
});

describe("transcription formats", () => {
  it("have different entity tags by page and format [4.11]", async () => {
    const tags = await Promise.all(
      [...FORMATS, "sentences?limit=1", "sentences?limit=1&offset=1", "sentences?limit=1000"].map(
        async (rest) => (await get("trans_short", rest)).headers.get("etag"),
      ),
    );
    expect(new Set(tags).size).toBe(tags.length);
  });

  it("contain every sentence once, in order, in paragraphs [G17]", async () => {
    const { sentences } = (await get("trans_interview")).body.data;
    const { body } = await get("trans_interview", "paragraphs");
    const { paragraphs } = body.data;
    expect(paragraphs.map(({ text }: TimedSentence) => text).join(" ")).toBe(
      sentences.map(({ text }: TimedSentence) => text).join(" "),
    );
    expect(paragraphs[0].start).toBe(sentences[0].start);
    expect(paragraphs.at(-1).end).toBe(sentences.at(-1).end);
    expect(paragraphs.length).toBeLessThan(600);
    expect([body.metadata.total_count, body.metadata.returned_count]).toEqual([
      paragraphs.length,
      paragraphs.length,
    ]);
  });

  it("contain a numbered cue for each sentence in SRT [G17]", async () => {
    const answer = await get("trans_short", "subtitles/srt");
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="trans_short.srt"');
    const { sentences } = (await get("trans_short")).body.data;
    const cues = answer.text
      .trimEnd()
      .split("\n\n")
      .map((cue) => cue.split("\n"));
    expect(cues.map(([number]) => number)).toEqual(["1", "2", "3"]);
    expect(cues.map(([, , text]) => text)).toEqual(sentences.map(({ text }: TimedSentence) => text));
    for (const [, time] of cues) expect(time).toMatch(/^\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}$/);
  });

  it("begin with their signature and escape markup in VTT [G17]", async () => {
    const { items } = (await callState("GET", "sentences?transcription_id=trans_short")).body;
    await callState("PATCH", `sentences/${items[0].id}`, { text: "a <b> & -->\r\n\r\n2\nforged" });
    const answer = await get("trans_short", "subtitles/vtt");
    expect(answer.headers.get("content-type")).toBe("text/vtt; charset=utf-8");
    const [signature, ...cues] = answer.text.trimEnd().split("\n\n");
    expect(signature).toBe("WEBVTT");
    expect(cues).toHaveLength(3);
    for (const cue of cues) expect(cue.split("\n")).toHaveLength(3);
    expect(answer.text).toContain("a &lt;b&gt; &amp; --&gt; 2 forged");
  });
});

describe("state calls on transcriptions", () => {
  it("can complete, fill and read one in processing [4.11]", async () => {
    const made = await callState("POST", "transcriptions", {
      status: "processing",
      pii_redaction: ["person_name"],
    });
    expect([made.status, made.body.completed_at]).toEqual([201, null]);
    const id = made.body.transcription_id;
    const first = await callState("POST", "sentences", { transcription_id: id });
    const second = await callState("POST", "sentences", { transcription_id: id });
    expect(first.body.text).toContain("[PERSON_NAME]");
    expect(second.body.start).toBeGreaterThan(first.body.end);
    expect((await get(id)).status).toBe(422);
    const done = await callState("PATCH", `transcriptions/${id}`, { status: "completed" });
    expect(done.body.completed_at).toBe("2026-03-15T12:00:00.000Z");
    const { status, body, headers } = await get(id);
    expect([status, body.metadata.total_count]).toEqual([200, 2]);
    expect(headers.get("x-pii-policies")).toBe("person_name");
  });

  it("keep the audio at least as long as its sentences [2.5]", async () => {
    const { body } = await callState("POST", "sentences", {
      transcription_id: "trans_short",
      start: 900,
      end: 960.5,
    });
    expect(body.end).toBe(960.5);
    expect((await get("trans_short")).body.data.audio_duration_seconds).toBe(960.5);
    const short = await callState("PATCH", "transcriptions/trans_short", { audio_duration_seconds: 1 });
    expect([short.status, short.body.field]).toEqual([422, "audio_duration_seconds"]);
    const over = { transcription_id: "trans_short", start: 1, end: 1000 };
    expect((await callState("POST", "sentences", over)).status).toBe(201);
    expect((await get("trans_short")).body.data.audio_duration_seconds).toBe(1000);
    expect(
      (await callState("PATCH", "transcriptions/trans_short", { audio_duration_seconds: 999 })).status,
    ).toBe(422);
    const backwards = await callState("POST", "sentences", {
      transcription_id: "trans_short",
      start: 5,
      end: 4,
    });
    expect([backwards.status, backwards.body.field]).toEqual([422, "end"]);
    const ending = await callState("POST", "sentences", { transcription_id: "trans_short", end: 0.5 });
    expect(ending.body).toMatchObject({ start: 0, end: 0.5 });
    const orphan = await callState("POST", "sentences", { transcription_id: "trans_nope" });
    expect([orphan.status, orphan.body.field]).toEqual([422, "transcription_id"]);
  });

  it("refuse an end for one that is not completed, and a completed one without an end [4.11]", async () => {
    const none = { completed_at: null };
    const some = { completed_at: "2026-03-15T11:00:00Z" };
    for (const [method, path, fields] of [
      ["PATCH", "/trans_short", none],
      ["PATCH", "/trans_pending", some],
      ["PATCH", "/trans_short", { ...some, status: "failed" }],
      ["POST", "", { ...none, status: "completed" }],
      ["POST", "", { ...some, status: "processing" }],
    ] as const) {
      const { status, body } = await callState(method, `transcriptions${path}`, fields);
      expect([status, body.field]).toEqual([422, "completed_at"]);
    }
  });

  it("refuse a policy that could break a header [G17]", async () => {
    const { status, body } = await callState("PATCH", "transcriptions/trans_short", {
      pii_redaction: ["person_name\r\nX-Evil: 1"],
    });
    expect([status, body.field]).toEqual([422, "pii_redaction[0]"]);
  });

  it("do not advise a client to wait for a transcription that failed [G17, G29]", async () => {
    await callState("PATCH", "transcriptions/trans_pending", { status: "failed" });
    const { message, details } = (await get("trans_pending")).body.error;
    expect([message, details]).toEqual([
      "the transcription must be completed; this one failed",
      { field: "status", value: "failed" },
    ]);
  });

  it("delete the sentences of a deleted transcription [G17]", async () => {
    expect((await callState("DELETE", "transcriptions/trans_short")).status).toBe(204);
    expect((await callState("GET", "sentences?transcription_id=trans_short")).body.total).toBe(0);
    expect((await get("trans_short")).status).toBe(404);
  });
});
