import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { build, createLogger, createServer, type PluginOption } from "vite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { makeCertificate } from "../hosts/node/make-certificate.ts";
import { createUnderstudy } from "./create-understudy.ts";
import { defineOperation } from "./operations.ts";
import understudy, { type PluginOptions } from "./vite.ts";

let root: string;
const said: string[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "understudy-vite-"));
  said.length = 0;
  // Makes the plugin believe that no page is served.
  vi.stubEnv("VITEST", undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

async function serveDev(options?: PluginOptions, https?: { cert: string; key: string }) {
  const customLogger = createLogger("silent");
  customLogger.info = (text) => said.push(text);
  const vite = await createServer({
    ...{ root, configFile: false, customLogger, plugins: [understudy(options)] },
    server: { port: 0, host: "127.0.0.1", ws: false, ...(https && { https }) },
  });
  await vite.listen();
  const { port } = vite.httpServer!.address() as { port: number };
  return { vite, page: `http${https ? "s" : ""}://127.0.0.1:${port}` };
}

const findPrintedUrl = () => /Understudy (http:\S+) serves \/v1, \/v2, \/webhooks/.exec(said.join("\n"))?.[1];

describe("understudy-sandbox/vite", () => {
  it("starts a server with the dev server, proxies to it, and stops it with the dev server [interfaces 13]", async () => {
    const { vite, page } = await serveDev({ seed: 7 });
    const server = findPrintedUrl()!;
    try {
      const answer = await fetch(`${page}/v1/models`);
      expect([answer.status, answer.headers.get("x-sandbox-decision")]).toEqual([401, "auth"]);
      const state = await (await fetch(`${server}/_control/sandboxes/default`)).json();
      expect(state).toMatchObject({ seed: 7 });
      await vite.restart();
      const journal = await (await fetch(`${server}/_control/sandboxes/default/journal`)).json();
      expect(journal).toMatchObject({ total: 1 });
    } finally {
      await vite.close();
    }
    await expect(fetch(server)).rejects.toThrow();
  });

  it("has the scenarios in the project's folder scenarios, unless another is named [interfaces 13]", async () => {
    for (const folder of ["scenarios", "others"]) mkdirSync(join(root, folder));
    const rule = "rules: [{ effect: { error: RATE_LIMIT_EXCEEDED } }]\n";
    writeFileSync(join(root, "scenarios", "busy.yaml"), rule);
    writeFileSync(join(root, "others", "busier.yaml"), rule);
    for (const [name, options] of [
      ["busy", {}],
      ["busier", { scenariosFolder: join(root, "others") }],
    ] as const) {
      const { vite } = await serveDev(options);
      try {
        const answer = await fetch(`${findPrintedUrl()}/_control/sandboxes/default/scenarios`);
        const { items } = (await answer.json()) as { items: { name: string }[] };
        const names = items.map((one) => one.name).filter((one) => one.startsWith("bus"));
        expect(names).toEqual([name]);
      } finally {
        await vite.close();
        said.length = 0;
      }
    }
  });

  it("uses the server of UNDERSTUDY_URL, and starts none if no page is served [interfaces 13]", async () => {
    const own = await serveDev();
    vi.stubEnv("UNDERSTUDY_URL", findPrintedUrl());
    said.length = 0;
    const plugin = understudy();
    const asked = plugin.config as (config: object, env: object) => Promise<object | undefined>;
    expect(await asked({}, { command: "serve", mode: "development" })).toMatchObject({ server: {} });
    expect(await asked({}, { command: "build", mode: "production" })).toBeUndefined();
    expect(await asked({}, { command: "serve", mode: "production", isPreview: true })).toBeUndefined();
    vi.stubEnv("VITEST", "true");
    expect(await asked({}, { command: "serve", mode: "test" })).toBeUndefined();
    await own.vite.close();
  });

  it("uses the sandbox that UNDERSTUDY_URL names [interfaces 13]", async () => {
    const server = await createUnderstudy();
    const mine = await server.sandbox({ name: "mine" });
    await mine.state("api_keys").remove("apikey_dan");
    vi.stubEnv("UNDERSTUDY_URL", mine.url);
    const { vite, page } = await serveDev();
    try {
      expect((await fetch(`${page}/v1/models`)).status).toBe(401);
      expect((await mine.journal.list()).total).toBe(1);
      const { credentials } = await vite.ssrLoadModule("virtual:understudy");
      expect(Object.keys(credentials)).not.toContain("usr_dan");
    } finally {
      await vite.close();
      await server.close();
    }
  });

  it("leaves navigations, and paths that only begin with the same letters, to the application", async () => {
    writeFileSync(join(root, "index.html"), "<title>the application</title>");
    const { vite, page } = await serveDev();
    try {
      const get = async (path: string, headers: Record<string, string>) => {
        const answer = await fetch(page + path, { headers });
        return [
          path,
          answer.headers.get("x-sandbox-decision") ?? (await answer.text()).includes("the application"),
        ];
      };
      const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
      for (const path of [
        "/webhooks",
        "/webhooks/new?a=1",
        "/v1/models",
        "/upload",
        "/v10",
        "/webhooks-settings",
      ])
        expect(await get(path, html)).toEqual([path, true]);
      // Node's fetch sets a `sec-fetch-mode` of its own.
      const navigated = await new Promise<IncomingMessage>((resolve, reject) => {
        const headers = { "sec-fetch-mode": "navigate" };
        request(`${page}/webhooks`, { headers }, resolve).on("error", reject).end();
      });
      expect(navigated.resume().headers["x-sandbox-decision"]).toBeUndefined();
      for (const path of ["/webhooks", "/webhooks?a=1", "/v1/models", "/v2/models"])
        expect((await get(path, {}))[1]).toMatch(/auth|route/);
      for (const path of ["/v10", "/webhooks-settings", "/v1.json", "/upload"])
        expect((await get(path, {}))[1]).toBeTypeOf("boolean");
    } finally {
      await vite.close();
    }
  });

  it("serves uploads and the control API at the dev server's own address, which handed-out URLs name", async () => {
    const { vite, page } = await serveDev();
    try {
      const { url, credentials } = (await vite.ssrLoadModule("virtual:understudy")) as {
        url: string;
        credentials: Record<string, string>;
      };
      expect(url).toBe(findPrintedUrl());
      const headers = {
        "api-key": credentials["usr_dan"]!,
        "content-type": "application/json",
        origin: page,
      };
      const body = JSON.stringify({ filename: "a.txt", mime_type: "text/plain", file_size: 3 });
      const announced = await fetch(`${page}/v1/organizations/org_acme/files/upload-url`, {
        method: "POST",
        body,
        headers,
      });
      const { upload_url } = (await announced.json()) as { upload_url: string };
      expect(upload_url.startsWith(`${page}/upload/storage/`)).toBe(true);
      expect((await fetch(upload_url, { method: "PUT", body: "abc" })).status).toBe(200);
      const made = await fetch(`${page}/_control/sandboxes`, {
        method: "POST",
        body: '{"name":"mine"}',
        headers,
      });
      expect(await made.json()).toMatchObject({ base_url: `${page}/_s/mine` });
      expect((await fetch(`${page}/_s/mine/v1/models`, { headers })).status).toBe(200);
      expect((await fetch(`${page}/_console/`, { headers: { accept: "text/html" } })).status).toBe(200);
    } finally {
      await vite.close();
    }
  });

  it("breaks the page's connection if a fault breaks the server's", async () => {
    const { vite, page } = await serveDev();
    const headers = { "content-type": "application/json" };
    const readModels = async () => (await fetch(`${page}/v1/models`)).text();
    try {
      for (const wire of ["reset", "empty", "garbage", "truncate"]) {
        const body = JSON.stringify({ match: { operation: "models.list" }, times: 1, effect: { wire } });
        const added = await fetch(`${page}/_control/sandboxes/default/faults`, {
          method: "POST",
          headers,
          body,
        });
        expect([wire, added.status]).toEqual([wire, 201]);
        await expect(readModels(), wire).rejects.toThrow(/fetch failed|terminated/);
      }
      expect(await readModels()).toContain("AUTHENTICATION_REQUIRED");
    } finally {
      await vite.close();
    }
  });

  it("refuses control calls of other sites' pages and of rebound names", async () => {
    const { vite, page } = await serveDev();
    try {
      const post = (headers: Record<string, string>) =>
        new Promise<number>((resolve, reject) => {
          const sent = request(`${page}/_control/sandboxes`, { method: "POST", headers }, (answer) => {
            answer.resume();
            resolve(answer.statusCode!);
          });
          sent.on("error", reject).end();
        });
      const { host } = new URL(page);
      const json = { "content-type": "application/json" };
      expect(await post({ ...json, origin: "https://evil.test" })).toBe(403);
      expect(await post({ ...json, host: "evil.test", origin: "http://evil.test" })).toBe(403);
      expect(await post({ ...json, host: "192.168.1.5:5173", origin: "http://192.168.1.5:5173" })).toBe(201);
      expect(await post({ ...json, host, origin: `http://${host}` })).toBe(201);
    } finally {
      await vite.close();
    }
  });

  it("serves pages over HTTP/2, which Vite speaks with a certificate, as over HTTP/1", async () => {
    const now = Date.now();
    const certificate = makeCertificate(new Date(now - 86_400_000), new Date(now + 86_400_000));
    const { vite, page } = await serveDev({}, certificate);
    const session = connect(page, { ca: certificate.cert, servername: "localhost" });
    const send = async (headers: Record<string, string>, body?: string) => {
      const stream = session.request(headers).end(body);
      const [{ ":status": status }] = (await once(stream, "response")) as [{ ":status": number }];
      return { status, text: await text(stream) };
    };
    const json = { ":method": "POST", "content-type": "application/json" };
    const control = { ...json, ":path": "/_control/sandboxes/default/faults" };
    const models = { ":path": "/v1/models" };
    const rule = { match: { operation: "models.list" }, times: 1 };
    try {
      const ip = { ":authority": "192.168.1.5:5173", origin: "https://192.168.1.5:5173" };
      const made = await send({ ...control, ...ip }, JSON.stringify({ ...rule, effect: { status: 503 } }));
      expect(made).toMatchObject({ status: 201 });
      expect(await send({ ...models, ...ip })).toMatchObject({ status: 503 });
      const rebound = { ":authority": "evil.test", origin: "https://evil.test" };
      expect(await send({ ...control, ...rebound }, "{}")).toMatchObject({ status: 403 });
      for (const wire of ["reset", "empty", "garbage", "truncate"]) {
        await send(control, JSON.stringify({ ...rule, effect: { wire } }));
        await expect(send(models), wire).rejects.toThrow();
      }
      expect(await send(models)).toMatchObject({ status: 401 });
    } finally {
      session.destroy();
      await vite.close();
    }
  });

  it("gives a page the URL and the keys in development, and neither in a build", async () => {
    writeFileSync(
      join(root, "main.js"),
      'import { url, credentials } from "virtual:understudy";\ndocument.title = url + credentials.usr_dan;',
    );
    writeFileSync(join(root, "index.html"), '<script type="module" src="/main.js"></script>');
    const { vite, page } = await serveDev();
    try {
      const code = (await vite.transformRequest("virtual:understudy"))!.code;
      expect(code).toMatch(/location\?\.origin/);
      expect(code).toContain("ak_danMemberAcme");
    } finally {
      await vite.close();
    }
    const plugins = [understudy()];
    const built = await build({
      ...{ root, configFile: false, plugins, logLevel: "silent" },
      build: { write: false },
    });
    const text = JSON.stringify(built);
    expect([text.includes("ak_"), text.includes("document.title")]).toEqual([false, true]);
    expect(page).toMatch(/^http:/);
  });

  it("serves own operations, in the version of the last restart and with the world's records [interfaces 18]", async () => {
    const document = join(root, "tags.json");
    const write = (title: string) =>
      writeFileSync(
        document,
        JSON.stringify({
          ...{ openapi: "3.1.0", info: { title: "Tags", version: "1" } },
          paths: { "/v1/tags": { get: { responses: { 200: { description: title } } } } },
        }),
      );
    const declare = (text: string) =>
      defineOperation({
        ...{ id: "greet", method: "GET", path: "/v1/greeting", access: "public" },
        handle: () => ({ text }),
      });
    write("first");
    const options: PluginOptions = { seed: 8, operations: { greet: declare("hello") }, openapi: [document] };
    const { vite, page } = await serveDev(options);
    try {
      const greet = async () => (await fetch(`${page}/v1/greeting`)).json();
      expect(await greet()).toEqual({ text: "hello" });
      expect((await fetch(`${page}/v1/tags`)).headers.get("x-sandbox-decision")).toBe("generated");
      options.operations = { greet: declare("good day") };
      // Vite does the same after an edit of the configuration.
      vite.config.inlineConfig.plugins = [understudy(options)];
      await vite.restart();
      expect(await greet()).toEqual({ text: "good day" });
      const journal = await (await fetch(`${findPrintedUrl()}/_control/sandboxes/default/journal`)).json();
      expect(journal).toMatchObject({ total: 3 });
    } finally {
      await vite.close();
    }
  });

  it("keeps its world while the configuration has a mistake, and replaces it after an edit of the options", async () => {
    const { vite, page } = await serveDev({ seed: 7 });
    const getSeed = async () =>
      ((await (await fetch(`${page}/_control/sandboxes/default`)).json()) as { seed: number }).seed;
    const restart = async (options: PluginOptions) => {
      vite.config.inlineConfig.plugins = [understudy(options)];
      await vite.restart();
    };
    const firstServer = findPrintedUrl()!;
    try {
      await restart({ seed: 8, fixture: "refrence" as "reference" });
      expect(await getSeed()).toBe(7);
      await restart({ seed: 8 });
      expect(await getSeed()).toBe(8);
      await expect(fetch(firstServer)).rejects.toThrow();
      const port = Number(new URL(firstServer).port);
      for (const seed of [9, 10]) {
        await restart({ seed, port });
        expect(await getSeed()).toBe(seed);
      }
    } finally {
      await vite.close();
    }
  });

  it("gives dev servers with other options servers of their own, also in one process", async () => {
    const first = await serveDev({ seed: 7 });
    const firstRoot = root;
    root = mkdtempSync(join(tmpdir(), "understudy-vite-"));
    const second = await serveDev({ seed: 8 });
    try {
      for (const { page } of [first, second]) expect((await fetch(`${page}/v1/models`)).status).toBe(401);
      await second.vite.close();
      expect((await fetch(`${first.page}/v1/models`)).status).toBe(401);
    } finally {
      await first.vite.close();
      await second.vite.close();
      rmSync(firstRoot, { recursive: true, force: true });
    }
  });

  it("refuses a second use with other options in one configuration, also within lists and promises", async () => {
    const serve = (...plugins: PluginOption[]) =>
      createServer({ root, configFile: false, customLogger: createLogger("silent"), plugins });
    const other = understudy({ seed: 8, paths: ["/api"] });
    for (const plugins of [other, [false, other], Promise.resolve([other])] as PluginOption[])
      await expect(serve(understudy({ seed: 7 }), plugins)).rejects.toThrow(
        "understudy() is used twice with different options",
      );
    const vite = await serve(understudy({ seed: 7 }), [understudy({ seed: 7 })]);
    await vite.close();
  });

  it("keeps its server if the dev server before a restart is closed after the new one has started, as by Vite 5 to 7", async () => {
    const { config, configureServer } = understudy() as {
      config: (config: object, env: object) => Promise<unknown>;
      configureServer: (vite: object) => Promise<void>;
    };
    const start = async () => {
      await config({ root }, { command: "serve" });
      const logger = { info: (text: string) => said.push(text) };
      const vite = { config: { logger }, close: async () => {} };
      await configureServer(vite);
      return vite;
    };
    const before = await start();
    const after = await start();
    await before.close();
    expect((await fetch(`${findPrintedUrl()}/v1/models`)).status).toBe(401);
    await after.close();
    await expect(fetch(findPrintedUrl()!)).rejects.toThrow();
  });

  it.each([["/v1"], [["v1"]], [["/"]], [[1]], [null]])("refuses %j as the API's paths", (paths) => {
    expect(() => understudy({ paths } as never)).toThrow(
      `understudy's option paths is a list of paths such as "/v1"; it was given ${JSON.stringify(paths)}`,
    );
  });

  it("refuses an unknown option, and describes an invalid value [interfaces 13]", async () => {
    expect(() => understudy({ fixtur: "reference" } as PluginOptions)).toThrow(
      /understudy has no option "fixtur"; its options are fixture, seed/,
    );
    await expect(serveDev({ fixture: "refrence" as "reference" })).rejects.toThrow(/refrence/);
  });
});
