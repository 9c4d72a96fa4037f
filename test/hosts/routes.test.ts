import { expect, it } from "vitest";
import { understudyRoutes } from "../../src/client/fetch.ts";
import { defineOperation } from "../../src/client/operations.ts";
import { KEYS } from "../support/harness.ts";

const asDan = { headers: { "api-key": KEYS.dan } };
const json = { ...asDan.headers, "content-type": "application/json" };

it("routes answer below the path at which they are mounted, and hand out URLs with it [interfaces 17]", async () => {
  const { GET, POST, PUT } = understudyRoutes({ basePath: "/api", seed: 11 });
  expect((await GET(new Request("https://app.example/api/v1/models", asDan))).status).toBe(200);
  const path = "https://app.example/api/v1/organizations/org_acme/files/upload-url";
  const body = JSON.stringify({ filename: "notes.txt", file_size: 5, mime_type: "text/plain" });
  const announced = await POST(new Request(path, { method: "POST", headers: json, body }));
  const { upload_url } = (await announced.json()) as { upload_url: string };
  expect(upload_url.startsWith("https://app.example/api/")).toBe(true);
  expect((await PUT(new Request(upload_url, { method: "PUT", body: "hello" }))).status).toBe(200);
});

it("routes that are loaded again keep their sandbox, and other options have another [interfaces 17]", async () => {
  const path = "https://app.example/v1/organizations/org_acme/departments/dept_ml";
  const asAda = { ...json, "api-key": KEYS.ada };
  const move = (parent: string) => ({
    method: "POST",
    headers: asAda,
    body: JSON.stringify({ new_parent_id: parent }),
  });
  const first = understudyRoutes({ seed: 12 });
  expect((await first.POST(new Request(`${path}/reparent`, move("dept_ops")))).status).toBe(200);
  const again = (await (
    await understudyRoutes({ seed: 12 }).POST(new Request(`${path}/reparent`, move("dept_ops")))
  ).json()) as object;
  const other = (await (
    await understudyRoutes({ seed: 13 }).POST(new Request(`${path}/reparent`, move("dept_ops")))
  ).json()) as object;
  expect(again).not.toEqual(other);
});

it("routes keep the control API closed by default [interfaces 17]", async () => {
  const closed = understudyRoutes({ basePath: "/api" });
  for (const path of ["/_control/sandboxes", "/_console", "/_receivers/x"]) {
    const response = await closed.GET(new Request(`https://app.example/api${path}`));
    expect([path, response.status]).toEqual([path, 404]);
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining("control: true") });
  }
  for (const path of [
    "/_control/sandboxes",
    "/_s/default/_control/sandboxes",
    "/_control",
    "/apix/../_control/health",
  ])
    expect((await closed.GET(new Request(`https://app.example${path}`))).status).toBe(404);
  const open = understudyRoutes({ basePath: "/api", control: true });
  expect((await open.GET(new Request("https://app.example/api/_control/sandboxes"))).status).toBe(200);
});

it.each(["/my app", "/ä/ö", "/a%20b", "/(group)", "/a/../b"])(
  "routes answer below %s as a request has it [interfaces 17]",
  async (basePath) => {
    const { GET } = understudyRoutes({ basePath });
    const answer = await GET(new Request(`https://app.example${basePath}/v1/models`, asDan));
    expect(answer.status).toBe(200);
  },
);

it.each(["yes", 1, null])("control %j is refused, which could mean either [interfaces 17]", (control) => {
  expect(() => understudyRoutes({ control } as never)).toThrow("control is true or false");
});

it.each([["api"], ["/api/"], ["/a?b"], [5]])("a base path %j is refused [interfaces 17]", (basePath) => {
  expect(() => understudyRoutes({ basePath } as never)).toThrow('basePath is a path such as "/api"');
});

it("routes serve own operations, in the version that was loaded last [interfaces 18]", async () => {
  const declare = (text: string) =>
    defineOperation({
      ...{ id: "greet", method: "GET", path: "/v1/greeting", access: "public" },
      handle: () => ({ text }),
    });
  const openapi = [
    {
      ...{ openapi: "3.1.0", info: { title: "Tags", version: "1" } },
      paths: { "/v1/tags": { get: { responses: { 200: { description: "all" } } } } },
    },
  ];
  const get = async (text: string, path: string) => {
    const { GET } = understudyRoutes({ seed: 14, operations: { greet: declare(text) }, openapi });
    return GET(new Request(`https://app.example${path}`));
  };
  expect(await (await get("hello", "/v1/greeting")).json()).toEqual({ text: "hello" });
  expect(await (await get("good day", "/v1/greeting")).json()).toEqual({ text: "good day" });
  expect((await get("good day", "/v1/tags")).status).toBe(200);
});
