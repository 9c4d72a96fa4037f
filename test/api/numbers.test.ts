import { describe, expect, it } from "vitest";
import { type ApiResponse, KEYS } from "../support/harness.ts";
import { useReferencePerTest } from "../support/reference-per-test.ts";

const api = useReferencePerTest();
const CHANGE_LOGS = "/v1/organizations/org_acme/dashboard/change-logs";
const JSON_TYPE = { "content-type": "application/json" };

const post = (path: string, text: string) => api.call("ada", "POST", path, text, JSON_TYPE);
/** Expects a refusal that contains the field and the value exactly as sent, which a parsed body would not show. */
function expectRefused({ status, text, body }: ApiResponse, field: string, value: string): void {
  expect([status, body.error.code, body.error.details.field]).toEqual([422, "INVALID_INPUT", field]);
  expect(text).toContain(`"value":${value}}`);
}

describe("a number in a body [G08]", () => {
  it.each([
    "1e309",
    "-1e309",
    "9007199254740993",
    "-9007199254740992",
    "9007199254740993.0",
    "1E+400",
    "123456789012345678901234567890",
  ])("is 422 as skip: %s, and shown as it was written [G08]", async (number) =>
    expectRefused(await post(CHANGE_LOGS, `{"skip": ${number}}`), "skip", number),
  );

  it.each([
    ['{"skip": 0, "note": {"ids": [1, 2, 9007199254740993]}}', "note.ids[2]"],
    ['{"note": "12345678901234567890", "deep": [{"a\\"b": 1e999}]}', 'deep[0].a"b'],
    ['{"\\\\": "\\\\\\"", "x": "\\\\", "y": 18014398509481985}', "y"],
    ["[1e999]", "[0]"],
    ['{"skip": 1e999, "take": 9007199254740993}', "skip"],
    ["1e999", "body"],
    ['{"__proto__": {"n": 1e999}}', "__proto__.n"],
  ])("is refused in any place in %s [G08]", async (text, field) => {
    const { status, body } = await post(CHANGE_LOGS, text);
    expect([status, body.error.details.field]).toEqual([422, field]);
  });

  it.each([
    '{"skip": 9007199254740991}',
    '{"skip": 1e2}',
    '{"skip": 0, "note": "9007199254740993 1e999"}',
    '{"skip": 0, "note": 0.12345678901234567890}',
    '{"skip": 0, "note": 1e-400}',
  ])("is accepted as %s [G08]", async (text) => expect((await post(CHANGE_LOGS, text)).status).toBe(200));

  it.each([
    ['{"take": 101.0}', "take", "101.0"],
    ['{"take": 1.50}', "take", "1.50"],
    ['{"take": -0}', "take", "-0"],
    ['{"skip": -1e0}', "skip", "-1e0"],
    ['{"skip": "7"}', "skip", '"7"'],
    ['{"skip": [1.0]}', "skip", "[1]"],
  ])("is refused as %s, with the value as it was sent [G08]", async (text, field, value) =>
    expectRefused(await post(CHANGE_LOGS, text), field, value),
  );

  it("is shown as it was sent in bodies of up to 64 KB [G08]", async () => {
    for (const [length, value] of [
      [60_000, "1.50"],
      [70_000, "1.5"],
    ] as const)
      expectRefused(
        await post(CHANGE_LOGS, `{"take": 1.50, "note": "${"x".repeat(length)}"}`),
        "take",
        value,
      );
  });

  it("is validated after the path [G08]", async () => {
    const answer = await post("/v1/organizations/acme/dashboard/change-logs", '{"skip": 1e309}');
    expectRefused(answer, "organization_id", '"acme"');
  });

  it("is found and refused if it is too large among fifty thousand [G08]", async () => {
    const many = `{"note": [${"1e5,".repeat(50_000)} 1e999]}`;
    expectRefused(await post(CHANGE_LOGS, many), "note[50000]", "1e999");
  });

  it.each(["9007199254740992", "1e309", "99999999999999999999"])(
    "is 422 in offset=%s, up to the largest exact integer [G08]",
    async (offset) => {
      const tracks = "/v1/music/org_acme/collections/mcoll_focus/tracks?offset=";
      expectRefused(await api.call("dan", "GET", tracks + offset), "offset", `"${offset}"`);
      expect((await api.call("dan", "GET", `${tracks}9007199254740991`)).body.items).toEqual([]);
    },
  );

  it("is shown as several texts if a query value was sent twice [G08]", async () => {
    const answer = await api.call(
      "dan",
      "GET",
      "/v1/music/org_acme/collections/mcoll_focus/tracks?limit=5&limit=06",
    );
    expect([answer.status, answer.body.error.details]).toEqual([422, { field: "limit", value: ["5", "06"] }]);
  });

  it("is refused by the control API too, with its place [interfaces 4]", async () => {
    const response = await fetch(`${api.url}/_control/sandboxes/default/state/invoices`, {
      method: "POST",
      headers: JSON_TYPE,
      body: '{"amount": 9007199254740993}',
    });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ field: "amount", value: "9007199254740993" });
  });
});

describe("unknown query parameters and charsets [G09]", () => {
  const CONFIGS = "/v1/admin/connector/auth-configs";
  const listWarnings = () => api.understudy.sandboxes.get("default")!.journal.entries().at(-1)!.warnings;

  it("are ignored with a warning, also if an operation has no parameters [G09]", async () => {
    expect((await api.call("ada", "GET", `${CONFIGS}?limit=5&__proto__=1`)).status).toBe(200);
    expect(listWarnings()).toEqual(["2 unknown query parameters were ignored: limit, __proto__"]);
    const tracks = "/v1/music/org_acme/collections/mcoll_focus/tracks?limit=5&page=2&page=3";
    expect((await api.call("dan", "GET", tracks)).body.items).toHaveLength(5);
    expect(listWarnings()).toEqual(["unknown query parameter page was ignored"]);
  });

  it("are ignored with a warning in a body where none is expected, or refused by setting [G09]", async () => {
    const remove = () => api.call("ada", "DELETE", "/v1/threads/thread_ada", { reason: "old" });
    expect((await remove()).status).toBe(200);
    expect(listWarnings()).toEqual(["the operation takes no body; the one that was sent was ignored"]);
    await api.restart({ unknown_fields: "reject" });
    const refused = await remove();
    expect([refused.status, refused.body.error.param]).toEqual([422, "body"]);
    expect((await api.call("ada", "DELETE", "/v1/threads/thread_ada")).status).toBe(200);
    expect(listWarnings()).toEqual([]);
  });

  it.each([
    ["A", "ada", "GET", `${CONFIGS}?surprise=01`, undefined],
    ["B", "dan", "GET", "/v1/assistants/asst_support/history?surprise=01", undefined],
    ["C", undefined, "POST", "/v1/auth/token?surprise=01", { api_key: KEYS.dan }],
  ] as const)(
    "are 422 in envelope %s with unknown_fields reject, and the field is named [G09]",
    async (envelope, who, method, path, body) => {
      await api.restart({ unknown_fields: "reject" });
      const answer = await api.call(who, method, path, body);
      expect(answer.status).toBe(422);
      if (envelope === "A") expect(answer.body.error.details).toEqual({ field: "surprise", value: "01" });
      if (envelope === "B")
        expect(answer.body.error).toMatchObject({ code: "INVALID_INPUT", param: "surprise" });
      if (envelope === "C")
        expect(answer.body).toEqual({
          detail: expect.stringContaining("surprise"),
          status_code: 422,
          error_type: "ValidationError",
        });
    },
  );

  it.each([
    [{ api_key: KEYS.dan, surprise: 1 }, "surprise"],
    [{ api_key: 7 }, "api_key"],
  ])("name the field in envelope C for %j, also in an injected fault [G09]", async (body, field) => {
    await api.restart({ unknown_fields: "reject" });
    const answer = await api.call(undefined, "POST", "/v1/auth/token", body);
    expect([answer.status, answer.body.detail]).toEqual([422, expect.stringContaining(field)]);
    const faulty = await api.call(undefined, "POST", "/v1/auth/token", body, {
      "x-sandbox-fault": "INVALID_INPUT",
    });
    expect(faulty.body.detail).toContain("api_key");
  });

  it.each(["iso-8859-1", '"UTF-16"', "us-ascii", "utf-8; charset=latin1"])(
    "are 415 in envelope A for JSON in charset=%s [G09]",
    async (charset) => {
      const answer = await api.call("ada", "POST", CHANGE_LOGS, "{}", {
        "content-type": `application/json; charset=${charset}`,
      });
      expect([answer.status, answer.body.error.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    },
  );

  it.each(['"utf-8"', "UTF8", "utf-8; profile=x"])(
    "are read for JSON in charset=%s [G09]",
    async (charset) => {
      const headers = { "content-type": `application/json; charset=${charset}` };
      expect((await api.call("ada", "POST", CHANGE_LOGS, "{}", headers)).status).toBe(200);
    },
  );
});

describe("bounds of values [G38]", () => {
  it("do not apply to a path parameter, which gets the operation's answer at any length [G38]", async () => {
    const long = "x".repeat(20_000);
    const department = await api.call(
      "ada",
      "POST",
      `/v1/organizations/org_acme/departments/dept_${long}/reparent`,
      {
        new_parent_id: null,
      },
    );
    expect([department.status, department.body.error.details.field]).toEqual([422, "department_id"]);
    const slug = await api.call(undefined, "GET", `/v1/dashboards/shared/${long}`);
    expect([slug.status, slug.body.error.details]).toEqual([404, { slug: long }]);
  });

  const upload = { filename: "a.txt", file_size: 1, mime_type: "text/plain" };
  const UPLOAD_URL = "/v1/organizations/org_acme/files/upload-url";
  const NOTIFICATIONS = "/v1/organizations/org_acme/knowledge/connectors/notifications";
  const makeUrl = (length: number) => `http://127.0.0.1/${"u".repeat(length - "http://127.0.0.1/".length)}`;
  const rule = { type: "email", email: "a@example.com", events: ["connector.job.failed"] };
  const hook = { url: makeUrl(100), events: ["user.created"] };

  it.each([
    [
      "an id",
      "PUT",
      "/v1/user/current-organization",
      { organization_id: `org_${"o".repeat(121)}` },
      "organization_id",
    ],
    ["a URL", "POST", "/webhooks", { ...hook, url: makeUrl(2049) }, "url"],
    ["a description", "POST", "/webhooks", { ...hook, description: "d".repeat(10_001) }, "description"],
    ["a file name", "POST", UPLOAD_URL, { ...upload, filename: "f".repeat(1025) }, "filename"],
    ["a type", "POST", UPLOAD_URL, { ...upload, mime_type: `text/${"t".repeat(251)}` }, "mime_type"],
    ["a file", "POST", UPLOAD_URL, { ...upload, file_size: 5 * 2 ** 40 + 1 }, "file_size"],
    ["the rules", "PATCH", NOTIFICATIONS, { notifications: Array(101).fill(rule) }, "notifications"],
    [
      "a rule's URL",
      "POST",
      `${NOTIFICATIONS}/test`,
      { notification_type: "webhook", url: makeUrl(2049) },
      "url",
    ],
  ] as const)(
    "refuse %s beyond them with 422 and the field [G38]",
    async (_what, method, path, body, field) => {
      const answer = await api.call("ada", method, path, body);
      expect([answer.status, answer.body.error.details.field]).toEqual([422, field]);
    },
  );

  it.each([
    [
      "a URL and a description",
      "POST",
      "/webhooks",
      { ...hook, url: makeUrl(2048), description: "d".repeat(10_000) },
      201,
    ],
    ["a file name", "POST", UPLOAD_URL, { ...upload, filename: "f".repeat(1024) }, 200],
    ["a type", "POST", UPLOAD_URL, { ...upload, mime_type: `text/${"t".repeat(250)}` }, 200],
    ["a file", "POST", UPLOAD_URL, { ...upload, file_size: 5 * 2 ** 40 }, 200],
    ["the rules", "PATCH", NOTIFICATIONS, { notifications: Array(100).fill(rule) }, 200],
  ] as const)("include %s [G38]", async (_what, method, path, body, status) => {
    expect((await api.call("ada", method, path, body)).status).toBe(status);
  });

  it.each([
    ["departments", { description: "d".repeat(10_001) }, "description"],
    ["assistants", { description: "d".repeat(10_001) }, "description"],
    ["models", { description: "d".repeat(10_001) }, "description"],
    ["share_links", { slug: "s".repeat(121) }, "slug"],
    ["connector_jobs", { job_id: `job_${"j".repeat(121)}` }, "job_id"],
  ])("also apply to state calls: %s [G38]", async (collection, body, field) => {
    const response = await fetch(`${api.url}/_control/sandboxes/default/state/${collection}`, {
      method: "POST",
      headers: JSON_TYPE,
      body: JSON.stringify(body),
    });
    expect([response.status, ((await response.json()) as { field: string }).field]).toEqual([422, field]);
  });
});
