import type { TObject } from "typebox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseQuery } from "../../src/control/check-input.ts";
import { CONTROL_OPERATIONS } from "../../src/control/operations/index.ts";
import { describeFormat } from "../../src/engine/contract/invalid-field.ts";
import type { AnyDeclaration } from "../../src/engine/contract/operation.ts";
import { DEFAULT_SETTINGS } from "../../src/engine/contract/settings.ts";
import { validateQuery } from "../../src/engine/pipeline/validate.ts";
import { API } from "../../src/engine/resources/index.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";
import { sendRawRequest } from "../support/raw-request.ts";

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const LIMITS = "/v1/analytics/usage/limits/org_acme";
const S = "/_control/sandboxes/default";

function listParameters(operations: readonly AnyDeclaration[]) {
  return operations.flatMap((operation) =>
    Object.keys((operation.query as TObject | undefined)?.properties ?? {}).map((name) => ({
      operation,
      name,
    })),
  );
}

describe("a value that was sent twice is reported as such", () => {
  it("in a query of the API, for every parameter [G08]", () => {
    const all = listParameters(API.operations);
    expect(all.length).toBeGreaterThan(20);
    const exchange = { sandbox: { settings: DEFAULT_SETTINGS }, warn: () => {} };
    for (const { operation, name } of all)
      expect(() => validateQuery(operation as never, `${name}=5&${name}=6`, exchange)).toThrow(
        `${name} was sent twice`,
      );
  });

  it("in a query of the control API, for every parameter", () => {
    const all = listParameters(CONTROL_OPERATIONS);
    expect(all.length).toBeGreaterThan(20);
    for (const { operation, name } of all)
      expect(() => parseQuery(`${name}=5&${name}=6`, operation.query)).toThrow(`${name} was sent twice`);
  });

  it("with both texts [G08]", async () => {
    const { status, body } = await api.call("ada", "GET", `${LIMITS}?month=5&month=6`);
    expect([status, body.error.message, body.error.details]).toEqual([
      422,
      "month was sent twice",
      { field: "month", value: ["5", "6"] },
    ]);
  });

  it.each([
    ["X-Sandbox", "/v1/models", "default", 404],
    ["X-Sandbox-Fault", "/v1/models", "INSUFFICIENT_PERMISSIONS", 400],
    ["X-Sandbox-Delay", "/v1/models", "1ms", 400],
    ["Last-Event-ID", `${S}/journal/stream`, "1", 422],
  ])("in the header %s", async (name, path, value, status) => {
    const answer = await api.call("ada", "GET", path, undefined, { [name]: `${value}, ${value}` });
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(`${name} was sent twice`)]);
  });

  it.each([
    ["api-key", KEYS.ada],
    ["X-API-Key", KEYS.ada],
    ["Authorization", `Bearer ${KEYS.ada}`],
    ["authorization", KEYS.ada],
  ])("in the credential %s, also in the journal", async (name, value) => {
    const { port } = new URL(api.url);
    const line = `${name}: ${value}`;
    const answer = await sendRawRequest(Number(port), [
      "GET /v1/models HTTP/1.1",
      "Host: localhost",
      "Connection: close",
      line,
      line,
    ]);
    expect(answer.status).toBe(401);
    const { body } = await api.call(undefined, "GET", `${S}/journal?limit=1`);
    expect(body.entries[0].reasons).toEqual([
      expect.stringMatching(/ holds several values, as it was sent twice$/),
    ]);
  });
});

describe("a time whose plus was not escaped", () => {
  const UNESCAPED = "2026-03-15T10:00:00+01:00";
  const dated = API.operations.flatMap((operation) =>
    Object.entries(
      ((operation.query as TObject | undefined)?.properties ?? {}) as Record<string, { format?: string }>,
    )
      .filter(([, { format }]) => format !== undefined)
      .map(([name]) => ({ operation, name })),
  );

  it("is refused with the accepted forms and with %2B, for every parameter [G08]", () => {
    expect(dated.length).toBeGreaterThan(5);
    const exchange = { sandbox: { settings: DEFAULT_SETTINGS }, warn: () => {} };
    for (const { operation, name } of dated) {
      const read = (text: string) => () => validateQuery(operation, `${name}=${text}`, exchange);
      expect(read(UNESCAPED)).toThrow(
        `${name} must be a date such as 2026-03-15, or a time such as 2026-03-15T10:00:00Z or 2026-03-15T10:00:00+01:00; in a URL, its plus is %2B`,
      );
      expect(read("soon")).toThrow(/\+01:00$/);
      expect(read("2026-03-15 10:00")).toThrow(/\+01:00$/);
      expect(read(UNESCAPED.replace("+", "%2B"))).not.toThrow();
    }
  });

  it.each(["journal", "history", "deliveries"])(
    "is refused with the same message in `since` of S/%s",
    async (log) => {
      const { status, body } = await api.call(undefined, "GET", `${S}/${log}?since=${UNESCAPED}`);
      expect([status, body.field]).toEqual([422, "since"]);
      expect(body.detail).toContain("2026-03-15T10:00:00Z");
      expect(body.detail).toContain("%2B");
    },
  );
});

describe("a message to a client", () => {
  it("never contains the name of a format, for every format in a schema", () => {
    const formats = new Set<string>();
    JSON.stringify([API.operations, CONTROL_OPERATIONS], (_key, value) => {
      if (value?.type === "string" && value.format !== undefined) formats.add(value.format);
      return value;
    });
    expect(formats).toContain("date-or-instant");
    for (const format of formats) expect(describeFormat(format, "x")).not.toContain(format);
  });

  it("describes valid values instead of naming a format, in both APIs", async () => {
    const rule = { notifications: [{ type: "email", email: "ada", events: ["user.created"] }] };
    const path = "/v1/organizations/org_acme/knowledge/connectors/notifications";
    const emulated = await api.call("ada", "PATCH", path, rule);
    expect([emulated.status, emulated.body.error.message]).toEqual([
      422,
      "notifications[0].email must be an e-mail address such as ada@example.test",
    ]);
    const user = { name: "Eve", email: "eve@example.test", created_at: "soon" };
    const { status, body } = await api.call(undefined, "POST", `${S}/state/users`, user);
    expect([status, body.detail]).toEqual([422, expect.not.stringContaining("date-time")]);
  });
});
