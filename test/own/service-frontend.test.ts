import { afterEach, describe, expect, it } from "vitest";
import * as declared from "../../docs/examples/service-frontend/operations.ts";
import { serveDeclarations } from "../support/own/serve-declarations.ts";
import {
  type Received,
  readExample,
  type SendOptions,
  type ServedDocument,
  serveDocument,
} from "../support/own/serve-document.ts";

/** Each source declares the same dozen endpoints. */
const SOURCES: readonly (readonly [name: string, serve: () => ServedDocument | Promise<ServedDocument>])[] = [
  ["declared in TypeScript", () => serveDeclarations(declared)],
  ["of an OpenAPI document with bindings", () => serveDocument(readExample("service-frontend/openapi.yaml"))],
];

describe.each(SOURCES)("the endpoints of a frontend, %s", (_name, serve) => {
  let served: ServedDocument;
  afterEach(() => served.understudy.close());
  const send = (method: string, path: string, options?: SendOptions): Promise<Received> =>
    served.send(method, path, options);
  const getWorld = () => served.understudy.sandboxes.get("default")!.world.root;

  it("show the caller and the caller's organization [interfaces 18]", async () => {
    served = await serve();
    const me = await send("GET", "/v1/me");
    expect(me).toMatchObject({ status: 200, body: { id: "usr_dan", memberships: { org_acme: "member" } } });
    const organization = await send("GET", "/v1/organizations/org_acme");
    expect(organization).toMatchObject({ status: 200, body: { id: "org_acme" } });
    expect((await send("GET", "/v1/me", { user: null })).status).toBe(401);
    expect((await send("GET", "/v1/organizations/org_globex")).body.error.code).toBe(
      "ORGANIZATION_ACCESS_DENIED",
    );
    expect((await send("GET", "/v1/organizations/org_none")).body.error.code).toBe("ORGANIZATION_NOT_FOUND");
  });

  it("list departments in pages, and show them [interfaces 18]", async () => {
    served = await serve();
    const all = await send("GET", "/v1/organizations/org_acme/departments");
    expect(all.status).toBe(200);
    expect(all.body.total).toBe(all.body.data.length);
    expect(all.body.data[0]).toMatchObject({ organization_id: "org_acme", depth: 0 });
    const page = await send("GET", "/v1/organizations/org_acme/departments?limit=2&offset=1");
    expect(page.body).toEqual({ data: all.body.data.slice(1, 3), total: all.body.total });
    expect((await send("GET", "/v1/organizations/org_acme/departments?limit=0")).body.error).toMatchObject({
      code: "INVALID_INPUT",
      details: { field: "limit" },
    });
    const one = await send("GET", "/v1/organizations/org_acme/departments/dept_eng");
    expect(one).toMatchObject({
      status: 200,
      body: all.body.data.find(({ id }: { id: string }) => id === "dept_eng"),
    });
    expect((await send("GET", "/v1/organizations/org_acme/departments/dept_none")).status).toBe(404);
  });

  it("create, rename and delete a thread, which only its owner sees [interfaces 18]", async () => {
    served = await serve();
    const before = (await send("GET", "/v1/threads")).body.total;
    const made = await send("POST", "/v1/threads", { body: { title: "Plans" } });
    expect(made).toMatchObject({
      status: 201,
      body: {
        title: "Plans",
        owner_id: "usr_dan",
        organization_id: "org_acme",
        created_at: "2026-03-15T12:00:00.000Z",
      },
    });
    const { id } = made.body;
    const listed = (await send("GET", "/v1/threads")).body;
    expect(listed.total).toBe(before + 1);
    expect(listed.data[0]).toEqual(made.body);
    expect((await send("GET", `/v1/threads/${id}`)).body).toEqual(made.body);
    expect((await send("GET", `/v1/threads/${id}`, { user: "usr_ada" })).status).toBe(404);
    const renamed = await send("PATCH", `/v1/threads/${id}`, { body: { title: "Better plans" } });
    expect(renamed).toMatchObject({ status: 200, body: { ...made.body, title: "Better plans" } });
    // The reference's own operation.
    expect((await send("DELETE", `/v1/threads/${id}`)).status).toBe(200);
    expect((await send("GET", `/v1/threads/${id}`)).status).toBe(404);
  });

  it("refuse a thread without a title, and change nothing [interfaces 18]", async () => {
    served = await serve();
    const { tables } = getWorld();
    for (const body of [{}, { title: "" }, { title: 7 }])
      expect(await send("POST", "/v1/threads", { body })).toMatchObject({
        status: 422,
        body: { error: { code: "INVALID_INPUT", details: { field: "title" } } },
      });
    expect(getWorld().tables).toBe(tables);
  });

  it("post messages to a thread and list them in their order [interfaces 18]", async () => {
    served = await serve();
    const { id } = (await send("POST", "/v1/threads", { body: { title: "Plans" } })).body;
    const path = `/v1/threads/${id}/messages`;
    expect((await send("GET", path)).body).toEqual({ data: [], total: 0 });
    const made = await send("POST", path, { body: { content: "Hello" } });
    expect(made).toMatchObject({ status: 201, body: { thread_id: id, role: "user", content: "Hello" } });
    expect((await send("GET", path)).body).toEqual({ data: [made.body], total: 1 });
    expect((await send("POST", path, { body: { content: "Hello" }, user: "usr_ada" })).status).toBe(404);
    expect((await send("GET", "/v1/threads/thread_none/messages")).status).toBe(404);
  });

  it("list files and assistants of the organization [interfaces 18]", async () => {
    served = await serve();
    for (const path of ["/v1/files", "/v1/assistants"]) {
      const { status, body } = await send("GET", path);
      expect(status).toBe(200);
      expect(body.total).toBe(body.data.length);
      expect(body.total).toBeGreaterThan(0);
      for (const { organization_id } of body.data) expect(organization_id).toBe("org_acme");
    }
  });
});

it.each([
  ["operations.ts", 200],
  ["openapi.yaml", 250],
])(
  "%s has a dozen endpoints in fewer than %i lines of at most 160 characters [interfaces 18]",
  (name, most) => {
    const lines = readExample(`service-frontend/${name}`).trimEnd().split("\n");
    expect(lines.length).toBeLessThan(most);
    expect(lines.filter((line) => line.length > 160)).toEqual([]);
    const ids = /\bdefineOperation\(\{|^ +operationId: /;
    expect(lines.filter((line) => ids.test(line)).length).toBeGreaterThanOrEqual(12);
  },
);
