import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, KEYS, startReference } from "../support/harness.ts";
import { converse } from "../support/hostile/raw-socket.ts";

let api: Api;
let port: number;
beforeAll(async () => {
  api = await startReference();
  port = Number(new URL(api.url).port);
});
afterAll(() => api.close());

const KEY = `api-key: ${KEYS.ada}\r\n`;
const JSON_TYPE = "Content-Type: application/json\r\n";
const CHUNKED = `${JSON_TYPE}Transfer-Encoding: chunked\r\n`;
const TWICE = "Transfer-Encoding: chunked\r\n";
const GZIPPED = `${JSON_TYPE}Transfer-Encoding: gzip, chunked\r\n`;
const TO_TOP = '{"new_parent_id":null}';

const get = (target: string, headers = `Host: x\r\n${KEY}`) => `GET ${target} HTTP/1.1\r\n${headers}\r\n`;
const remove = (target: string) => `DELETE ${target} HTTP/1.1\r\nHost: x\r\n${KEY}\r\n`;
const post = (headers: string, body: string) =>
  `POST /v1/organizations/org_acme/departments/dept_ml/reparent HTTP/1.1\r\nHost: x\r\n${KEY}${headers}\r\n${body}`;
const postSized = (body: string) => post(`${JSON_TYPE}Content-Length: ${body.length}\r\n`, body);
const getWithHeader = (line: string) => get("/v1/models", `Host: x\r\n${line}\r\n${KEY}`);
/** The body in one chunk of 0x16 bytes. */
const chunk = `16\r\n${TO_TOP}\r\n`;

interface Case {
  name: string;
  send: string | Buffer;
  status: number;
  code?: string;
}

const sendLine = (name: string, send: string | Buffer, status: number, code?: string): Case => ({
  name,
  send,
  status,
  code,
});

/** Requests that HTTP forbids. The server refuses each with a reason and closes the connection. */
const UNREADABLE: readonly Case[] = [
  sendLine("a bare CR in a header", getWithHeader("X-A: a\rb"), 400),
  sendLine("CR LF smuggled into a value by a fold", getWithHeader("X-A: a\r\n b"), 400),
  sendLine("lines that end with LF alone", `GET /v1/models HTTP/1.1\nHost: x\n\n`, 400),
  sendLine("a NUL in a header", getWithHeader("X-A: a\0b"), 400),
  sendLine("a space before the colon", getWithHeader("X-A : a"), 400),
  sendLine("a header of 40,000 characters", getWithHeader(`X-A: ${"a".repeat(40_000)}`), 431),
  sendLine(
    "4,000 headers",
    getWithHeader(Array.from({ length: 4_000 }, (_, i) => `x${i}: abcdef`).join("\r\n")),
    431,
  ),
  sendLine("a target of 40,000 characters", get(`/v1/models?${"a".repeat(40_000)}`), 431),
  sendLine("a NUL in the target", get("/v1/mod\0els"), 400),
  sendLine("bytes over ASCII in the target", get("/v1/mod\xffels"), 400),
  sendLine("no Host", get("/v1/models", KEY), 400),
  sendLine("two Hosts", get("/v1/models", `Host: x\r\nHost: x\r\n${KEY}`), 400),
  sendLine("a Host with a path", get("/v1/models", `Host: x/y\r\n${KEY}`), 400),
  sendLine("an unknown expectation", getWithHeader("Expect: 200-ok"), 417),
  sendLine("CONNECT", "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n", 405),
  sendLine(
    "Content-Length and Transfer-Encoding at once",
    post(`${CHUNKED}Content-Length: 5\r\n`, `0\r\n\r\n${remove("/v1/threads/thread_ada")}`),
    400,
  ),
  sendLine(
    "two Content-Lengths",
    post(`${JSON_TYPE}Content-Length: 22\r\nContent-Length: 5\r\n`, TO_TOP),
    400,
  ),
  sendLine("a list as Content-Length", post(`${JSON_TYPE}Content-Length: 22, 22\r\n`, TO_TOP), 400),
  sendLine("a negative Content-Length", post(`${JSON_TYPE}Content-Length: -1\r\n`, TO_TOP), 400),
  sendLine("a Content-Length with a sign", post(`${JSON_TYPE}Content-Length: +22\r\n`, TO_TOP), 400),
  sendLine(
    "a Content-Length beyond 64 bits",
    post(`${JSON_TYPE}Content-Length: 99999999999999999999\r\n`, ""),
    400,
  ),
  sendLine("Transfer-Encoding: gzip", post(`${JSON_TYPE}Transfer-Encoding: gzip\r\n`, TO_TOP), 400),
  sendLine(
    "Transfer-Encoding: chunked, identity",
    post(`${JSON_TYPE}Transfer-Encoding: chunked, identity\r\n`, `${chunk}0\r\n\r\n`),
    400,
  ),
  sendLine("gzip, chunked as Transfer-Encoding", post(`${GZIPPED}`, `${chunk}0\r\n\r\n`), 501),
  sendLine("chunked twice as Transfer-Encoding", post(`${CHUNKED}${TWICE}`, `${chunk}0\r\n\r\n`), 400),
  sendLine("Transfer-Encoding: xchunked", post(`${JSON_TYPE}Transfer-Encoding: xchunked\r\n`, chunk), 400),
  sendLine("a chunk size that is not a number", post(CHUNKED, `zz\r\n${TO_TOP}\r\n0\r\n\r\n`), 400),
  sendLine("a chunk size beyond 64 bits", post(CHUNKED, `fffffffffffffffff\r\n${TO_TOP}`), 400),
  sendLine("a chunk longer than announced", post(CHUNKED, `5\r\n${TO_TOP}\r\n0\r\n\r\n`), 400),
  sendLine("a chunk extension of 20,000 characters", post(CHUNKED, `16;${"a".repeat(20_000)}\r\n`), 400),
  sendLine("a method in small letters", "get /v1/models HTTP/1.1\r\nHost: x\r\n\r\n", 400),
  sendLine("a method of its own", "FOO /v1/models HTTP/1.1\r\nHost: x\r\n\r\n", 400),
  sendLine("HTTP/3.7", "GET /v1/models HTTP/3.7\r\nHost: x\r\n\r\n", 400),
  sendLine("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
  sendLine("a TLS handshake", Buffer.from("16030100c8010000c40303", "hex"), 400),
  sendLine("garbage", Buffer.from([0, 1, 2, 255, 254, 13, 10, 13, 10]), 400),
];

const bomb = {
  deep: "[".repeat(200_000),
  deepObject: '{"a":'.repeat(50_000),
  keys: `{${Array.from({ length: 200_000 }, (_, i) => `"k${i}":0`).join(",")}}`,
  number: `{"new_parent_id":${"9".repeat(1_000_000)}}`,
  text: `{"new_parent_id":"${"\\u0000".repeat(300_000)}"}`,
  sameKey: `{${'"a":1,'.repeat(100_000)}"new_parent_id":7}`,
};

/** Unusual but valid requests. Each gets the documented answer of the API. */
const ODD: readonly Case[] = [
  sendLine("an empty Host", get("/v1/models", `Host:\r\n${KEY}`), 200),
  sendLine("an absolute target of another host", get("http://evil.test/v1/models"), 200),
  sendLine("an absolute target without a path", get("http://evil.test?x=1"), 404, "RESOURCE_NOT_FOUND"),
  sendLine("an absolute target without a host", get("http://"), 404, "RESOURCE_NOT_FOUND"),
  sendLine("the target *", get("*"), 404, "RESOURCE_NOT_FOUND"),
  sendLine("OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 404, "RESOURCE_NOT_FOUND"),
  sendLine("TRACE", `TRACE /v1/models HTTP/1.1\r\nHost: x\r\n${KEY}\r\n`, 405, "METHOD_NOT_ALLOWED"),
  sendLine("a path with .. in it", get("/v1/../v1/models"), 404, "RESOURCE_NOT_FOUND"),
  sendLine("a path with two slashes", get("//v1/models"), 404, "RESOURCE_NOT_FOUND"),
  sendLine("a path with a parameter of its own", get("/v1/models;x=1"), 404, "RESOURCE_NOT_FOUND"),
  sendLine("a broken escape", remove("/v1/threads/%"), 404, "RESOURCE_NOT_FOUND"),
  sendLine("an escape that is not UTF-8", remove("/v1/threads/%ff"), 404, "RESOURCE_NOT_FOUND"),
  sendLine("an escaped NUL", remove("/v1/threads/thread_%00"), 422, "INVALID_INPUT"),
  sendLine("an escaped slash", remove("/v1/threads/thread_a%2fb"), 422, "INVALID_INPUT"),
  sendLine("an escaped line break", remove("/v1/threads/thread_%0d%0aX-Evil:%201"), 422, "INVALID_INPUT"),
  sendLine(
    "an id of 3,000 characters",
    remove(`/v1/threads/thread_${"a".repeat(3_000)}`),
    422,
    "INVALID_INPUT",
  ),
  sendLine(
    "line breaks and a euro sign where the organization stands",
    get("/v1/analytics/usage/limits/org_%0d%0aX-Evil:%201%e2%82%ac"),
    422,
    "INVALID_INPUT",
  ),
  sendLine(
    "a query of broken escapes",
    get("/v1/analytics/usage/limits/org_acme?month=%&year=%ff"),
    422,
    "INVALID_INPUT",
  ),
  sendLine("a sandbox named by an escape", get("/_s/%ff/v1/models"), 404),
  sendLine("a sandbox named ..", get("/_s/../_control/health"), 404),
  sendLine("a sandbox named __proto__", getWithHeader("X-Sandbox: __proto__"), 404),
  sendLine("two X-Sandbox headers", getWithHeader("X-Sandbox: default\r\nX-Sandbox: default"), 404),
  sendLine(
    "2,500 headers",
    getWithHeader(Array.from({ length: 2_500 }, (_, i) => `x${i}: a`).join("\r\n")),
    200,
  ),
  sendLine("an upgrade to a WebSocket", getWithHeader("Connection: Upgrade\r\nUpgrade: websocket"), 200),
  sendLine("HTTP/1.0 without a Host", `GET /v1/models HTTP/1.0\r\n${KEY}\r\n`, 200),
  sendLine("a chunked body", post(CHUNKED, `${chunk}0\r\n\r\n`), 200),
  sendLine("a chunked body with trailers", post(CHUNKED, `${chunk}0\r\napi-key: x\r\n\r\n`), 200),
  sendLine(
    "Expect: 100-continue",
    post(`${JSON_TYPE}Expect: 100-continue\r\nContent-Length: 22\r\n`, TO_TOP),
    200,
  ),
  sendLine(
    "1 GB announced",
    post(`${JSON_TYPE}Content-Length: 999999999\r\n`, TO_TOP),
    413,
    "PAYLOAD_TOO_LARGE",
  ),
  sendLine("a byte order mark", postSized(`\xef\xbb\xbf${TO_TOP}`), 200),
  sendLine("UTF-16", postSized(Buffer.from(TO_TOP, "utf16le").toString("latin1")), 400, "INVALID_JSON"),
  sendLine("bytes that are no UTF-8", postSized('"\xff"'), 400, "INVALID_JSON"),
  sendLine("a surrogate in UTF-8", postSized('"\xed\xa0\x80"'), 400, "INVALID_JSON"),
  sendLine("an overlong slash", postSized('{"a":"\xc0\xaf"}'), 400, "INVALID_JSON"),
  sendLine("200,000 open brackets", postSized(bomb.deep), 400, "INVALID_JSON"),
  sendLine("50,000 nested objects", postSized(bomb.deepObject), 400, "INVALID_JSON"),
  sendLine("200,000 keys", postSized(bomb.keys), 400, "INVALID_JSON"),
  sendLine("200,000 list entries", postSized(`[${"1,".repeat(200_000)}1]`), 400, "INVALID_JSON"),
  sendLine("200,000 commas within a text", postSized(`"${",".repeat(200_000)}"`), 422, "INVALID_INPUT"),
  sendLine("100,000 times the same key and once more", postSized(bomb.sameKey), 400, "INVALID_JSON"),
  sendLine("a number of a million digits", postSized(bomb.number), 422, "INVALID_INPUT"),
  sendLine("a text of 300,000 NULs", postSized(bomb.text), 422, "INVALID_INPUT"),
];

async function expectAlive(): Promise<void> {
  const [answer] = (await converse(port, [get("/v1/models")])).answers;
  expect(answer?.status).toBe(200);
}

describe("a hostile HTTP request", () => {
  it.each(UNREADABLE)("is $status for $name, and the connection ends [G09]", async ({ send, status }) => {
    const { answers, closed } = await converse(port, [send]);
    expect(answers.map((answer) => answer.status)).toEqual([status]);
    const [{ headers, body }] = answers as [(typeof answers)[0]];
    const { error } = JSON.parse(body);
    const type = status < 500 ? "client_error" : "server_error";
    expect(error).toMatchObject({ code: `HTTP_${status}`, status, type });
    expect(error.system_message).toMatch(/^It was refused unread: \S/);
    expect(error.system_message).not.toMatch(/HPE_|ERR_|unknown reason/);
    expect(error.trace_id).toBe(headers["x-request-id"]);
    expect(error.timestamp).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(headers["connection"]).toBe("close");
    expect(closed).toBe(true);
    await expectAlive();
  });

  it.each([
    [
      "a TLS handshake",
      Buffer.from("16030100c8010000c40303", "hex"),
      "it is TLS, and this port speaks plain HTTP",
    ],
    [
      "an unknown method",
      "FOO /v1/models HTTP/1.1\r\nHost: x\r\n\r\n",
      "does not begin with a method of HTTP",
    ],
    ["unescaped UTF-8", get("/v1/mod\xc3\xa9ls"), "characters other than ASCII are percent-encoded"],
    ["a space in the path", get("/v1/mod els"), "a space in a path is written %20"],
    [
      "a coding that is not decoded",
      post(GZIPPED, `${chunk}0\r\n\r\n`),
      'Transfer-Encoding "gzip, chunked" is not',
    ],
  ])("is refused with the reason in a sentence for %s [G29]", async (_name, send, reason) => {
    const [answer] = (await converse(port, [send])).answers;
    expect(JSON.parse(answer!.body).error.system_message).toContain(reason);
  });

  it.each(ODD)("is answered with $status for $name [G09]", async ({ send, status, code }) => {
    const { answers } = await converse(port, [send]);
    expect(answers.map((answer) => answer.status)).toEqual([status]);
    const [{ headers, body }] = answers as [(typeof answers)[0]];
    expect(headers["x-evil"]).toBeUndefined();
    expect(headers["x-sandbox-decision"]).toBeDefined();
    expect(headers["content-type"]).toMatch(/^application\/json/);
    if (code) expect(JSON.parse(body).error.code).toBe(code);
    await expectAlive();
  });

  it("does not run if it is smuggled in behind a refused body [G09]", async () => {
    const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default/state/threads/thread_ada");
    expect(body.id).toBe("thread_ada");
  });

  it("is answered in its order if it is pipelined [G09]", async () => {
    const unread = post("Content-Type: text/plain\r\nContent-Length: 22\r\n", TO_TOP);
    const requests = [
      get("/v1/models"),
      remove("/v1/threads/thread_none"),
      unread,
      get("/v1/nothing"),
      get("/v2/models"),
    ];
    const { answers } = await converse(port, [requests.join("")], requests.length);
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 415, 404, 200]);
  });

  it("does not replace the answers to earlier requests if it cannot be read [G09]", async () => {
    // Node's client sends the body of a DELETE without its length.
    const removal = remove("/v1/threads/thread_none");
    const { answers, closed } = await converse(port, [get("/v1/models") + removal, "x", "yz"], 3);
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 400]);
    const slow = get("/v1/models", `Host: x\r\nX-Sandbox-Delay: 100ms\r\n${KEY}`);
    const delayed = await converse(port, [slow, "x", "y", "z"], 2);
    expect(delayed.answers.map(({ status }) => status)).toEqual([200, 400]);
    expect([closed, delayed.closed]).toEqual([true, true]);
    const broken = post("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", "no size\r\n");
    const pipelined = await converse(port, [slow + broken], 2);
    expect(pipelined.answers.map(({ status }) => status)).toEqual([200, 400]);
  });

  it("may be a GET with a body, which is not read as the next request [G09]", async () => {
    const inner = remove("/v1/threads/thread_ada");
    const asked = get("/v1/models", `Host: x\r\n${KEY}Content-Length: ${inner.length}\r\n`) + inner;
    const { answers } = await converse(port, [asked + get("/v2/models")], 2);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const { status } = await api.call(
      undefined,
      "GET",
      "/_control/sandboxes/default/state/threads/thread_ada",
    );
    expect(status).toBe(200);
  });

  it("may come in pieces of one byte [G09]", async () => {
    const { answers } = await converse(port, [...get("/v1/models")]);
    expect(answers.map(({ status }) => status)).toEqual([200]);
  });

  it("affects no other client if its client leaves at any byte [G09]", async () => {
    const before = await api.call(undefined, "GET", "/_control/sandboxes/default/state/departments/dept_ml");
    const whole = postSized('{"new_parent_id":"dept_ops"}');
    const ends = Array.from({ length: 40 }, (_, i) => Math.floor((i / 40) * whole.length));
    const { connect } = await import("node:net");
    await Promise.all(
      ends.map(
        (end) =>
          new Promise<void>((resolve) => {
            const socket = connect(port, "127.0.0.1", () => {
              socket.write(whole.slice(0, end), () => socket.resetAndDestroy());
            });
            socket.on("error", () => {});
            socket.on("close", () => resolve());
          }),
      ),
    );
    await expectAlive();
    const after = await api.call(undefined, "GET", "/_control/sandboxes/default/state/departments/dept_ml");
    expect(after.body).toEqual(before.body);
  });
});
