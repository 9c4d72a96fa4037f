import { once } from "node:events";
import { connect as openSocket, Server as SocketServer } from "node:net";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { connect, createUnderstudy } from "../../src/client/index.ts";
import { type Api, type ApiResponse, KEYS, startReference } from "../support/harness.ts";
import { type RawAnswer, sendRawRequest } from "../support/raw-request.ts";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await api.close();
});

afterAll(removeTempFolders);

const control = (method: string, path: string, body?: unknown): Promise<ApiResponse> =>
  api.call(undefined, method, `/_control/sandboxes${path}`, body);
const createSandbox = async (body: object): Promise<ApiResponse["body"]> =>
  (await control("POST", "", body)).body;

/** Sends a request to the server's port with any Host. */
function sendTo(host: string, path: string, lines: readonly string[] = []): Promise<RawAnswer> {
  const head = [`GET ${path} HTTP/1.1`, `Host: ${host}`, `api-key: ${KEYS.dan}`, "Connection: close"];
  return sendRawRequest(Number(new URL(api.url).port), [...head, ...lines]);
}

const listRequests = async (name: string): Promise<string[]> =>
  (await control("GET", `/${name}/journal`)).body.entries.map((entry: { path: string }) => entry.path);

describe("a sandbox's name below localhost [interfaces 16]", () => {
  it.each([
    "mine.localhost",
    "mine.localhost:4747",
    "MINE.LocalHost:4747",
    "mine.localhost.",
    "mine.localhost.:4747",
  ])("reaches the sandbox `mine` as %s, in any case, with dot and port", async (host) => {
    await createSandbox({ name: "mine" });
    expect((await sendTo(host, "/v1/models")).status).toBe(200);
    expect([await listRequests("mine"), await listRequests("default")]).toEqual([["/v1/models"], []]);
  });

  it("is the name in an absolute target, whatever Host says", async () => {
    await createSandbox({ name: "mine" });
    await sendTo("other.localhost", "http://MINE.localhost:1?x=1");
    await sendTo("mine.localhost", "http://localhost/v1/models");
    expect([await listRequests("mine"), await listRequests("default")]).toEqual([["/"], ["/v1/models"]]);
    const path = "/_control/sandboxes/mine";
    const { base_url } = JSON.parse((await sendTo("localhost:1", `http://mine.localhost:2${path}`)).body);
    expect(base_url).toBe("http://mine.localhost:2");
  });

  it("is separate for two servers on one machine", async () => {
    const other = await startReference();
    await createSandbox({ name: "mine" });
    await other.call(undefined, "POST", "/_control/sandboxes", { name: "mine" });
    await sendTo(`mine.localhost:${new URL(api.url).port}`, "/v1/models");
    const elsewhere = await other.call(undefined, "GET", "/_control/sandboxes/mine/journal");
    await other.close();
    expect([await listRequests("mine"), elsewhere.body.total]).toEqual([["/v1/models"], 0]);
  });

  it("is `default` for default.localhost, localhost and addresses", async () => {
    for (const host of ["default.localhost", "localhost", "localhost.", "127.0.0.1:4747", "[::1]:4747"])
      expect([host, (await sendTo(host, "/v1/models")).status]).toEqual([host, 200]);
    expect(await listRequests("default")).toHaveLength(5);
  });

  it("is overruled by X-Sandbox, and both by the path's prefix", async () => {
    for (const name of ["one", "two", "three"]) await createSandbox({ name });
    await sendTo("one.localhost", "/_s/two/v1/models", ["X-Sandbox: three"]);
    await sendTo("one.localhost", "/v1/models", ["X-Sandbox: three"]);
    await sendTo("one.localhost", "/v1/models");
    for (const name of ["one", "two", "three"]) expect(await listRequests(name)).toEqual(["/v1/models"]);
  });

  it.each(["nobody", "a.mine", "under_score", "-", "xn--nxasmq6b"])(
    "answers for %s.localhost with the list of known sandboxes",
    async (name) => {
      await createSandbox({ name: "mine" });
      const { status, headers, body } = await sendTo(`${name}.localhost`, "/v1/models");
      expect([status, headers["x-sandbox-decision"]]).toEqual([404, "unknown-sandbox"]);
      expect(JSON.parse(body)).toMatchObject({ sandbox: name, sandboxes: ["default", "mine"] });
    },
  );

  it("leaves a name that ends in a hyphen, which no resolver accepts, to header and prefix", async () => {
    await createSandbox({ name: "odd-" });
    for (const answer of [
      await sendTo("odd-.localhost", "/v1/models"),
      await sendTo("localhost", "/_s/odd-/v1/models"),
    ])
      expect(answer.status).toBe(200);
  });

  it("is in the URLs that are handed out, which need no prefix", async () => {
    await createSandbox({ name: "mine" });
    expect(await announceUpload("mine.localhost:1", "")).toMatch(/^http:\/\/mine\.localhost:1\/upload\//);
    expect(await announceUpload("mine.localhost:1", "/_s/mine")).toMatch(
      /^http:\/\/mine\.localhost:1\/_s\/mine\/upload\//,
    );
    expect(await announceUpload("127.0.0.1:1", "/_s/mine")).toMatch(
      /^http:\/\/127\.0\.0\.1:1\/_s\/mine\/upload\//,
    );
    const shown = await sendTo("mine.localhost:1", "/_control/sandboxes");
    const urls = JSON.parse(shown.body).items.map((item: { base_url: string }) => item.base_url);
    expect(urls).toEqual(["http://mine.localhost:1/_s/default", "http://mine.localhost:1"]);
  });

  it("lists no names of sandboxes on a shared server", async () => {
    const shared = await startReference({ shared: { token: "a-token-of-this-test" } });
    try {
      const answer = await shared.call("dan", "GET", "/_s/nobody/v1/models");
      expect([answer.status, answer.body.sandboxes]).toEqual([404, undefined]);
    } finally {
      await shared.close();
    }
  });
});

const ANNOUNCED = { filename: "a.txt", mime_type: "text/plain", file_size: 3 };
const UPLOAD_URL = "/v1/organizations/org_acme/files/upload-url";

async function announceUpload(host: string, prefix: string): Promise<string> {
  const text = JSON.stringify(ANNOUNCED);
  const answer = await sendRawRequest(
    Number(new URL(api.url).port),
    [
      `POST ${prefix}${UPLOAD_URL} HTTP/1.1`,
      ...[`Host: ${host}`, `api-key: ${KEYS.dan}`, "Connection: close"],
      ...["Content-Type: application/json", `Content-Length: ${text.length}`],
    ],
    text,
  );
  return JSON.parse(answer.body).upload_url;
}

/** Sends requests as clients do that keep only the origin of the base URL. */
const fetchAs = (base: string, path: string, init: RequestInit = {}) =>
  fetch(new URL(path, base), { ...init, headers: { "api-key": KEYS.dan, ...init.headers } });

const makeJson = (body: object): RequestInit => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "content-type": "application/json" },
});

describe("a sandbox's own port [interfaces 16]", () => {
  it("serves this sandbox only, until it is deleted", async () => {
    const { name, origin, base_url } = await createSandbox({ name: "mine", origin: true });
    expect(origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(base_url).toBe(`${api.url}/_s/mine`);
    expect((await fetchAs(`${origin}/some/path/`, "/v1/models")).status).toBe(200);
    expect([await listRequests(name), await listRequests("default")]).toEqual([["/v1/models"], []]);
    expect(await (await fetch(`${origin}/_control/sandboxes/mine`)).json()).toMatchObject({
      ...{ name, origin, base_url: origin },
    });
    expect((await fetch(`${origin}/_control/health`)).status).toBe(200);
    expect((await control("DELETE", "/mine")).status).toBe(204);
    await expect(fetch(origin)).rejects.toThrow();
    expect((await control("GET", "/mine")).status).toBe(404);
  });

  it.each([
    "/_s/other/v1/models",
    "/_s/default/v1/models",
    "/_control/sandboxes/other",
    "/_control/sandboxes/mine2/journal",
    "/_control/sandboxes/%6fther",
    "/_control/sandboxes",
    "/_control/metrics",
    "/_control/mcp",
    "/_console",
    "/_receivers/other/r_1",
  ])("answers %s with 421", async (path) => {
    for (const name of ["other", "mine2"]) await createSandbox({ name });
    const { origin } = await createSandbox({ name: "mine", origin: true });
    const answer = await fetchAs(origin, path);
    expect([answer.status, await answer.text()]).toEqual([421, expect.stringContaining("mine")]);
    for (const name of ["other", "mine2", "default"]) expect(await listRequests(name)).toEqual([]);
  });

  it("answers 421 to X-Sandbox and the name of another sandbox, and accepts its own", async () => {
    await createSandbox({ name: "other" });
    const { origin } = await createSandbox({ name: "mine", origin: true });
    const fetchStatus = async (headers: Record<string, string>, path = "/v1/models") =>
      (await fetchAs(origin, path, { headers })).status;
    expect(await fetchStatus({ "x-sandbox": "other" })).toBe(421);
    expect(await fetchStatus({ "x-sandbox": "mine" })).toBe(200);
    expect(await fetchStatus({}, "/_s/mine/v1/models")).toBe(200);
  });

  it("answers 421 to the host name of another sandbox, and accepts its own and that of a proxy", async () => {
    await createSandbox({ name: "other" });
    const { origin } = await createSandbox({ name: "mine", origin: true });
    const port = Number(new URL(origin).port);
    const fetchStatus = async (host: string) =>
      (await sendRawRequest(port, ["GET /v1/models HTTP/1.1", `Host: ${host}`, "Connection: close"])).status;
    expect(await fetchStatus(`other.localhost:${port}`)).toBe(421);
    for (const host of [
      `mine.localhost:${port}`,
      `localhost:${port}`,
      "app.localhost:5173",
      "other.localhost",
    ])
      expect([host, await fetchStatus(host)]).toEqual([host, 401]);
    expect(await listRequests("other")).toEqual([]);
  });

  it("is in the URLs of uploads, streams and receivers that it hands out", async () => {
    const { origin } = await createSandbox({ name: "mine", origin: true });
    const announced = await fetchAs(origin, UPLOAD_URL, makeJson(ANNOUNCED));
    const { upload_url } = (await announced.json()) as { upload_url: string };
    expect(upload_url.startsWith(`${origin}/upload/`)).toBe(true);
    expect((await fetch(upload_url, { method: "PUT", body: "abc" })).status).toBe(200);
    const entries = (await connect(origin).open("mine")).journal.follow({ path: "/v1/models" }, 0);
    const first = entries.next();
    await fetchAs(origin, "/v1/models");
    expect((await first).value).toMatchObject({ path: "/v1/models" });
    const added = await fetch(`${origin}/_control/sandboxes/mine/receivers`, makeJson({}));
    const { url } = (await added.json()) as { url: string };
    expect(url.startsWith(`${origin}/_receivers/mine/`)).toBe(true);
    expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(200);
  });

  it("is not in a fork made there, which has the server's address", async () => {
    const { origin } = await createSandbox({ name: "mine", origin: true });
    const forked = await fetch(`${origin}/_control/sandboxes/mine/fork`, makeJson({ name: "second" }));
    expect(await forked.json()).toMatchObject({ base_url: `${api.url}/_s/second`, origin: null });
  });

  it("reaches no other sandbox over a kept connection after its own is deleted", async () => {
    const { origin } = await createSandbox({ name: "mine", origin: true });
    const socket = openSocket(Number(new URL(origin).port), "127.0.0.1");
    const ask = `GET /v1/models HTTP/1.1\r\nHost: x\r\napi-key: ${KEYS.dan}\r\n\r\n`;
    socket.write(ask);
    await once(socket, "data");
    const closed = once(socket, "close");
    await control("DELETE", "/mine");
    await closed;
    expect(await listRequests("default")).toEqual([]);
  });

  it("accepts the call that deletes its sandbox", async () => {
    const { origin } = await createSandbox({ name: "mine", origin: true });
    const answer = await fetch(`${origin}/_control/sandboxes/mine`, { method: "DELETE" });
    expect(answer.status).toBe(204);
    await expect(fetch(origin)).rejects.toThrow();
  });

  it("is refused with 503 if no port is free, and nothing is left behind", async () => {
    vi.spyOn(SocketServer.prototype, "listen").mockImplementation(function (this: SocketServer) {
      queueMicrotask(() => this.emit("error", new Error("listen EADDRINUSE: address already in use")));
      return this;
    });
    const refused = await control("POST", "", { name: "mine", origin: true });
    expect([refused.status, refused.body.type]).toEqual([503, "urn:understudy:problem:no-port"]);
    expect(refused.body.detail).toContain("EADDRINUSE");
    vi.restoreAllMocks();
    expect((await control("GET", "/mine")).status).toBe(404);
    expect(await createSandbox({ name: "mine", origin: true })).toMatchObject({ origin: expect.any(String) });
  });

  it("is not opened for a fixture that cannot be used", async () => {
    const listen = vi.spyOn(SocketServer.prototype, "listen");
    expect((await control("POST", "", { origin: true, fixture: "nowhere" })).status).toBe(422);
    expect((await control("POST", "", { origin: "yes" })).status).toBe(422);
    expect(listen).not.toHaveBeenCalled();
  });

  it("is closed with the server", async () => {
    const own = await startReference();
    const made = await own.call(undefined, "POST", "/_control/sandboxes", { origin: true });
    const { origin } = made.body;
    const kept = await fetchAs(origin, "/v1/models");
    await kept.text();
    await own.close();
    await expect(fetch(origin)).rejects.toThrow();
  });

  it("is not restored with a saved world, which keeps its name [interfaces 2]", async () => {
    const persist = { folder: createTempFolder() };
    const before = await startReference({ persist });
    await before.call(undefined, "POST", "/_control/sandboxes", { name: "mine", origin: true });
    await before.close();
    const after = await startReference({ persist });
    const shown = await after.call(undefined, "GET", "/_control/sandboxes/mine");
    await after.close();
    expect(shown.body).toMatchObject({ origin: null, base_url: `${after.url}/_s/mine` });
  });

  it("is limited in number on a shared server, and only for clients with the token", async () => {
    const token = "a-token-of-this-test";
    const shared = await startReference({ shared: { token, limits: { origins: 1 } } });
    try {
      const authorization = { authorization: `Bearer ${token}` };
      const post = (headers?: Record<string, string>) =>
        shared.call(undefined, "POST", "/_control/sandboxes", { origin: true }, headers);
      expect((await post()).status).toBe(401);
      const { origin, name } = (await post(authorization)).body;
      expect((await fetch(`${origin}/_control/sandboxes/${name}`)).status).toBe(401);
      const second = await post(authorization);
      expect([second.status, second.body.limit]).toEqual([409, "origins"]);
      await shared.call(undefined, "DELETE", `/_control/sandboxes/${name}`, undefined, authorization);
      const { listen } = SocketServer.prototype;
      vi.spyOn(SocketServer.prototype, "listen").mockImplementation(function (this: SocketServer, ...args) {
        setTimeout(() => listen.apply(this, args as never), 50);
        return this;
      });
      const atOnce = await Promise.all([post(authorization), post(authorization), post(authorization)]);
      expect(atOnce.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    } finally {
      await shared.close();
    }
  });

  it("is closed to pages of other sites too", async () => {
    const { origin } = await createSandbox({ name: "mine", origin: true });
    const asked = await fetch(`${origin}/_control/sandboxes/mine`, {
      headers: { origin: "https://evil.test" },
    });
    expect(asked.status).toBe(403);
  });

  it("is in the answer to a repeated request that came over it", async () => {
    const { origin } = await createSandbox({ name: "mine", origin: true, clock: { mode: "frozen" } });
    await (await fetchAs(origin, UPLOAD_URL, makeJson(ANNOUNCED))).text();
    const sandbox = await connect(api.url).open("mine");
    const { entries } = await sandbox.history.list();
    await sandbox.history.rewind(entries[0]!.id);
    expect(await sandbox.history.repeat(entries[0]!.id)).toMatchObject({ same: true, differences: [] });
  });
});

describe("a server whose `default` refuses [interfaces 16]", () => {
  it("answers 421 to a base URL without its path, and lists the sandboxes", async () => {
    const understudy = await createUnderstudy({ refuseDefault: true });
    try {
      const sandbox = await understudy.sandbox({ name: "mine" });
      const key = { "api-key": sandbox.credentials["usr_dan"]! };
      const dropped = await fetch(new URL("/v1/models", sandbox.url), { headers: key });
      expect([dropped.status, dropped.headers.get("x-sandbox-decision")]).toEqual([421, "no-sandbox"]);
      expect(await dropped.json()).toMatchObject({
        sandboxes: ["mine"],
        hint: expect.stringContaining("path"),
      });
      expect((await fetch(`${sandbox.url}/v1/models`, { headers: key })).status).toBe(200);
      const withOrigin = await understudy.sandbox({ origin: true });
      const reached = await fetch(new URL("/v1/models", withOrigin.url), { headers: key });
      expect(reached.status).toBe(200);
    } finally {
      await understudy.close();
    }
  });
});
