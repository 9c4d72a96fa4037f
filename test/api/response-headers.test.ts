import { describe, expect, it } from "vitest";
import { listSuccesses } from "../../src/engine/contract/operation.ts";
import { API } from "../../src/engine/resources/index.ts";
import { REPARENT, TO_OPS, useReferencePerTest } from "../support/reference-per-test.ts";

const api = useReferencePerTest();
const { listConfigs, restart } = api;

describe("response headers [section 9]", () => {
  it("contain version, request id, processing time and organization in every answer [9]", async () => {
    for (const answer of [
      await listConfigs({}, "ada"),
      await listConfigs({}, "dan"),
      await listConfigs(),
      await api.call("ada", "GET", "/v1/nothing"),
    ]) {
      expect(answer.headers.get("service-api-version")).toMatch(/^\d{4}-\d\d-\d\d$/);
      expect(answer.headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{16}$/);
      expect(answer.headers.get("service-processing-ms")).toMatch(/^\d+$/);
      expect(answer.headers.get("content-length")).toBe(String(Buffer.byteLength(answer.text)));
    }
  });

  it.each(["e", "\u00e9"])("are sent in Latin-1, with the body %j as with any other [9]", async (own) => {
    const headers = { "X-Latin": "\u00e9" };
    const rule = { match: { path: "/v1/own" }, effect: { status: 200, body: { own }, headers } };
    await api.call(undefined, "POST", "/_control/sandboxes/default/faults", rule);
    const answer = await api.call("ada", "GET", "/v1/own");
    expect([answer.headers.get("x-latin"), answer.body]).toEqual(["\u00e9", { own }]);
  });

  it("contain unique request ids, which are the same for the same seed and request [9]", async () => {
    const fetchIds = async () => {
      const found = [];
      for (let sent = 0; sent < 20; sent++) found.push((await listConfigs()).headers.get("x-request-id"));
      return found;
    };
    const first = await fetchIds();
    expect(new Set(first).size).toBe(20);
    await restart({});
    expect(await fetchIds()).toEqual(first);
  });

  it("contain as service-organization that of the path, else the current one of the key [G32]", async () => {
    const path = "/v1/organizations/org_globex/departments/dept_globex/reparent";
    const foreign = await api.call("ada", "POST", path, TO_OPS);
    expect(foreign.status).toBe(403);
    expect(foreign.headers.get("service-organization")).toBe("org_globex");
    expect((await listConfigs({}, "ada")).headers.get("service-organization")).toBe("org_acme");
    expect((await listConfigs({}, "hana")).headers.get("service-organization")).toBe("org_initech");
  });

  it("stay valid for a hostile organization in the path [9]", async () => {
    const answer = await api.call(
      "ada",
      "POST",
      "/v1/organizations/org_%0d%0aevil:%20yes%e2%82%ac/departments/dept_ml/reparent",
      TO_OPS,
    );
    expect(answer.status).toBe(422);
    expect(answer.headers.get("evil")).toBeNull();
  });
});

describe("pages in a browser [G30]", () => {
  const sendPreflight = (origin: string) =>
    api.call(undefined, "OPTIONS", REPARENT, undefined, {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "api-key,content-type",
    });

  it.each(["http://localhost:5173", "http://127.0.0.1:3000", "https://localhost", "http://[::1]:8080"])(
    "get an answer to a preflight from %s [G30]",
    async (origin) => {
      const { status, headers } = await sendPreflight(origin);
      expect(status).toBe(204);
      expect(headers.get("access-control-allow-origin")).toBe(origin);
      const allowed = headers.get("access-control-allow-headers")!.toLowerCase().split(", ");
      for (const name of [
        "api-key",
        "x-api-key",
        "authorization",
        "content-type",
        "x-sandbox",
        "x-sandbox-fault",
      ])
        expect(allowed).toContain(name);
      expect(headers.get("access-control-allow-methods")).toContain("DELETE");
    },
  );

  it.each(["https://evil.test", "http://localhost.evil.test", "http://127.0.0.1.evil.test", "null"])(
    "are refused from %s [G30]",
    async (origin) => {
      expect((await sendPreflight(origin)).headers.get("access-control-allow-origin")).toBeNull();
      const answer = await listConfigs({ origin }, "ada");
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      expect(answer.headers.get("vary")).toContain("Origin");
    },
  );

  it("can read the response headers of operations [G30]", async () => {
    const { headers } = await listConfigs({ origin: "http://localhost:5173" }, "ada");
    const exposed = headers.get("access-control-expose-headers")!.toLowerCase().split(", ");
    // A page may always read this header (Fetch standard, CORS-safelisted response headers).
    const safelisted = ["cache-control"];
    const declared = API.operations.flatMap((operation) =>
      listSuccesses(operation).flatMap(({ headers = [] }) => headers.map((name) => name.toLowerCase())),
    );
    expect(declared).toContain("x-pii-policies");
    for (const name of [...declared, "retry-after", "x-request-id", "x-ratelimit-reset-tokens"])
      if (!safelisted.includes(name)) expect(exposed).toContain(name);
    const allowed = (await sendPreflight("http://localhost:5173")).headers.get(
      "access-control-allow-headers",
    )!;
    for (const name of API.operations.flatMap(({ headers = {} }) => Object.keys(headers)))
      expect(allowed.toLowerCase().split(", ")).toContain(name);
  });

  it("are allowed from the origins of cors_origins [G30]", async () => {
    await restart({ cors_origins: ["https://app.example.test"] });
    const { headers } = await listConfigs({ origin: "https://app.example.test" }, "ada");
    expect(headers.get("access-control-allow-origin")).toBe("https://app.example.test");
    expect((await sendPreflight("https://app.example.test")).status).toBe(204);
    const other = await listConfigs({ origin: "https://other.example.test" }, "ada");
    expect(other.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("can read the headers of sections 8 and 9 on answers and refusals [G30]", async () => {
    for (const who of ["ada", "dan", undefined] as const) {
      const { headers } = await listConfigs({ origin: "http://localhost:5173" }, who);
      const exposed = headers.get("access-control-expose-headers")!.toLowerCase().split(", ");
      for (const name of [
        "x-ratelimit-remaining",
        "x-ratelimit-reset-tokens",
        "service-api-version",
        "service-organization",
        "service-processing-ms",
        "x-request-id",
        "retry-after",
        "etag",
        "content-disposition",
        "x-sandbox-decision",
      ])
        expect(exposed).toContain(name);
    }
  });
});
