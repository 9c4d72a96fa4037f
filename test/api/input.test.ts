import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { KEYS } from "../support/harness.ts";
import { CONFIGS, REPARENT, TO_OPS, useReferencePerTest } from "../support/reference-per-test.ts";
import { getStateRules } from "../support/state-rules.ts";

const api = useReferencePerTest();
const { listConfigs, restart } = api;

describe("a request's input [G08, G09]", () => {
  it("is validated in the path before the body, and the field is named as declared [G08]", async () => {
    const path = "/v1/organizations/acme/departments/dept_ml/reparent";
    const { status, body } = await api.call("ada", "POST", path, { new_parent_id: 1 });
    expect([status, body.error.details]).toEqual([422, { field: "organization_id", value: "acme" }]);
  });

  it.each([
    ["no JSON", "{", {}],
    ["nothing", "", {}],
    ["invalid UTF-8", new Uint8Array([0x22, 0xff, 0x22]), {}],
    ["too deep", `${"[".repeat(5000)}${"]".repeat(5000)}`, {}],
  ])("is 400 INVALID_JSON if the body is %s [G09]", async (_what, body, headers) => {
    const answer = await api.call("ada", "POST", REPARENT, body, {
      "content-type": "application/json",
      ...headers,
    });
    expect([answer.status, answer.body.error.code, answer.body.error.type]).toEqual([
      400,
      "INVALID_JSON",
      "client_error",
    ]);
  });

  it("is refused with the list of all types that a field may have [G08]", async () => {
    const { body } = await api.call("ada", "POST", REPARENT, { new_parent_id: 1 });
    expect(body.error.message).toBe("new_parent_id must be string or null");
  });

  it.each([[[]], ["text"], [7], [null]])(
    "is 422 with field body if the body %j is not an object [G08]",
    async (value) => {
      const answer = await api.call("ada", "POST", REPARENT, JSON.stringify(value), {
        "content-type": "application/json",
      });
      expect([answer.status, answer.body.error.details.field]).toEqual([422, "body"]);
    },
  );

  it.each([
    ["text/plain", {}],
    ["application/x-www-form-urlencoded", {}],
    ["application/json", { "content-encoding": "gzip" }],
  ])("is 415 for the content type %s %j [G09]", async (type, headers) => {
    const answer = await api.call("ada", "POST", REPARENT, JSON.stringify(TO_OPS), {
      "content-type": type,
      ...headers,
    });
    expect([answer.status, answer.body.error.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
  });

  it.each(["application/json; charset=utf-8", "APPLICATION/JSON", "application/merge-patch+json"])(
    "is read as JSON for the content type %s [G09]",
    async (type) => {
      const headers = { "content-type": type };
      expect((await api.call("ada", "POST", REPARENT, JSON.stringify(TO_OPS), headers)).status).toBe(200);
    },
  );

  it("is 413 over json_limit_mb, and the next request on a new connection is answered [G09]", async () => {
    await restart({ json_limit_mb: 0.001 });
    const large = { new_parent_id: null, note: "x".repeat(2_000) };
    const answer = await api.call("ada", "POST", REPARENT, large);
    expect([answer.status, answer.body.error.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    expect(answer.body.error.details).toEqual({ limit_bytes: 1048 });
    expect((await api.call("ada", "POST", REPARENT, TO_OPS)).status).toBe(200);
  });

  it("may have unknown fields in its body, with a warning in the journal [G09]", async () => {
    const { status } = await api.call("ada", "POST", REPARENT, { ...TO_OPS, surprise: 1 });
    expect(status).toBe(200);
    const [entry] = api.understudy.sandboxes.get("default")!.journal.entries().slice(-1);
    expect(entry!.warnings).toEqual([expect.stringContaining("surprise")]);
  });

  it("gets one warning with a count for many unknown fields [G09]", async () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`x${i}`, i]));
    await api.call("ada", "POST", REPARENT, { ...TO_OPS, ...many });
    await api.call("ada", "POST", REPARENT, { ...TO_OPS, a: 1, b: 2, ["c".repeat(5000)]: 3 });
    const [first, second] = api.understudy.sandboxes.get("default")!.journal.entries().slice(-2);
    expect(first!.warnings).toEqual([
      "50000 unknown body fields were ignored: x0, x1, x2, x3, x4 and 49995 more",
    ]);
    expect(second!.warnings).toEqual([`3 unknown body fields were ignored: a, b, ${"c".repeat(100)}`]);
  });

  it("is 422 for unknown fields with unknown_fields reject, and nothing happens [G09]", async () => {
    await restart({ unknown_fields: "reject" });
    const { status, body } = await api.call("ada", "POST", REPARENT, { ...TO_OPS, surprise: 1 });
    expect([status, body.error.details]).toEqual([422, { field: "surprise", value: 1 }]);
    expect(getStateRules(api, "departments").get("dept_ml").parent_id).toBe("dept_eng");
  });

  it.each([
    ["inputs[0].note", { role: "user", content: "Hello", note: { a: 1 } }],
    [
      "inputs[0].content[0].note",
      { role: "user", content: [{ type: "text", text: "Hello", note: { a: 1 } }] },
    ],
    ["inputs[0].texts[0].note", { role: "user", texts: [{ text: "Hello", note: { a: 1 } }] }],
  ])("is shown as it was sent for an unknown field at %s [G09]", async (field, input) => {
    const body = { model: "atlas-large", inputs: [input] };
    expect((await api.call("dan", "POST", "/v1/model/response", body)).status).toBe(200);
    const [entry] = api.understudy.sandboxes.get("default")!.journal.entries().slice(-1);
    expect(entry!.warnings).toEqual([expect.stringContaining(field)]);
    await restart({ unknown_fields: "reject" });
    const answer = await api.call("dan", "POST", "/v1/model/response", body);
    expect([answer.status, answer.body.error.details]).toEqual([422, { field, value: { a: 1 } }]);
  });

  it("may have __proto__ as a field like any other [G09]", async () => {
    const text = '{"new_parent_id":"dept_ops","__proto__":{"polluted":true},"constructor":1}';
    const { status } = await api.call("ada", "POST", REPARENT, text, { "content-type": "application/json" });
    expect(status).toBe(200);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("hostile requests", () => {
  it("gets 405 for HEAD where GET exists, 404 elsewhere, without a body and uncounted [G04]", async () => {
    const before = await listConfigs({}, "ada");
    const answer = await api.call("ada", "HEAD", CONFIGS);
    expect([answer.status, answer.headers.get("allow"), answer.text]).toEqual([405, "GET", ""]);
    expect((await api.call("ada", "HEAD", "/v1/nowhere")).status).toBe(404);
    const after = await listConfigs({}, "ada");
    const remaining = [before, after].map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
    expect(remaining[0]! - remaining[1]!).toBe(1);
  });

  /** Sends raw bytes that no client library would send. */
  const sendRaw = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const { port, hostname } = new URL(api.url);
      let answer = "";
      const socket = connect(Number(port), hostname, () => socket.end(text));
      socket.on("data", (chunk) => {
        answer += chunk;
      });
      socket.on("close", () => resolve(answer));
      socket.on("error", reject);
    });
  const head = `GET ${CONFIGS} HTTP/1.1\r\nConnection: close\r\n`;

  it.each([
    ["two api-key headers", `Host: x\r\napi-key: ${KEYS.ada}\r\napi-key: ${KEYS.dan}\r\n`, 401],
    ["bytes outside ASCII in the key", "Host: x\r\napi-key: ak_\u00e9\u00e9\r\n", 401],
    ["a key of 20,000 characters", `Host: x\r\napi-key: ${"k".repeat(20_000)}\r\n`, 401],
    ["a token of 20,000 characters", `Host: x\r\nAuthorization: Bearer ${"a.".repeat(9_000)}b\r\n`, 401],
    ["headers over the limit", `Host: x\r\napi-key: ${"k".repeat(40_000)}\r\n`, 431],
    ["a broken header line", `Host: x\r\napi key ${KEYS.ada}\r\n`, 400],
    ["an invalid Host", `Host: <script>\r\napi-key: ${KEYS.ada}\r\n`, 400],
  ])("gets an answer, and the server keeps running: %s [G09]", async (_what, headers, status) => {
    const answer = await sendRaw(`${head}${headers}\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect((await listConfigs({}, "ada")).status).toBe(200);
  });
});
