import { describe, expect, it } from "vitest";
import { KEYS } from "../support/harness.ts";
import { sendRawRequest } from "../support/raw-request.ts";
import { useReference } from "../support/use-reference.ts";

const api = useReference();

const BODY = '{"model":"atlas-large","inputs":[{"role":"user","content":"hi"}]}';

/** The status of a model request with these headers, and that of a control call. */
async function post(headers: Record<string, string>): Promise<number[]> {
  const send = (path: string, body: string) =>
    fetch(`${api.url}${path}`, {
      method: "POST",
      headers: { "api-key": KEYS.dan, "content-type": "application/json", ...headers },
      body,
    });
  const model = await send("/v1/model/response", BODY);
  const control = await send("/_control/sandboxes/default/clock/advance", '{"by":"0s"}');
  return [model.status, control.status];
}

describe("a JSON body is accepted", () => {
  it.each(["identity", "Identity", "IDENTITY", "identity, identity", "", " , identity"])(
    "with Content-Encoding %j, whose names have no case [RFC 9110 8.4.1]",
    async (encoding) => {
      expect(await post({ "content-encoding": encoding })).toEqual([200, 200]);
    },
  );

  it.each([
    'application/json; profile="a;charset=latin1"',
    'application/json; profile="a\\";charset=latin1"; charset=utf-8',
    'application/json; charset="utf-8"; profile="x;charset=utf-16"',
  ])("with %s, whose charset is part of another parameter's text [RFC 9110 5.6.6]", async (type) => {
    expect(await post({ "content-type": type })).toEqual([200, 200]);
  });
});

describe("a JSON body is refused", () => {
  it.each(["gzip", "identity, gzip", "GZIP", "identitygzip"])(
    "with Content-Encoding %s",
    async (encoding) => {
      expect(await post({ "content-encoding": encoding })).toEqual([415, 415]);
    },
  );

  it.each([
    "application/json; charset=latin1",
    'application/json; profile="x"; charset=latin1',
    'application/json; charset="iso-8859-1"',
    "application/json; charset=utf-8; charset=utf-16",
  ])("with %s", async (type) => {
    expect(await post({ "content-type": type })).toEqual([415, 415]);
  });
});

describe("an upload's Content-Range", () => {
  it.each(["bytes 0-4/10", "Bytes 0-4/10", "BYTES 0-4/*"])(
    "may be %s: its unit is case-insensitive [RFC 9110 14.1]",
    async (range) => {
      const created = await api.call("dan", "POST", "/v1/organizations/org_acme/files/upload-url", {
        filename: "a.txt",
        file_size: 10,
        mime_type: "text/plain",
      });
      const response = await fetch(created.body.upload_url, {
        method: "PUT",
        headers: { "content-range": range },
        body: "hello",
      });
      expect([response.status, response.headers.get("range")]).toEqual([308, "bytes=0-4"]);
    },
  );
});

describe("a request with LF alone at the ends of its lines, as from `printf | nc`", () => {
  it.each([
    "GET /v1/models HTTP/1.1\nHost: x\n",
    "GET /v1/models HTTP/1.1\r\nHost: x\n",
    "GET /v1/models HTTP/1.0\nHost: x\n",
  ])("is refused with the reason: %j", async (request) => {
    const { status, body } = await sendRawRequest(Number(new URL(api.url).port), [request]);
    expect([status, JSON.parse(body).error.system_message]).toEqual([
      400,
      expect.stringContaining("a line does not end with CR LF"),
    ]);
  });
});
