import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, startReference } from "../support/harness.ts";

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const FORMATS = ["sentences", "paragraphs", "subtitles/srt", "subtitles/vtt"];
const ask = (format: string, headers?: Record<string, string>) =>
  api.call("ada", "GET", `/v1/audio/transcribe/trans_short/${format}`, undefined, headers);

describe("a cache between client and server", () => {
  it.each(FORMATS)(
    "sees the same strong ETag of %s only for the same bytes [RFC 9110 8.8.1]",
    async (format) => {
      const [first, second] = [await ask(format), await ask(format)];
      const etag = first.headers.get("etag")!;
      expect(second.headers.get("etag")).toBe(etag);
      expect(etag.startsWith("W/")).toBe(first.text !== second.text);
    },
  );

  it.each(FORMATS)(
    "gets a 304 for %s if it has not changed, for a weak and for a strong tag",
    async (format) => {
      const etag = (await ask(format)).headers.get("etag")!;
      for (const tag of [etag, etag.replace("W/", ""), `W/${etag.replace("W/", "")}`]) {
        const answer = await ask(format, { "if-none-match": tag });
        expect([answer.status, answer.headers.get("etag")]).toEqual([304, etag]);
      }
      expect((await ask(format, { "if-none-match": 'W/"other"' })).status).toBe(200);
    },
  );

  it.each([
    "/v1/models",
    "/v1/nowhere",
    "/v1/audio/transcribe/trans_short/subtitles/srt",
    "/_control/health",
    "/_control/nowhere",
  ])("keeps the answer of %s from a page of another origin", async (path) => {
    for (const headers of [{}, { origin: "http://localhost:5173" }, { origin: "http://a.test" }]) {
      const answer = await api.call("ada", "GET", path, undefined, headers as Record<string, string>);
      expect(answer.headers.get("vary")).toBe("Origin");
    }
  });
});
