import { describe, expect, it } from "vitest";
import { KEYS } from "../support/harness.ts";
import { useReference } from "../support/use-reference.ts";

const api = useReference();
let count = 0;

/** A sandbox with one rule, which answers 200 on paths without an operation. */
async function createSandbox(rule: { match: object; [key: string]: unknown }) {
  const name = `lab-${++count}`;
  const control = (path: string, body: object) =>
    api.call(undefined, "POST", `/_control/sandboxes${path}`, body);
  expect((await control("", { name })).status).toBe(201);
  const { match, ...more } = rule;
  const effect = { status: 200, body: { lab: true } };
  const armed = await control(`/${name}/faults`, {
    id: "lab",
    public: true,
    match: { path: "/v1/lab/**", ...match },
    effect,
    ...more,
  });
  expect(armed.status, armed.text).toBe(201);
  return {
    status: async ({ method = "GET", path = "/v1/lab/x", body, headers = {} }: LabRequest) =>
      (await api.call(undefined, method, `/_s/${name}${path}`, body, headers)).status,
    explain: async ({ method = "GET", path = "/v1/lab/x", ...more }: LabRequest) =>
      (await control(`/${name}/faults/explain`, { method, path, ...more })).body,
  };
}
interface LabRequest {
  method?: string;
  path?: string;
  body?: object;
  headers?: Record<string, string>;
}

const asUser = (who: keyof typeof KEYS) => ({ "api-key": KEYS[who] });

describe("a rule that serves a path outside the contract", () => {
  it.each<[condition: string, match: object, hit: LabRequest, miss: LabRequest]>([
    ["method", { method: "GET" }, {}, { method: "POST" }],
    ["path", { path: "/v1/lab/x" }, {}, { path: "/v1/lab/y" }],
    ["header", { header: { "x-lab": "1" } }, { headers: { "x-lab": "1" } }, { headers: { "x-lab": "2" } }],
    ["absent header", { header: { "x-lab": null } }, {}, { headers: { "x-lab": "2" } }],
    ["query", { query: { a: 1 } }, { path: "/v1/lab/x?a=1" }, { path: "/v1/lab/x?a=2" }],
    ["absent query", { query: { a: null } }, {}, { path: "/v1/lab/x?a=2" }],
    [
      "body",
      { body: { a: { b: 1 } } },
      { method: "POST", body: { a: { b: 1, c: 2 } } },
      { method: "POST", body: { a: { b: 2 } } },
    ],
    ["principal", { principal: "usr_dan" }, { headers: asUser("dan") }, { headers: asUser("ada") }],
    ["no caller", { principal: "usr_dan" }, { headers: asUser("dan") }, {}],
    ["api_key", { api_key: "apikey_dan" }, { headers: asUser("dan") }, { headers: asUser("ada") }],
    ["organization", { organization: "org_acme" }, { headers: asUser("dan") }, { headers: asUser("eve") }],
    [
      "organization of the path",
      { organization: "org_globex" },
      { headers: asUser("dan"), path: "/v1/lab/org_globex/x" },
      { headers: asUser("eve"), path: "/v1/lab/org_acme/x" },
    ],
  ])("does not answer a request with another %s [interfaces 11]", async (_condition, match, hit, miss) => {
    const lab = await createSandbox({ match });
    expect((await lab.explain(hit)).status).toBe(200);
    expect(await lab.explain(miss)).toMatchObject({ status: 404, rules: [{ triggers: false }] });
    expect(await lab.status(miss)).toBe(404);
    expect(await lab.status(hit)).toBe(200);
  });

  it.each([
    ["delays", { delay: "10ms" }],
    ["holds", { hold: { timeout: "50ms" } }],
  ])("asks for credentials also if another rule %s the request [interfaces 11]", async (_verb, effect) => {
    const lab = await createSandbox({ match: {}, public: false });
    expect(await lab.status({})).toBe(401);
    const path = `/_control/sandboxes/lab-${count}/faults`;
    const armed = await api.call(undefined, "POST", path, { match: { path: "/v1/**" }, effect });
    expect(armed.status, armed.text).toBe(201);
    expect(await lab.status({})).toBe(401);
    expect(await lab.status({ headers: asUser("dan") })).toBe(200);
  });

  it("does not answer another method of a path with an operation", async () => {
    const lab = await createSandbox({ match: { path: "/v1/models", method: "DELETE" } });
    expect(await lab.status({ path: "/v1/models", method: "PUT" })).toBe(405);
    expect(await lab.status({ path: "/v1/models", method: "DELETE" })).toBe(200);
  });

  it.each<[schedule: string, rule: object, statuses: number[]]>([
    ["times", { times: 2 }, [200, 200, 404]],
    ["every", { every: 2 }, [404, 200, 404]],
    ["lease", { lease: { hits: 1 } }, [200, 404, 404]],
    ["probability", { probability: 0 }, [404, 404, 404]],
    ["sequence", { effect: undefined, sequence: [503, "pass", 201] }, [503, 404, 201]],
  ])("applies by its %s, and counts only what it matches", async (_schedule, rule, statuses) => {
    const lab = await createSandbox({ match: { method: "GET" }, ...rule });
    for (const status of statuses) {
      expect(await lab.status({ method: "POST" })).toBe(404);
      expect((await lab.explain({})).status).toBe(status);
      expect(await lab.status({})).toBe(status);
    }
  });
});
