import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, startReference } from "../support/harness.ts";
import { sendRawRequest } from "../support/raw-request.ts";

let api: Api;
let port: number;

beforeAll(async () => {
  api = await startReference();
  port = Number(new URL(api.url).port);
});
afterAll(() => api.close());

const FOREIGN_HOSTS = [
  "evil.test",
  "evil.test:{port}",
  "127.0.0.1.evil.test",
  "127.0.0.1.evil.test:{port}",
  "127.0.0.1.nip.io",
  "localhost.evil.test",
  "127.0.0.1.",
  "notlocalhost",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "0177.0.0.1",
  "127.1",
  "127.0.1",
  "127.0.0.01",
  "127.0.0.256",
  "192.168.1.5:{port}",
  "10.0.0.1",
  "169.254.169.254",
  "0.0.0.0:{port}",
  "[::]:{port}",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "127.0.0.1:99999",
  "127.0.0.1:0",
  "",
];

/** Requests without exactly one valid Host. The server refuses them before it reads their target. */
const INVALID_HOSTS: readonly string[][] = [
  [],
  ["Host: [::1"],
  ["Host: ::1"],
  ["Host: user@127.0.0.1"],
  ["Host: 127.0.0.1, evil.test"],
  ["Host: 127.0.0.1 evil.test"],
  ["Host: localhost\u00a0"],
  ["Host: 127.0.0.1:{port}", "Host: 127.0.0.1:{port}"],
  ["Host: localhost", "host: evil.test"],
  ["Host: evil.test", "HOST: localhost"],
];

const FOREIGN_ORIGINS = [
  "null",
  "http://evil.test",
  "https://evil.test:{port}",
  "http://127.0.0.1.evil.test",
  "http://localhost.evil.test:{port}",
  "http://2130706433",
  "http://0x7f.1:{port}",
  "http://127.1",
  "http://[::ffff:7f00:1]:{port}",
  "http://0.0.0.0:{port}",
  "http://192.168.1.5",
  "http://127.0.0.1@evil.test",
  "http://evil.test#127.0.0.1",
  "http://127.0.0.1/",
  "file://",
  "chrome-extension://abcdefghijklmnop",
  "http://",
  "127.0.0.1",
];

interface Call {
  method: string;
  path: string;
  type?: string;
  body?: string;
}

const CALLS: readonly Call[] = [
  { method: "GET", path: "/_control/health" },
  { method: "GET", path: "/_control/sandboxes/default/state/api_keys" },
  { method: "GET", path: "/_control/sandboxes/default/journal/stream" },
  { method: "GET", path: "/_console" },
  { method: "POST", path: "/_control/sandboxes", type: "application/json", body: '{"name":"forged"}' },
  { method: "POST", path: "/_control/sandboxes", type: "text/plain", body: '{"name":"forged"}' },
  { method: "POST", path: "/_control/sandboxes/default/reset" },
  {
    method: "PATCH",
    path: "/_control/sandboxes/default",
    type: "application/json",
    body: '{"settings":{"preview":"on"}}',
  },
  { method: "DELETE", path: "/_control/sandboxes/victim" },
  { method: "OPTIONS", path: "/_control/sandboxes" },
];

function send(call: Call, target: string, headers: readonly string[], version = "1.1") {
  const body = call.body ?? "";
  return sendRawRequest(
    port,
    [
      `${call.method} ${target} HTTP/${version}`,
      ...headers.map((header) => header.replaceAll("{port}", String(port))),
      ...(call.type ? [`Content-Type: ${call.type}`] : []),
      ...(call.method === "GET" ? [] : [`Content-Length: ${body.length}`]),
      "Connection: close",
    ],
    body,
  );
}

/** Reads everything that a forged call in the list could change. */
async function readState(): Promise<string> {
  const { text } = await api.call(undefined, "GET", "/_control/sandboxes");
  return text + api.understudy.sandboxes.get("default")!.resets;
}

describe("access to the control API and the console", () => {
  const sources: { name: string; headers: string[]; absolute?: string }[] = [
    ...FOREIGN_HOSTS.map((host) => ({ name: `Host ${JSON.stringify(host)}`, headers: [`Host: ${host}`] })),
    ...FOREIGN_ORIGINS.map((origin) => ({
      name: `Origin ${origin}`,
      headers: ["Host: 127.0.0.1:{port}", `Origin: ${origin}`],
    })),
    { name: "a foreign absolute target", headers: ["Host: localhost"], absolute: "http://evil.test" },
    {
      name: "an allowed absolute target, a foreign Host",
      headers: ["Host: evil.test"],
      absolute: "http://localhost",
    },
    {
      name: "a target with credentials",
      headers: ["Host: localhost"],
      absolute: "http://localhost@evil.test",
    },
    { name: "a target of another scheme", headers: ["Host: localhost"], absolute: "ftp://localhost" },
    {
      name: "a script element of another site",
      headers: ["Host: 127.0.0.1:{port}", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"],
    },
  ];

  it("has at least 200 combinations to refuse", () => {
    expect(sources.length * CALLS.length).toBeGreaterThanOrEqual(200);
  });

  it.each(sources)("refuses $name on every call and changes nothing", async ({ headers, absolute }) => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "victim" });
    const before = await readState();
    for (const call of CALLS) {
      const answer = await send(call, (absolute ?? "") + call.path, headers);
      expect(answer.status, `${call.method} ${call.path}`).toBe(403);
      expect(answer.headers["content-type"]).toBe("application/problem+json");
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
      expect(JSON.parse(answer.body)).toMatchObject({
        status: 403,
        title: expect.any(String),
        detail: expect.any(String),
      });
    }
    expect(await readState()).toBe(before);
  });

  it.each(INVALID_HOSTS.map((headers) => ({ headers })))(
    "refuses $headers as a request that is not HTTP and changes nothing [RFC 9112 3.2]",
    async ({ headers }) => {
      const before = await readState();
      for (const call of CALLS) expect((await send(call, call.path, headers)).status).toBe(400);
      expect(await readState()).toBe(before);
    },
  );

  it("refuses HTTP/1.0 without a Host", async () => {
    for (const call of CALLS) expect((await send(call, call.path, [], "1.0")).status).toBe(403);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/json",
    "",
  ])("refuses a body of type %j, which a page can send without asking first", async (type) => {
    const before = await readState();
    for (const path of [
      "",
      "/default/reset",
      "/default/fork",
      "/default/snapshots",
      "/default/clock/advance",
      // These calls take no body, and a page must not be able to make them by sending one.
      "/default/snapshots/kept/restore",
      "/default/bundle",
    ]) {
      const call = { method: "POST", path: `/_control/sandboxes${path}`, type, body: '{"name":"forged"}' };
      const answer = await send(call, call.path, ["Host: 127.0.0.1:{port}"]);
      expect(answer.status).toBe(415);
      expect(answer.headers["content-type"]).toBe("application/problem+json");
    }
    expect(await readState()).toBe(before);
  });

  it.each(["127.0.0.1:{port}", "127.0.0.1", "127.8.9.10:1", "localhost", "LocalHost:{port}", "[::1]:{port}"])(
    "answers Host %s",
    async (host) => {
      const answer = await send(CALLS[0]!, "/_control/health", [`Host: ${host}`]);
      expect(answer.status).toBe(200);
      expect((await send(CALLS[0]!, `http://localhost/_control/health`, [`Host: ${host}`])).status).toBe(200);
    },
  );

  it.each(["http://localhost:5173", "http://127.0.0.1:{port}", "https://localhost", "http://[::1]:3000"])(
    "lets a page of %s read the answer without further checks",
    async (origin) => {
      const headers = ["Host: 127.0.0.1:{port}", `Origin: ${origin}`];
      const allowed = origin.replace("{port}", String(port));
      const answer = await send(CALLS[0]!, "/_control/health", headers);
      expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([200, allowed]);
      const preflight = await send({ method: "OPTIONS", path: "" }, "/_control/sandboxes/default", [
        ...headers,
        "Access-Control-Request-Method: PATCH",
      ]);
      expect(preflight.status).toBe(204);
      expect(preflight.headers["access-control-allow-methods"]).toContain("PATCH");
      const missing = await send({ method: "GET", path: "" }, "/_control/sandboxes/nobody", headers);
      expect([missing.status, missing.headers["access-control-allow-origin"]]).toEqual([404, allowed]);
    },
  );

  it("leaves the emulated API open to any Host (interfaces 3)", async () => {
    const answer = await send({ method: "GET", path: "" }, "/v1/models", [
      "Host: api.example.test",
      "api-key: ak_adaOwnerAcme000000000000000000000000000",
    ]);
    expect(answer.status).toBe(200);
  });
});

describe("a browser at the emulated API", () => {
  const BROWSERS = [
    "Sec-Fetch-Site: same-origin",
    "Sec-Fetch-Site: none",
    "Origin: http://evil.test:{port}",
    "Origin: null",
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
  ];
  const key = "api-key: ak_adaOwnerAcme000000000000000000000000000";
  const paths = ["/v1/models", "/_s/default/v1/models", "/_s/nobody/v1/models", "/v9/nothing"];

  it.each(FOREIGN_HOSTS)("is refused at %j, and the refusal names --allow-host", async (host) => {
    for (const mark of BROWSERS) {
      for (const path of paths) {
        const answer = await send({ method: "DELETE", path }, path, [`Host: ${host}`, mark, key]);
        expect([path, mark, answer.status]).toEqual([path, mark, 403]);
        expect(answer.headers["x-sandbox-decision"]).toBe("host-not-allowed");
        expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
        const problem = JSON.parse(answer.body);
        expect(problem).toMatchObject({ type: "urn:understudy:problem:host-not-allowed", field: "Host" });
        expect(problem.detail).toContain("--allow-host");
      }
    }
  });

  it("gets the option that would allow it", async () => {
    const answer = await send({ method: "GET", path: "" }, "/v1/models", [
      "Host: Team.example.test:{port}",
      BROWSERS[0]!,
    ]);
    expect(JSON.parse(answer.body).detail).toContain("--allow-host team.example.test.");
  });

  it("is refused for its preflights too, and for an absolute target with another host", async () => {
    const preflight = await send({ method: "OPTIONS", path: "" }, "/v1/models", [
      "Host: evil.test",
      "Origin: http://evil.test",
      "Access-Control-Request-Method: DELETE",
    ]);
    expect(preflight.status).toBe(403);
    const absolute = await send({ method: "GET", path: "" }, "http://evil.test/v1/models", [
      "Host: localhost",
      BROWSERS[0]!,
      key,
    ]);
    expect(absolute.status).toBe(403);
  });

  it.each(["127.0.0.1:{port}", "localhost", "[::1]:1"])("is answered at %s", async (host) => {
    for (const mark of BROWSERS) {
      const answer = await send({ method: "GET", path: "" }, "/v1/models", [`Host: ${host}`, mark, key]);
      expect(answer.status).toBe(200);
    }
  });

  it("is answered at an allowed name, and at no other", async () => {
    const open = await startReference({ allowHosts: ["app.example.test"] });
    const ask = async (host: string) =>
      (
        await sendRawRequest(Number(new URL(open.url).port), [
          "GET /v1/models HTTP/1.1",
          `Host: ${host}`,
          `Origin: http://${host}`,
          key,
          "Connection: close",
        ])
      ).status;
    expect(await ask("app.example.test:8080")).toBe(200);
    expect(await ask("other.example.test")).toBe(403);
    await open.close();
  });

  it.each(["curl/8.5.0", "node", "python-requests/2.31.0", "Java-http-client/17"])(
    "may use any Host if it is %s",
    async (agent) => {
      const headers = ["Host: api.example.test", `User-Agent: ${agent}`, "Sec-Fetch-Mode: cors", key];
      expect((await send({ method: "GET", path: "" }, "/v1/models", headers)).status).toBe(200);
    },
  );
});

describe("shared mode", () => {
  const token = "a-control-token-of-this-test";
  let shared: Api;
  beforeAll(async () => {
    shared = await startReference({
      shared: { token, limits: { sandboxes: 2, records: 20 } },
      allowHosts: ["box.test", "10.0.0.5:81"],
    });
  });
  afterAll(() => shared.close());

  const ask = (headers: string[], path = "/_control/health") =>
    sendRawRequest(Number(new URL(shared.url).port), [
      `GET ${path} HTTP/1.1`,
      ...headers,
      "Connection: close",
    ]);

  it.each([
    ["no token", []],
    ["another token", ["Authorization: Bearer nope"]],
    ["a part of the token", [`Authorization: Bearer ${token.slice(0, -1)}`]],
    ["more than the token", [`Authorization: Bearer ${token}x`]],
    ["the token in another scheme", [`Authorization: Basic ${token}`]],
    ["the token as an API key", [`api-key: ${token}`]],
    ["an empty token", ["Authorization: Bearer "]],
  ])("requires the token on every call: %s is 401", async (_name, headers) => {
    for (const { path } of CALLS.filter(({ method, path }) => method === "GET" && path !== "/_console")) {
      const answer = await ask(["Host: box.test", ...headers], path);
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toMatch(/^Bearer/);
      expect(JSON.parse(answer.body)).toMatchObject({ status: 401, title: "Control token required" });
    }
  });

  it("accepts the token only from allowed hosts and origins", async () => {
    const bearer = `authorization: bearer ${token}`;
    expect((await ask(["Host: box.test", bearer])).status).toBe(200);
    expect((await ask(["Host: box.test:8080", bearer, "Origin: https://box.test"])).status).toBe(200);
    expect((await ask(["Host: 10.0.0.5:81", bearer])).status).toBe(200);
    expect((await ask(["Host: 10.0.0.5:82", bearer])).status).toBe(403);
    expect((await ask(["Host: box.test.evil.test", bearer])).status).toBe(403);
    expect((await ask(["Host: box.test", bearer, "Origin: http://evil.test"])).status).toBe(403);
  });

  it("enforces its limits and says which one was reached", async () => {
    const headers = { authorization: `Bearer ${token}` };
    const call = (path: string, body: unknown) =>
      shared.call(undefined, "POST", `/_control/sandboxes${path}`, body, headers);
    const whole = await call("", { name: "second" });
    expect([whole.status, whole.body.limit], "the reference world is too large here").toEqual([
      409,
      "records",
    ]);
    const fixture = {
      organizations: [{ id: "org_a" }],
      users: [{ id: "usr_a", memberships: { org_a: "owner" } }],
    };
    expect((await call("", { name: "second", fixture })).status).toBe(201);
    const third = await call("", { name: "third", fixture });
    expect([third.status, third.body.limit, third.body.allowed]).toEqual([409, "sandboxes", 2]);
    expect((await call("/second/fork", { name: "third" })).status).toBe(409);
    let answer = await call("/second/state/threads", {});
    for (let made = 1; answer.status === 201 && made < 30; made++)
      answer = await call("/second/state/threads", {});
    expect([answer.status, answer.body.limit]).toEqual([409, "records"]);
  });
});

it("every answer of the control API, refusals too, forbids browsers to guess its type [interfaces 3]", async () => {
  for (const path of ["/_control/health", "/_control/sandboxes/none", "/_control/none"]) {
    const { headers } = await api.call(undefined, "GET", path);
    expect([path, headers.get("x-content-type-options")]).toEqual([path, "nosniff"]);
  }
});

it("a body that is too large for the control API is refused with the limit [interfaces 4]", async () => {
  const name = "x".repeat(16 * 1024 * 1024);
  const { status, body } = await api.call(undefined, "POST", "/_control/sandboxes", { name });
  expect([status, body.detail]).toEqual([413, "The body may have at most 16777216 bytes."]);
});
