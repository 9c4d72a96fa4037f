import { beforeEach, describe, expect, it, vi } from "vitest";
import { toOperationsOption } from "../../../src/engine/own/join.ts";
import * as notes from "../../own/notes.ts";
import { choose, expectAccessible } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";
import { readExample } from "../../support/own/serve-document.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, openAt, control } = useConsole("world", await toOperationsOption(notes));
beforeEach(async () => {
  await control("POST", "/reset");
  await control("PUT", "/operations", { openapi: readExample("issue-tracker/openapi.yaml") });
});
const open = (view: string) => openAt(`/s/default/${view}`);
const addProject = async () =>
  (await api.call("dan", "POST", "/v2/projects", { key: "APP", name: "App" })).body as { id: string };

/** A collection whose id is not the first field that ends with `_id`. */
const BOXES = {
  openapi: "3.1.0",
  info: { title: "Boxes", version: "1" },
  "x-understudy": {
    collections: { boxes: { schema: "#/components/schemas/Box", id: "slug" } },
    operations: { listBoxes: { list: "boxes" } },
  },
  paths: {
    "/v2/boxes": {
      get: {
        operationId: "listBoxes",
        responses: {
          "200": {
            description: "All boxes",
            content: {
              "application/json": { schema: { type: "array", items: { $ref: "#/components/schemas/Box" } } },
            },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Box: {
        type: "object",
        required: ["owner_id", "slug"],
        properties: {
          owner_id: { type: "string" },
          slug: { type: "string" },
          maxWeight: { type: "integer" },
          constructor: { type: "string" },
          level: { type: "integer", enum: [1, 2] },
          sizes: { type: "array", items: { type: "integer", enum: [10, 20] } },
        },
      },
    },
  },
};

describe("the console with own operations", { timeout: 4 * PATIENCE_MS }, () => {
  it.each([
    ["of a declaration", "notes", { text: "By hand" }, "Edited"],
    ["of one sandbox's document", "projects", { name: "By hand", key: "BH" }, "Edited"],
  ] as const)(
    "creates, edits and deletes records of a collection %s [interfaces 18]",
    async (_, collection, values, edited) => {
      const { page, complaints } = await open(`world?collection=${collection}`);
      await page.getByRole("button", { name: "New record" }).click();
      for (const [name, value] of Object.entries(values))
        await page.getByRole("textbox", { name, exact: true }).fill(value);
      await page.getByRole("button", { name: "Create" }).click();
      await see(page.getByRole("row", { name: /By hand/ })).toBeVisible();
      const [field] = Object.keys(values);
      await page.getByRole("textbox", { name: field!, exact: true }).fill(edited);
      await page.getByRole("button", { name: "Save" }).click();
      await see(page.getByText(/^Saved \w+\.$/).last()).toBeVisible();
      await see(page.getByRole("row", { name: /Edited/ })).toBeVisible();
      await expectAccessible(page);
      const { items } = (await control("GET", `/state/${collection}`)).body;
      expect(items).toMatchObject([{ [field!]: edited }]);
      await page.getByRole("button", { name: "Delete" }).first().click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await see(page.getByText(`No ${collection}`)).toBeVisible();
      expect(complaints).toEqual([]);
    },
  );

  it("shows a refused field of an own record at the field [interfaces 18]", async () => {
    const { page } = await open("world?collection=notes&record=%2B");
    await page.getByRole("textbox", { name: "text", exact: true }).fill("x".repeat(3000));
    await page.getByRole("button", { name: "Create" }).click();
    await see(page.getByRole("textbox", { name: "text", exact: true })).toHaveAttribute(
      "aria-invalid",
      "true",
    );
  });

  it("shows method and path of an operation without a summary once [interfaces 18]", async () => {
    await control("PUT", "/operations", { openapi: JSON.stringify(BOXES) });
    const { page } = await open("api?operation=listBoxes");
    const pane = page.getByRole("region", { name: "Operation listBoxes" });
    await see(pane).toContainText("GET /v2/boxes");
    const texts = (await pane.textContent())!.split("Copy as curl")[0]!;
    expect(texts.match(/GET \/v2\/boxes/g)).toHaveLength(1);
  });

  it("tries out an own operation, with values of this world [interfaces 18]", async () => {
    const { id } = await addProject();
    const { page, complaints } = await open("api?operation=createIssue");
    await see(page.getByRole("textbox", { name: "project_id" })).toHaveValue(id);
    await see(page.getByText(/Declared in your openapi/)).toBeVisible();
    const body = page.getByRole("textbox", { name: "Body" });
    await body.fill(JSON.stringify({ title: "It does not start" }));
    await page.getByRole("button", { name: "Send" }).click();
    await see(page.getByText(/It does not start/).last()).toBeVisible();
    await expectAccessible(page);
    expect((await control("GET", "/state/issues")).body.items).toMatchObject([{ project_id: id }]);
    expect(complaints).toEqual([]);
  });

  it("tries out an operation whose body is a component of the document [interfaces 18]", async () => {
    const { page } = await open("api?operation=createProject");
    await see(page.getByRole("region", { name: "Request" })).toContainText("description");
    await page.getByRole("textbox", { name: "Body" }).fill(JSON.stringify({ key: "APP", name: "By hand" }));
    await page.getByRole("button", { name: "Send" }).click();
    await see(page.getByRole("status").first()).toContainText("201");
    expect((await control("GET", "/state/projects")).body.items).toMatchObject([{ name: "By hand" }]);
  });

  it("says that a page cannot send a cookie, which the copied command has [interfaces 18]", async () => {
    const parameters = [{ name: "session", in: "cookie", required: true, schema: { type: "string" } }];
    const get = { operationId: "mine", parameters, responses: { 200: { description: "" } } };
    await control("PUT", "/operations", {
      openapi: { openapi: "3.1.0", info: { title: "Any", version: "1" }, paths: { "/v2/mine": { get } } },
    });
    const { page } = await open("api?operation=mine");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("textbox", { name: "session" }).fill("s1");
    await see(page.getByText("cookie, required. A page cannot send it")).toBeVisible();
    await page.getByRole("button", { name: "Copy as curl" }).click();
    await expect
      .poll(() => page.evaluate("navigator.clipboard.readText()"))
      .toContain("-H 'cookie: session=s1'");
  });

  it("sends lists, and parameters of one name in two places; a GET has no body [interfaces 18]", async () => {
    const parameter = { name: "id", required: true, schema: { type: "string" } };
    const list = { name: "tag", in: "query", schema: { type: "array", items: { type: "string" } } };
    const document = {
      openapi: "3.1.0",
      info: { title: "Parameters", version: "1" },
      paths: {
        "/v2/things/{id}": {
          get: {
            operationId: "getThing",
            parameters: [{ ...parameter, in: "path" }, { ...parameter, in: "query" }, list],
            requestBody: { content: { "application/json": { schema: { type: "object" } } } },
            responses: { "204": { description: "Nothing" } },
          },
        },
      },
    };
    await control("PUT", "/operations", { openapi: document });
    const { page, complaints } = await open("api?operation=getThing");
    await page.getByRole("textbox", { name: "id" }).first().fill("one");
    await page.getByRole("textbox", { name: "id" }).last().fill("two");
    await page.getByRole("textbox", { name: "tag" }).fill("red, green");
    await see(page.getByRole("textbox", { name: "Body" })).toHaveCount(0);
    const sent = page.waitForRequest(/things/);
    await page.getByRole("button", { name: "Send" }).click();
    expect(new URL((await sent).url()).search).toBe("?id=two&tag=red&tag=green");
    await see(page.getByRole("status").first()).toContainText("204");
    expect(complaints).toEqual([]);
  });

  it("sends url-encoded forms and objects in the query field by field [interfaces 18]", async () => {
    const text = { type: "string" };
    const page = { type: "object", properties: { limit: { type: "integer" } } };
    const filter = { type: "object", properties: { state: text, tags: { type: "array", items: text } } };
    const order = {
      type: "object",
      required: ["name"],
      properties: {
        name: text,
        tags: filter.properties.tags,
        address: { type: "object", properties: { city: text } },
      },
    };
    const document = {
      openapi: "3.1.0",
      info: { title: "Forms", version: "1" },
      paths: {
        "/v2/orders": {
          post: {
            operationId: "createOrder",
            parameters: [
              { name: "filter", in: "query", style: "deepObject", explode: true, schema: filter },
              { name: "page", in: "query", schema: page },
              { name: "extra", in: "query", schema: { type: "object", properties: {} } },
            ],
            requestBody: { content: { "application/x-www-form-urlencoded": { schema: order } } },
            responses: { "204": { description: "Nothing" } },
          },
        },
      },
    };
    await control("PUT", "/operations", { openapi: document });
    const { page: view, complaints } = await open("api?operation=createOrder");
    const fillField = (name: string, value: string) =>
      view.getByRole("textbox", { name, exact: true }).fill(value);
    await see(view.getByRole("textbox", { name: "name", exact: true })).toHaveValue("text");
    await see(view.getByRole("textbox", { name: "extra", exact: true })).toHaveValue("");
    await fillField("filter[state]", "open & new");
    await fillField("limit", "5");
    await fillField("name", "Ada & Co");
    await view.getByRole("textbox", { name: "tags", exact: true }).fill("red, green");
    await fillField("address[city]", "Bern");
    const sent = view.waitForRequest(/orders/);
    await view.getByRole("button", { name: "Send" }).click();
    const request = await sent;
    expect(new URL(request.url()).search).toBe("?filter%5Bstate%5D=open+%26+new&limit=5");
    expect(request.postData()).toBe("name=Ada+%26+Co&tags=red&tags=green&address%5Bcity%5D=Bern");
    expect(request.headers()["content-type"]).toContain("application/x-www-form-urlencoded");
    await see(view.getByRole("status").first()).toContainText("204");
    expect(complaints).toEqual([]);
  });

  it("proposes JSON for the object in a form, and sends it as it is [interfaces 18]", async () => {
    const meta = { type: "object", required: ["kind"], properties: { kind: { type: "string" } } };
    const labels = { type: "object", additionalProperties: { type: "string" } };
    const toPath = (operationId: string, type: string, name: string, schema: object) => ({
      post: {
        operationId,
        requestBody: {
          content: {
            [type]: { schema: { type: "object", required: [name], properties: { [name]: schema } } },
          },
        },
        responses: { "204": { description: "Nothing" } },
      },
    });
    const document = {
      openapi: "3.1.0",
      info: { title: "Forms", version: "1" },
      paths: {
        "/v2/parts": toPath("sendPart", "multipart/form-data", "meta", meta),
        "/v2/fields": toPath("sendField", "application/x-www-form-urlencoded", "labels", labels),
      },
    };
    await control("PUT", "/operations", { openapi: document });
    const { page: view, complaints } = await open("api?operation=sendPart");
    await see(view.getByRole("textbox", { name: "meta", exact: true })).toHaveValue('{"kind":"text"}');
    await view.getByRole("button", { name: "Send" }).click();
    await see(view.getByRole("status").first()).toContainText("204");
    const { page: other } = await open("api?operation=sendField");
    await see(other.getByRole("textbox", { name: "labels", exact: true })).toHaveValue("{}");
    expect(complaints).toEqual([]);
  });

  it("sends files that a document describes in other ways: in a list, by name, by media type [interfaces 18]", async () => {
    const file = { type: "string", format: "binary" };
    const properties = {
      pages: { type: "array", items: file },
      cover: { $ref: "#/components/schemas/Cover" },
      sound: { type: "string", contentMediaType: "application/octet-stream" },
    };
    const schema = { type: "object", required: Object.keys(properties), properties };
    const document = {
      openapi: "3.1.0",
      info: { title: "Files", version: "1" },
      paths: {
        "/v2/albums": {
          post: {
            operationId: "createAlbum",
            requestBody: { content: { "multipart/form-data": { schema } } },
            responses: { "204": { description: "Nothing" } },
          },
        },
      },
      components: { schemas: { Cover: file } },
    };
    await control("PUT", "/operations", { openapi: document });
    const { page: view, complaints } = await open("api?operation=createAlbum");
    await see(view.getByText("Sends sample.txt unless you choose a file")).toHaveCount(3);
    await view.getByRole("button", { name: "Send", exact: true }).click();
    await see(view.getByRole("status").first()).toContainText("204");
    expect(complaints).toEqual([]);
  });

  it("shows a record's fields with the names of JavaScript's built-in properties [interfaces 18]", async () => {
    await control("PUT", "/operations", { openapi: BOXES });
    const { page } = await open("world?collection=boxes&record=%2B");
    await page.getByRole("textbox", { name: "slug", exact: true }).fill("crate");
    await see(page.getByRole("textbox", { name: "constructor", exact: true })).toHaveValue("");
    await page.getByRole("textbox", { name: "constructor", exact: true }).fill("Acme");
    await page.getByRole("button", { name: "Create" }).click();
    await see(page.getByRole("row", { name: /crate/ })).toBeVisible();
    expect((await control("GET", "/state/boxes")).body.items).toMatchObject([{ constructor: "Acme" }]);
    await open("webhooks?show=trigger&event=constructor").then(({ page: trigger }) =>
      see(trigger.getByRole("button", { name: "Trigger" })).toBeVisible(),
    );
  });

  it("keeps numbers as numbers in the choices of a record's form [interfaces 18]", async () => {
    await control("PUT", "/operations", { openapi: BOXES });
    const { page } = await open("world?collection=boxes&record=%2B");
    await page.getByRole("textbox", { name: "slug", exact: true }).fill("crate");
    await choose(page, "level", /^2$/);
    await page.getByRole("option", { name: "20" }).click();
    await page.getByRole("button", { name: "Create" }).click();
    await see(page.getByRole("row", { name: /crate/ })).toBeVisible();
    const { items } = (await control("GET", "/state/boxes")).body;
    expect(items).toMatchObject([{ slug: "crate", level: 2, sizes: [20] }]);
  });

  it("filters own records by a field with capital letters [interfaces 18]", async () => {
    await control("PUT", "/operations", { openapi: BOXES });
    for (const [slug, maxWeight] of Object.entries({ light: 5, heavy: 90 }))
      await control("POST", "/state/boxes", { slug, owner_id: "usr_dan", maxWeight });
    const { page } = await open("world?collection=boxes");
    await see(page.getByRole("row", { name: /light/ })).toBeVisible();
    await page.getByRole("searchbox", { name: "Filter" }).fill("maxWeight:>50");
    await see(page.getByRole("row", { name: /light/ })).toHaveCount(0);
    await see(page.getByRole("row", { name: /heavy/ })).toBeVisible();
  });

  it("tries out an operation whose body has no schema [interfaces 18]", async () => {
    const content = { "application/json": {} };
    const post = {
      operationId: "anything",
      requestBody: { content },
      responses: { 200: { description: "" } },
    };
    await control("PUT", "/operations", {
      openapi: { openapi: "3.1.0", info: { title: "Any", version: "1" }, paths: { "/v2/any": { post } } },
    });
    const { page, complaints } = await open("api?operation=anything");
    await page.getByRole("textbox", { name: "Body" }).fill("[1]");
    await page.getByRole("button", { name: "Send" }).click();
    await see(page.getByRole("status").first()).toContainText("200");
    expect(complaints).toEqual([]);
  });

  it("sends the media type that the server prefers, also if it is not the first [interfaces 18]", async () => {
    const schema = { type: "object", properties: { name: { type: "string" } } };
    const createPost = (operationId: string, types: readonly string[]) => ({
      operationId,
      requestBody: { content: Object.fromEntries(types.map((type) => [type, { schema }])) },
      responses: { 200: { description: "" } },
    });
    const form = "application/x-www-form-urlencoded";
    const paths = {
      "/v2/json": { post: createPost("sendJson", ["application/xml", form, "application/json"]) },
      "/v2/form": { post: createPost("sendForm", ["text/plain", form]) },
    };
    await control("PUT", "/operations", {
      openapi: { openapi: "3.1.0", info: { title: "Types", version: "1" }, paths },
    });
    for (const [operation, type] of [
      ["sendJson", "application/json"],
      ["sendForm", form],
    ] as const) {
      const { page } = await open(`api?operation=${operation}`);
      const sent = page.waitForRequest(/\/v2\//);
      await page.getByRole("button", { name: "Send", exact: true }).click();
      expect((await sent).headers()["content-type"]).toContain(type);
      await see(page.getByRole("region", { name: "Response", exact: true })).toContainText("200");
    }
  });

  it("lists own operations together with the reference's, and opens each [interfaces 18]", async () => {
    await addProject();
    const { body } = await control("GET", "/operations");
    const { page, complaints } = await open("api?filter=own");
    await see(page.getByRole("grid", { name: "Operations" })).toHaveAttribute(
      "aria-rowcount",
      String(body.total + 1),
    );
    for (const { id, summary } of body.items as { id: string; summary: string }[]) {
      await page.evaluate(`history.pushState(null, "", ${JSON.stringify(`?operation=${id}`)})`);
      await see(page.getByLabel(`Operation ${id}`, { exact: true })).toContainText(summary);
    }
    expect(complaints).toEqual([]);
  });

  it("shows the operations of a document that is edited while the page is open [interfaces 18]", async () => {
    const { page } = await open("api?filter=v2");
    await see(page.getByRole("row", { name: /^createIssue/ })).toBeVisible();
    await control("PUT", "/operations", { openapi: BOXES });
    await see(page.getByRole("row", { name: /^listBoxes/ })).toBeVisible();
  });

  it("offers a rule the operations of a document that is edited while the form is open [interfaces 18]", async () => {
    const { page } = await open("faults?compose=createIssue");
    await choose(page, "Response", /RESOURCE_NOT_FOUND/);
    await control("PUT", "/operations", { openapi: BOXES });
    await see(page.getByText("There is no operation createIssue. Select one.")).toBeVisible();
    await choose(page, "Operation", /^listBoxes/);
  });

  it("offers own operations and their errors for a rule [interfaces 18]", async () => {
    const { page } = await open("faults?compose=notes.list");
    await choose(page, "Response", /RATE_LIMIT_EXCEEDED/);
    await choose(page, "Operation", /^createIssue/);
    await choose(page, "Response", /RESOURCE_NOT_FOUND/);
    await page.getByRole("button", { name: "Arm rule" }).click();
    await see(page.getByText(/createIssue/).first()).toBeVisible();
    const { id } = await addProject();
    expect((await api.call("dan", "POST", `/v2/projects/${id}/issues`, { title: "x" })).status).toBe(404);
  });

  it("compares and adds records of a collection whose id and plural are unusual [interfaces 18]", async () => {
    await control("PUT", "/operations", { openapi: JSON.stringify(BOXES) });
    const { page, complaints } = await open("world?collection=boxes&record=%2B");
    await see(page.getByRole("heading", { name: "New box", exact: true })).toBeVisible();
    await control("POST", "/snapshots", { name: "before-boxes" });
    await control("POST", "/state/boxes", { owner_id: "usr_dan", slug: "red" });
    await control("POST", "/state/boxes", { owner_id: "usr_dan", slug: "blue" });
    await page.goto(`${api.url}/_console/s/default/world?show=compare&from=before-boxes&of=default&to=now`);
    await see(page.getByRole("region", { name: "boxes" }).locator("summary code")).toHaveText([
      "blue",
      "red",
    ]);
    expect(complaints).toEqual([]);
  });
});
