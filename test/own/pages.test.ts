import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { messages } from "../../src/engine/resources/threads/schema.ts";
import { type ServedDocument, serveDocument } from "../support/own/serve-document.ts";

let served: ServedDocument;
afterEach(() => served.understudy.close());

const N = "{ type: integer }";
const NULLABLE = "{ type: integer, nullable: true }";
const URL = "{ type: string, format: uri, nullable: true }";
const LINK = `{ type: object, properties: { href: ${URL} } }`;
const query = (name: string, more = "type: integer") => `{ name: "${name}", in: query, schema: { ${more} } }`;
const ITEMS = 'items: { type: array, items: { $ref: "#/components/schemas/Item" } }';

/** The property names of the outer object only. */
function listNames(properties: string): string[] {
  const outer = properties.replace(/\{[^{}]*\{[^{}]*(\{[^{}]*\}[^{}]*)*\}[^{}]*\}|\{[^{}]*\}/g, "");
  return [...outer.matchAll(/(\w+):/g)].map(([, name]) => name!);
}

const describeList = (path: string, parameters: string[], properties: string | undefined, headers = "") => `
  ${path}:
    get:
      operationId: ${path.slice(1)}
      parameters: [${parameters.join(", ")}]
      responses: { "200": { description: d, ${headers} content: { application/json: { schema: ${
        properties === undefined
          ? '{ type: array, items: { $ref: "#/components/schemas/Item" } }'
          : `{ type: object, required: [${listNames(properties).join(", ")}, items], properties: { ${properties}, ${ITEMS} } }`
      } } } } }`;

const PAGE = [query("page"), query("per_page", "type: integer, default: 2")];
const OFFSET = [query("offset"), query("limit", "type: integer, default: 2")];
const CURSOR = [query("cursor", "type: string"), query("limit", "type: integer, default: 2")];
const paths = [
  describeList(
    "/numbered",
    PAGE,
    `page: ${N}, per_page: ${N}, total_pages: ${N}, total: ${N}, next_page: ${NULLABLE}, prev_page: ${NULLABLE}, has_prev_page: { type: boolean }, has_next_page: { type: boolean }`,
  ),
  describeList(
    "/nested",
    PAGE,
    `meta: { type: object, required: [current_page, last_page, per_page], properties: { current_page: ${N}, last_page: ${N}, per_page: ${N} } }`,
  ),
  describeList("/linked", PAGE, `count: ${N}, next: ${URL}, previous: ${URL}`),
  describeList(
    "/offsets",
    OFFSET,
    `total: ${N}, offset: ${N}, limit: ${N}, next_offset: ${NULLABLE}, next: ${URL}`,
  ),
  describeList(
    "/brackets",
    [query("page[number]"), query("page[size]")],
    `links: { type: object, properties: { next: { type: string, nullable: true } } }`,
  ),
  describeList(
    "/deep",
    [
      "{ name: page, in: query, style: deepObject, schema: { type: object, properties: { number: { type: integer }, size: { type: integer } } } }",
    ],
    '_links: { $ref: "#/components/schemas/Links" }',
  ),
  describeList(
    "/ended",
    CURSOR,
    "next_cursor: { type: string }, first_id: { type: string, nullable: true }, last_id: { type: string, nullable: true }",
  ),
  describeList("/cursors", CURSOR, `next: ${URL}`),
  describeList(
    "/texts",
    [
      query("page", 'type: string, default: "1"'),
      query("limit", 'type: string, enum: ["2", "3", all], default: "2"'),
    ],
    "next_page: { type: string }",
  ),
  describeList(
    "/either",
    [query("page", "type: integer, default: 1"), ...OFFSET],
    `next: ${URL}, previous: ${URL}`,
  ),
  describeList(
    "/nestjs",
    PAGE,
    `meta: { type: object, required: [page, take, itemCount, pageCount], properties: { page: ${N}, take: ${N}, itemCount: ${N}, pageCount: ${N} } }`,
  ),
  describeList(
    "/typeorm",
    PAGE,
    `meta: { type: object, required: [itemCount, totalItems, itemsPerPage, totalPages, currentPage], properties: { itemCount: ${N}, totalItems: ${N}, itemsPerPage: ${N}, totalPages: ${N}, currentPage: ${N} } }`,
  ),
  describeList(
    "/laravel",
    PAGE,
    `first_page_url: ${URL}, last_page_url: ${URL}, next_page_url: ${URL}, prev_page_url: ${URL}, from: ${NULLABLE}, to: ${NULLABLE}, last_page: ${N}, total: ${N}, links: { type: object, required: [first, last], properties: { first: ${URL}, last: ${URL} } }`,
  ),
  describeList(
    "/spring",
    PAGE,
    `first: { type: boolean }, last: { type: boolean }, empty: { type: boolean }, numberOfElements: ${N}, totalElements: ${N}, page: { type: object, required: [totalElements, size], properties: { totalElements: ${N}, size: ${N} } }`,
  ),
  describeList(
    "/mongoose",
    PAGE,
    `totalDocs: ${N}, pagingCounter: ${N}, hasNextPage: { type: boolean }, more: { type: boolean }, count: ${N}`,
  ),
  describeList(
    "/bare",
    PAGE,
    undefined,
    "headers: { Link: { schema: { type: string } }, X-Total-Count: { schema: { type: integer } }, X-Next-Page: { schema: { type: integer } }, X-Total-Pages: { schema: { type: integer } } },",
  ),
];
const names = [
  ...[
    "numbered",
    "nested",
    "linked",
    "offsets",
    "brackets",
    "deep",
    "ended",
    "cursors",
    "either",
    "texts",
    "bare",
  ],
  ...["nestjs", "typeorm", "laravel", "spring", "mongoose"],
];
const DOCUMENT = `openapi: 3.0.3
info: { title: t, version: "1" }
paths:
  /add: { post: { operationId: add, requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Item" } } } }, responses: { "201": { description: d, content: { application/json: { schema: { $ref: "#/components/schemas/Item" } } } } } } }${paths.join("")}
components: { schemas: { Links: { type: object, properties: { next: ${LINK}, prev: ${LINK} } }, Item: { type: object, required: [id], properties: { id: { type: integer, readOnly: true } } } } }
x-understudy:
  collections: { items: { schema: "#/components/schemas/Item" } }
  operations:
    add: { create: items }
${names.map((name) => `    ${name}: { list: items }`).join("\n")}
`;

beforeEach(async () => {
  served = serveDocument(DOCUMENT);
  for (let n = 0; n < 5; n++) await served.send("POST", "/add", { body: {} });
});
const get = async (path: string) => (await served.send("GET", path)).body;

describe("a page contains its position and the neighbouring pages", () => {
  it.each([
    [
      "/numbered",
      {
        page: 1,
        per_page: 2,
        total: 5,
        total_pages: 3,
        next_page: 2,
        prev_page: null,
        has_prev_page: false,
        has_next_page: true,
      },
    ],
    [
      "/numbered?page=3",
      {
        page: 3,
        per_page: 2,
        total: 5,
        total_pages: 3,
        next_page: null,
        prev_page: 2,
        has_prev_page: true,
        has_next_page: false,
      },
    ],
    ["/numbered?page=1&per_page=5", { total_pages: 1, next_page: null }],
    ["/nested?page=2", { meta: { current_page: 2, last_page: 3, per_page: 2 } }],
    [
      "/linked?page=2&x=1",
      { count: 5, next: "http://x.test/linked?page=3&x=1", previous: "http://x.test/linked?page=1&x=1" },
    ],
    ["/linked?x=a?b&page=2", { next: "http://x.test/linked?x=a%3Fb&page=3" }],
    ["/linked?page=3", { next: null, previous: "http://x.test/linked?page=2" }],
    ["/offsets", { total: 5, offset: 0, limit: 2, next_offset: 2 }],
    ["/offsets?offset=4", { total: 5, offset: 4, limit: 2, next_offset: null }],
    [
      "/deep?page[number]=2&page[size]=2",
      {
        items: [{ id: 3 }, { id: 2 }],
        _links: {
          next: { href: "http://x.test/deep?page%5Bnumber%5D=3&page%5Bsize%5D=2" },
          prev: { href: "http://x.test/deep?page%5Bnumber%5D=1&page%5Bsize%5D=2" },
        },
      },
    ],
    ["/deep?page[number]=3&page[size]=2", { _links: { next: { href: null } } }],
    [
      "/brackets?page[number]=2&page[size]=2",
      {
        items: [{ id: 3 }, { id: 2 }],
        links: { next: "http://x.test/brackets?page%5Bnumber%5D=3&page%5Bsize%5D=2" },
      },
    ],
    ["/nestjs?page=3", { meta: { page: 3, take: 2, itemCount: 5, pageCount: 3 } }],
    [
      "/typeorm?page=3",
      { meta: { itemCount: 1, totalItems: 5, itemsPerPage: 2, totalPages: 3, currentPage: 3 } },
    ],
    [
      "/laravel?page=2",
      {
        first_page_url: "http://x.test/laravel?page=1",
        last_page_url: "http://x.test/laravel?page=3",
        next_page_url: "http://x.test/laravel?page=3",
        prev_page_url: "http://x.test/laravel?page=1",
        links: { first: "http://x.test/laravel?page=1", last: "http://x.test/laravel?page=3" },
        from: 3,
        to: 4,
        last_page: 3,
        total: 5,
      },
    ],
    ["/laravel?page=9", { from: null, to: null, last_page: 3, next_page_url: null }],
    [
      "/spring?page=3",
      {
        first: false,
        last: true,
        empty: false,
        numberOfElements: 1,
        totalElements: 5,
        page: { totalElements: 5, size: 2 },
      },
    ],
    ["/mongoose?page=3", { totalDocs: 5, pagingCounter: 5, hasNextPage: false, more: false, count: 1 }],
    [
      "/either?offset=2",
      {
        items: [{ id: 3 }, { id: 2 }],
        next: "http://x.test/either?offset=0&page=3",
        previous: "http://x.test/either?offset=0&page=1",
      },
    ],
    ["/ended?limit=5", { next_cursor: "", first_id: "5", last_id: "1" }],
  ])("%s [interfaces 18]", async (path, facts) => {
    expect(await get(path)).toMatchObject(facts);
  });
});

it("the URLs of the next pages lead to each record once [interfaces 18]", async () => {
  for (const path of ["/linked", "/cursors"]) {
    const seen: number[] = [];
    for (let url: string | null = path, pages = 0; url !== null && pages < 9; pages++) {
      const page: { items: { id: number }[]; next: string | null } = await get(
        url.replace("http://x.test", ""),
      );
      seen.push(...page.items.map(({ id }) => id));
      url = page.next;
    }
    expect(seen).toEqual([5, 4, 3, 2, 1]);
  }
});

it("a `page` that is a text takes a number or a cursor, and a `limit` that is one a number [interfaces 18]", async () => {
  const list = async (query: string) =>
    (await get(`/texts?${query}`)).items.map(({ id }: { id: number }) => id);
  expect([await list(""), await list("page=2"), await list("page=2&limit=3")]).toEqual([
    [5, 4],
    [3, 2],
    [2, 1],
  ]);
  expect(await list(`page=${(await get("/texts")).next_page}`)).toEqual([3, 2]);
});

it("the headers of a bare list lead to its next page [interfaces 18]", async () => {
  const read = async (path: string) => {
    const { headers } = await served.send("GET", path);
    return ["link", "x-total-count", "x-next-page", "x-total-pages"].map((name) => headers.get(name));
  };
  const [next, previous] = ["2", "1"].map((page) => `http://x.test/bare?page=${page}`);
  expect(await read("/bare")).toEqual([`<${next}>; rel="next"`, "5", "2", "3"]);
  expect(await read("/bare?page=2")).toEqual([
    `<http://x.test/bare?page=3>; rel="next", <${previous}>; rel="prev"`,
    "5",
    "3",
    "3",
  ]);
  expect(await read("/bare?page=3")).toEqual([`<${next}>; rel="prev"`, "5", null, "3"]);
});

describe("a list of the reference's records", () => {
  const answer = (item: string) =>
    `{ type: object, required: [items], properties: { items: { type: array, items: { type: object, required: [id], properties: { id: { type: string }, ${item}: { type: string } } } }, next_cursor: { type: string } } }`;
  const list = (path: string, id: string, field: string) =>
    `  ${path}:
    parameters: [{ name: ${field}, in: path, required: true, schema: { type: string } }]
    get:
      operationId: ${id}
      parameters: [${CURSOR.join(", ")}]
      responses: { "200": { description: d, content: { application/json: { schema: ${answer(field)} } } } }
      x-understudy: { list: ${id} }`;
  const text = `openapi: 3.0.3
info: { title: t, version: "1" }
paths:
${list("/x/threads/{thread_id}/messages", "messages", "thread_id")}
${list("/x/organizations/{organization_id}/departments", "departments", "organization_id")}
${list("/x/transcriptions/{transcription_id}/sentences", "sentences", "transcription_id")}
`;

  it.each([
    ["/x/threads/thread_welcome/messages", 4],
    ["/x/organizations/org_acme/departments", undefined],
    ["/x/transcriptions/trans_redacted/sentences", undefined],
  ])("has each of them on one page, the newest first: %s [interfaces 18]", async (path, count) => {
    await served.understudy.close();
    served = serveDocument(text);
    const whole = (await get(`${path}?limit=1000`)).items.map(({ id }: { id: string }) => id);
    if (count !== undefined) {
      const inWorld = [
        ...served.understudy.sandboxes
          .get("default")!
          .world.read()
          .index(messages, "by_thread", "thread_welcome"),
      ];
      expect(whole).toHaveLength(count);
      expect(whole).toEqual(inWorld.sort((a, b) => b.created_at - a.created_at).map(({ id }) => id));
    }
    expect(whole.length).toBeGreaterThan(3);
    const ids: string[] = [];
    for (let cursor = ""; ids.length <= whole.length; ) {
      const page = await get(`${path}?limit=3&cursor=${cursor}`);
      ids.push(...page.items.map(({ id }: { id: string }) => id));
      cursor = page.next_cursor;
      if (cursor === "") break;
    }
    expect(ids).toEqual(whole);
  });
});

it("a cursor of a sorted list continues at the right place if its record is deleted, changed or no longer listed [interfaces 18]", async () => {
  await served.understudy.close();
  served = serveDocument(`openapi: 3.0.3
info: { title: t, version: "1" }
x-understudy:
  collections: { tasks: { schema: "#/components/schemas/Task" } }
paths:
  /tasks:
    get:
      operationId: list
      parameters: [${CURSOR.join(", ")}, ${query("state", "type: string")}, ${query("sort", "type: string")}]
      responses: { "200": { description: d, content: { application/json: { schema: { type: object, properties: { items: { type: array, items: { $ref: "#/components/schemas/Task" } }, next_cursor: { type: string } } } } } } }
      x-understudy: { list: tasks, sort: "{query.sort}" }
    post:
      operationId: create
      requestBody: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/Task" } } } }
      responses: { "201": { description: d, content: { application/json: { schema: { $ref: "#/components/schemas/Task" } } } } }
      x-understudy: { create: tasks }
  /tasks/{task_id}:
    parameters: [{ name: task_id, in: path, required: true, schema: { type: string } }]
    patch:
      operationId: update
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses: { "200": { description: d, content: { application/json: { schema: { $ref: "#/components/schemas/Task" } } } } }
      x-understudy: { update: tasks }
    delete:
      operationId: remove
      responses: { "204": { description: d } }
      x-understudy: { delete: tasks }
components:
  schemas:
    Task: { type: object, required: [id, rank, state], properties: { id: { type: string, readOnly: true }, rank: { type: integer, nullable: true }, state: { type: string } } }
`);
  const ranks = [3, 1, 3, null, 5, 3, 1];
  const changes: [string, unknown?][] = [
    ["DELETE"],
    ["PATCH", { state: "closed" }],
    ["PATCH", { rank: 4 }],
    ["PATCH", { rank: null }],
  ];
  for (const sort of ["rank", "-rank"])
    for (const [method, body] of changes) {
      for (const rank of ranks) await served.send("POST", "/tasks", { body: { rank, state: "open" } });
      const path = `/tasks?state=open&sort=${sort}`;
      const whole = (await get(`${path}&limit=100`)).items.map(({ id }: { id: string }) => id);
      const first = await get(`${path}&limit=3`);
      await served.send(method, `/tasks/${whole[2]}`, { body });
      const rest = await get(`${path}&limit=100&cursor=${first.next_cursor}`);
      const ids = rest.items.map(({ id }: { id: string }) => id).filter((id: string) => id !== whole[2]);
      expect(ids, `${sort}, ${method} ${JSON.stringify(body)}`).toEqual(whole.slice(3));
      for (const { id } of (await get("/tasks?limit=100")).items) await served.send("DELETE", `/tasks/${id}`);
    }
});

it.each(["tags", "-tags", "meta", "-meta"])(
  "a list sorted by %s, whose values are lists or objects, has each record on one page [interfaces 18]",
  async (sort) => {
    await served.understudy.close();
    const task = 'content: { application/json: { schema: { $ref: "#/components/schemas/Task" } } }';
    served = serveDocument(`openapi: 3.0.3
info: { title: t, version: "1" }
x-understudy:
  collections: { tasks: { schema: "#/components/schemas/Task" } }
paths:
  /tasks:
    get:
      operationId: list
      parameters: [${CURSOR.join(", ")}, ${query("sort", "type: string")}]
      responses: { "200": { description: d, content: { application/json: { schema: { type: object, properties: { items: { type: array, items: { $ref: "#/components/schemas/Task" } }, next_cursor: { type: string } } } } } } }
      x-understudy: { list: tasks, sort: "{query.sort}" }
    post:
      operationId: create
      requestBody: { required: true, ${task} }
      responses: { "201": { description: d, ${task} } }
      x-understudy: { create: tasks }
components:
  schemas:
    Task: { type: object, required: [id], properties: { id: { type: string, readOnly: true }, tags: { type: array, items: { type: string } }, meta: { type: object } } }
`);
    for (const tag of ["c", "a", "b", "a", "c"])
      await served.send("POST", "/tasks", { body: { tags: [tag], meta: { tag } } });
    const listIds = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id);
    const whole = listIds(await get(`/tasks?limit=100&sort=${sort}`));
    const ids: string[] = [];
    let cursor = "";
    for (let page = 1; page <= 3; page++) {
      const body = await get(`/tasks?limit=2&sort=${sort}&cursor=${cursor}`);
      ids.push(...listIds(body));
      cursor = body.next_cursor;
    }
    expect([ids, cursor]).toEqual([whole, ""]);
  },
);

describe("a list without bindings", () => {
  const makeTextParameter = (name: string, more = "") => query(name, `type: string${more}`);
  const serve = async (parameters: string[]) => {
    await served.understudy.close();
    const task = 'content: { application/json: { schema: { $ref: "#/components/schemas/Task" } } }';
    served = serveDocument(`openapi: 3.0.3
info: { title: t, version: "1" }
paths:
  /tasks:
    get: { operationId: list, parameters: [${parameters.join(", ")}], responses: { "200": { description: d, content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Task" } } } } } } }
    post: { operationId: create, requestBody: { ${task} }, responses: { "201": { description: d, ${task} } } }
  /tasks/{id}:
    get: { operationId: get, responses: { "200": { description: d, ${task} } } }
components:
  schemas:
    Task: { type: object, required: [id], properties: { id: { type: integer, readOnly: true }, title: { type: string }, note: { type: string }, rank: { type: integer }, secret: { type: string, writeOnly: true }, created_at: { type: string, format: date-time, readOnly: true } } }
`);
    for (const [at, title] of ["Buy milk", "Call Ada", "milk the cow", "Sell"].entries())
      await served.send("POST", "/tasks", {
        body: { title, note: `by Ben ${at}`, rank: [2, 1, 2, 3][at], secret: "x7" },
      });
    for (let more = 5; more <= 10; more++)
      await served.send("POST", "/tasks", { body: { title: "z", note: "", rank: 9 } });
    return async (search: string) => (await get(`/tasks?${search}`)).map(({ id }: { id: number }) => id);
  };

  it.each(["search", "q"])("is searched by %s, for each word in any text [interfaces 18]", async (name) => {
    const list = await serve([makeTextParameter(name)]);
    expect(await list(`${name}=MILK`)).toEqual([3, 1]);
    expect(await list(`${name}=milk%20ben%200`)).toEqual([1]);
    expect(await list(`${name}=x7`)).toEqual([]);
    expect(await list(`${name}=nothing`)).toEqual([]);
    expect(await list(`${name}=`)).toHaveLength(10);
    expect(await list("")).toHaveLength(10);
  });

  const all = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1];
  it.each([
    ["ordering", "ordering=id", [...all].reverse()],
    ["ordering", "ordering=-rank,id", [5, 6, 7, 8, 9, 10, 4, 1, 3, 2]],
    ["sort", "sort=rank:asc,id:desc", [2, 3, 1, 4, 10, 9, 8, 7, 6, 5]],
    ["sort", "sort=title,desc", [5, 6, 7, 8, 9, 10, 3, 4, 2, 1]],
    ["order_by", "order_by=created%20asc", all],
    ["sortBy", "sortBy=colour", all],
    ["sort", "sort=id,description", [...all].reverse()],
    ["sort", "sort=id:descend", all],
    ["ordering", "", all],
  ])("is sorted by %s: %s [interfaces 18]", async (name, search, ids) => {
    const list = await serve([makeTextParameter(name)]);
    const found = await list(search);
    if (search.startsWith("sort=title")) expect(found.slice(6)).toEqual(ids.slice(6));
    else expect(found).toEqual(ids);
  });

  it("is sorted in the direction of another parameter, and has each record on one page [interfaces 18]", async () => {
    const direction = makeTextParameter("direction", ", enum: [asc, desc], default: asc");
    const list = await serve([makeTextParameter("sort"), direction, ...CURSOR]);
    expect(await list("sort=id&limit=3")).toEqual([1, 2, 3]);
    expect(await list("sort=id&direction=desc&limit=3")).toEqual([10, 9, 8]);
    expect(await list("sort=id&limit=3&cursor=3")).toEqual([4, 5, 6]);
  });

  it("begins with a new record, whose numeric id follows that of the newest [interfaces 18]", async () => {
    const list = await serve([]);
    const made = await served.understudy.fetch(
      new Request("http://x.test/_control/sandboxes/default/state/tasks", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ id: "101" }),
      }),
    );
    expect(made.status).toBe(201);
    expect((await served.send("POST", "/tasks", { body: { title: "New" } })).body.id).toBe(102);
    expect((await list("")).slice(0, 3)).toEqual([102, 101, 10]);
  });

  it("is sorted by the parts of Spring's `pageable` [interfaces 18]", async () => {
    const list = await serve([
      query(
        "pageable",
        "type: object, properties: { page: { type: integer, minimum: 0 }, size: { type: integer }, sort: { type: array, items: { type: string } } }",
      ),
    ]);
    expect(await list("page=0&size=3&sort=rank,desc&sort=id,asc")).toEqual([5, 6, 7]);
  });
});

/** Serves a list of trips; `parameters`, `answer` and `fields` are JSON or YAML of the document. */
async function serveTrips(parameters: string, { answer, fields }: { answer: string; fields: string }) {
  await served.understudy.close();
  const trip = 'content: { application/json: { schema: { $ref: "#/components/schemas/Trip" } } }';
  served = serveDocument(`openapi: 3.0.3
info: { title: t, version: "1" }
x-understudy:
  collections: { trips: { schema: "#/components/schemas/Trip" } }
paths:
  /trips:
    get:
      operationId: list
      parameters: [${parameters}]
      responses: { "200": { description: d, content: { application/json: { schema: ${answer} } } } }
      x-understudy: { list: trips }
    post:
      operationId: create
      requestBody: { required: true, ${trip} }
      responses: { "201": { description: d, ${trip} } }
      x-understudy: { create: trips }
components:
  schemas:
    Trip: { type: object, required: [id], properties: { id: { type: integer, readOnly: true }, ${fields} } }
`);
}

describe("a filter whose name is usual for pages [interfaces 18]", () => {
  beforeEach(async () => {
    const filters = [
      query("from", "type: string, format: date"),
      query("total"),
      query("size", "type: string, enum: [small, large]"),
    ];
    await serveTrips([...filters, ...PAGE].join(", "), {
      answer: `{ type: object, required: [items, total, next], properties: { ${ITEMS.replace("Item", "Trip")}, total: ${N}, next: ${URL} } }`,
      fields: "from: { type: string, format: date }, total: { type: integer }, size: { type: string }",
    });
    for (const [from, total, size] of [
      ["2026-01-01", 10, "small"],
      ["2026-01-02", 10, "large"],
      ["2026-01-01", 20, "small"],
      ["2026-01-01", 20, "large"],
    ])
      await served.send("POST", "/trips", { body: { from, total, size } });
  });

  it.each([
    ["from=2026-01-01", [4, 3, 1]],
    ["total=10", [2, 1]],
    ["size=small", [3, 1]],
  ])("filters by %s, and its next page does too", async (search, expected) => {
    const seen: number[] = [];
    for (let path: string | null = `/trips?${search}`; path !== null; ) {
      const { items, next }: { items: { id: number }[]; next: string | null } = await get(path);
      seen.push(...items.map(({ id }) => id));
      path = next?.replace("http://x.test", "") ?? null;
      if (seen.length > 9) break;
    }
    expect(seen).toEqual(expected);
  });
});

describe("a filter by bounds [interfaces 18]", () => {
  const bounds = (type: string) =>
    `{ type: object, properties: { gt: ${type}, gte: ${type}, lt: ${type}, lte: ${type} } }`;
  const date = "{ type: string, format: date-time }";
  const either = `anyOf: [${bounds(N)}, ${N}]`;

  it.each([
    [date, bounds(date), "created[gte]=2026-01-02T01:00:00%2B01:00", [4, 3, 2]],
    [N, `{ ${either} }`, "created[gt]=1&created[lt]=3", [2]],
    [N, `{ ${either} }`, "created[lte]=2", [2, 1]],
    [N, `{ ${either} }`, "created=2", [2]],
  ])("of %s, described as %s, is met by the records within: %s", async (type, schema, search, expected) => {
    await serveTrips(`{ name: created, in: query, style: deepObject, schema: ${schema} }`, {
      answer: '{ type: array, items: { $ref: "#/components/schemas/Trip" } }',
      fields: `created: ${type}`,
    });
    for (const day of [1, 2, 3])
      await served.send("POST", "/trips", {
        body: { created: type === N ? day : `2026-01-0${day}T00:00:00Z` },
      });
    // Without a number, but created now.
    await served.send("POST", "/trips", { body: {} });
    const found = await get(`/trips?${search}`);
    expect(found.map(({ id }: { id: number }) => id)).toEqual(expected);
  });
});
