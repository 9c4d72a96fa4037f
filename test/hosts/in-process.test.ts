import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Window } from "happy-dom";
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createUnderstudy } from "../../src/client/create-understudy.ts";
import { createSandbox, type LocalSandbox } from "../../src/client/engine.ts";
import { handlersFor } from "../../src/client/msw.ts";
import { testSandboxes } from "../../src/client/test-sandbox.ts";
import { withGarbageCollected } from "../support/collect-garbage.ts";
import { EPOCH, KEYS } from "../support/harness.ts";

let sandbox: LocalSandbox;
beforeEach(async () => {
  sandbox = await createSandbox({
    clock: { mode: "frozen", now: EPOCH },
    settings: { check_answers: "on" },
    scenariosFolder: "test/support",
  });
});
afterEach(() => sandbox.close());

const asDan = { headers: { "api-key": KEYS.dan } };
const asAda = { headers: { "api-key": KEYS.ada } };

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
const readJson = (response: Response): Promise<any> => response.json();

const post = (path: string, body: unknown, signal?: AbortSignal) =>
  sandbox.fetch(path, {
    method: "POST",
    headers: { ...asAda.headers, "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });

/** Resolves with the text that was read before a body failed, and the error. */
async function readBroken(response: Response): Promise<{ text: string; error: unknown }> {
  let text = "";
  try {
    for await (const piece of response.body!) text += new TextDecoder().decode(piece as Uint8Array);
    return { text, error: undefined };
  } catch (error) {
    return { text, error };
  }
}

describe("a redirect is treated as by a sandbox with a server", () => {
  const HOOK = { url: "http://127.0.0.1:9/hook", events: ["user.created"] };
  const asJson = { ...asAda.headers, "content-type": "application/json" };

  it.each([
    ["followed", 307, "/v2/models", asDan],
    ["not followed on demand", 307, "/v2/models", { ...asDan, redirect: "manual" }],
    ["an error on demand", 302, "/v2/models", { ...asDan, redirect: "error" }],
    [
      "followed with the body",
      308,
      "/webhooks",
      { method: "POST", headers: asJson, body: JSON.stringify(HOOK) },
    ],
    ["followed as a GET", 303, "/webhooks", { method: "POST", headers: asJson, body: JSON.stringify(HOOK) }],
    ["relative to the first URL", 301, "../v2/models", asDan],
    ["ended after twenty", 302, "/v1/models?again", asDan],
    ["an error to an URL of another kind", 302, "mailto:a@b.test", asDan],
    ["an answer without Location", 302, "", asDan],
  ] satisfies [string, number, string, RequestInit][])(
    "%s [interfaces 17]",
    async (_, status, location, init) => {
      const server = await createUnderstudy();
      try {
        const results = [];
        for (const one of [sandbox, await server.sandbox({ origin: true })]) {
          const effect = { status, ...(location && { headers: { Location: location } }) };
          await one.faults.add({ match: { path: "/v1/models" }, effect });
          const answer = await one.fetch("/v1/models", init).catch((error: Error) => error);
          const { entries } = await one.journal.list();
          const requests = entries.map(({ method, path }) => `${method} ${path}`);
          if (answer instanceof Error) results.push([answer.name, requests]);
          else results.push([answer.status, new URL(answer.url).pathname, answer.redirected, requests]);
        }
        expect(results[0]).toEqual(results[1]);
      } finally {
        await server.close();
      }
    },
  );

  it("without the token if its target has another origin [interfaces 17]", async () => {
    const { url, id } = await sandbox.receivers.add({ answers: [200] });
    const Location = url.replace("understudy.test", "localhost");
    await sandbox.faults.add({
      match: { path: "/v1/models" },
      effect: { status: 307, headers: { Location } },
    });
    const headers = { authorization: `Bearer ${KEYS.dan}`, "api-key": KEYS.dan };
    expect((await sandbox.fetch("/v1/models", { headers })).url).toBe(Location);
    const [request] = (await sandbox.receivers.requests(id)).items;
    expect(Object.keys(request!.headers)).toContain("api-key");
    expect(Object.keys(request!.headers)).not.toContain("authorization");
  });
});

describe("a sandbox in this process", () => {
  it("rejects requests and calls after close() with a sentence [interfaces 17]", async () => {
    expect((await sandbox.fetch("/v1/models", asDan)).status).toBe(200);
    await sandbox.close();
    const closed = "The sandbox is closed: close() was called.";
    await expect(sandbox.fetch("/v1/models", asDan)).rejects.toThrow(closed);
    await expect(sandbox.clock.show()).rejects.toThrow(closed);
    await expect(sandbox.held.next()).rejects.toThrow(closed);
    await expect(sandbox.close()).resolves.toBeUndefined();
  });

  it("takes the Request of another implementation, such as happy-dom [interfaces 17]", async () => {
    const { headers } = asDan;
    const url = "https://api.example.com/v1/model/response";
    const init = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: "{}" };
    const page = new Window({ url });
    const foreign = new page.Request(url, init) as unknown as Request;
    expect(await readJson(await sandbox.fetch(foreign))).toMatchObject({
      error: { message: "model is required" },
    });
  });

  it("answers requests of the emulated API [interfaces 17]", async () => {
    expect(sandbox.credentials["usr_dan"]).toBe(KEYS.dan);
    const response = await sandbox.fetch("/v1/models", asDan);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-request-id")).toMatch(/^req_/);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect((await readJson(response)).models.length).toBeGreaterThan(0);
    expect((await sandbox.fetch("/v1/models")).status).toBe(401);
    const { entries } = await sandbox.journal.list();
    expect(entries.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  it("takes a path, a URL and a Request, of any origin [interfaces 17]", async () => {
    const url = "https://api.example.com/v1/models";
    for (const input of [
      "/v1/models",
      `${sandbox.url}/v1/models`,
      url,
      new URL(url),
      new Request(url, asDan),
    ])
      expect((await sandbox.fetch(input, input instanceof Request ? undefined : asDan)).status).toBe(200);
  });

  it("reaches its own sandbox also by the address of the server [interfaces 17]", async () => {
    await sandbox.state("threads").create({});
    const [entry] = (await sandbox.history.list()).entries;
    const fork = await sandbox.history.fork(entry!.id);
    expect(fork.url).toBe(`${sandbox.url}/_s/${fork.name}`);
    for (const url of [
      `${sandbox.url}/v1/models`,
      `${fork.url}/v1/models`,
      `${sandbox.url}/v1/files?limit=1`,
    ])
      expect((await fork.fetch(url, asDan)).url).toBe(url.replace(/(_s.*?\/)?v1/, `_s/${fork.name}/v1`));
    expect((await sandbox.journal.list()).entries).toEqual([]);
  });

  it("a response has its URL in the sandbox, as clients resolve links against it [interfaces 17]", async () => {
    for (const origin of ["", "https://api.example.com"]) {
      const response = await sandbox.fetch(`${origin}/v1/models?limit=1#top`, asDan);
      expect(response.url).toBe(`${sandbox.url}/v1/models?limit=1`);
    }
  });

  it("rejects an invalid request, as fetch does, and never throws [interfaces 17]", async () => {
    const outcomes = [
      sandbox.fetch("http://["),
      sandbox.fetch("/v1/models", { method: "GET", body: "x" }),
      sandbox.fetch("/v1/models", { method: "a b" }),
    ].map((answer) => answer.catch(({ name }: Error) => name));
    expect(await Promise.all(outcomes)).toEqual(["TypeError", "TypeError", "TypeError"]);
  });

  it("changes its world by requests, and rewinds [interfaces 10, 17]", async () => {
    const path = "/v1/organizations/org_acme/departments/dept_ml/reparent";
    expect((await post(path, { new_parent_id: "dept_ops" })).status).toBe(200);
    expect((await sandbox.state("departments").get("dept_ml")).parent_id).toBe("dept_ops");
    const { entries } = await sandbox.history.list();
    await sandbox.history.rewind(entries[0]!.id, "before");
    expect((await sandbox.state("departments").get("dept_ml")).parent_id).not.toBe("dept_ops");
  });

  it("answers 400 for a body that is not JSON, 404 for other paths, HEAD without a body [interfaces 17]", async () => {
    const path = "/v1/organizations/org_acme/departments/dept_ml/reparent";
    const bad = await sandbox.fetch(path, {
      method: "POST",
      headers: { ...asAda.headers, "content-type": "application/json" },
      body: "{",
    });
    expect(bad.status).toBe(400);
    expect((await sandbox.fetch("/v1/nothing", asDan)).status).toBe(404);
    expect((await sandbox.fetch("/_console", asDan)).status).toBe(404);
    const head = await sandbox.fetch("/v1/models", { ...asDan, method: "HEAD" });
    expect(await head.text()).toBe("");
  });

  it("receives forms and resumable uploads at the URLs that it hands out [4.6, interfaces 17]", async () => {
    const announced = await post("/v1/organizations/org_acme/files/upload-url", {
      filename: "notes.txt",
      file_size: 5,
      mime_type: "text/plain",
    });
    const { upload_url } = await readJson(announced);
    expect(upload_url.startsWith(`${sandbox.url}/`)).toBe(true);
    const put = await sandbox.fetch(upload_url, {
      method: "PUT",
      headers: { "content-type": "text/plain", "content-range": "bytes 0-4/5" },
      body: "hello",
    });
    expect(put.status).toBe(200);
    const form = new FormData();
    form.set("file", new File(["hello"], "notes.txt", { type: "text/plain" }));
    const path = "/v1/organizations/org_acme/files/upload";
    const uploaded = await sandbox.fetch(path, { ...asDan, method: "POST", body: form });
    expect(await readJson(uploaded)).toMatchObject({ filename: "notes.txt", file_size: 5 });
  });

  it("delivers webhooks to its receivers, and shows their answers [6, interfaces 17]", async () => {
    const receiver = await sandbox.receivers.add({ answers: [500, 200] });
    expect(receiver.url.startsWith(`${sandbox.url}/_receivers/`)).toBe(true);
    await post("/webhooks", { url: receiver.url, events: ["user.created"], organization_id: "org_acme" });
    await sandbox.events.trigger("user.created");
    expect((await sandbox.deliveries.list()).items[0]).toMatchObject({
      status: "failed",
      response_code: 500,
    });
    await sandbox.clock.advance("1m");
    expect((await sandbox.deliveries.list()).items[0]).toMatchObject({ status: "success", attempts: 2 });
    expect((await sandbox.receivers.requests(receiver.id)).items).toHaveLength(2);
  });

  it("sends a webhook to the caller's onDelivery, and uses its answer [6, interfaces 17]", async () => {
    const taken: { url: string; headers: object; body: unknown }[] = [];
    const answers = [
      () => new Response("later", { status: 503 }),
      () => Promise.reject(new Error("down")),
      () => Promise.reject(undefined),
      () => Response.error(),
      () => undefined,
    ];
    const local = await createSandbox({
      clock: { mode: "frozen", now: EPOCH },
      async onDelivery(request) {
        const { url, headers } = request;
        taken.push({ url, headers: Object.fromEntries(headers), body: await request.json() });
        return answers.shift()!();
      },
    });
    try {
      const webhook = { url: "https://hooks.example.test/a", events: ["user.created"] };
      const made = await local.fetch("/webhooks", {
        method: "POST",
        headers: { ...asAda.headers, "content-type": "application/json" },
        body: JSON.stringify({ ...webhook, organization_id: "org_acme" }),
      });
      expect(made.status).toBe(201);
      await local.events.trigger("user.created");
      const getNewest = async () => (await local.deliveries.list()).items[0];
      expect(await getNewest()).toMatchObject({ status: "failed", response_code: 503, attempts: 1 });
      await local.clock.advance("1m");
      expect(await getNewest()).toMatchObject({ status: "failed", response_code: 0, attempts: 2 });
      await local.clock.advance("1d");
      expect(await getNewest()).toMatchObject({ status: "success", response_code: 204, attempts: 5 });
      expect(taken).toHaveLength(5);
      expect(taken[0]).toMatchObject({
        url: webhook.url,
        headers: { "x-service-signature": expect.stringMatching(/^sha256=/) },
        body: { event: "user.created" },
      });
      const receiver = await local.receivers.add({ answers: [200] });
      await local.fetch("/webhooks", {
        method: "POST",
        headers: { ...asAda.headers, "content-type": "application/json" },
        body: JSON.stringify({ ...webhook, url: receiver.url, organization_id: "org_acme" }),
      });
      answers.push(() => undefined);
      await local.events.trigger("user.created");
      expect((await local.receivers.requests(receiver.id)).items).toHaveLength(1);
      expect(taken).toHaveLength(6);
    } finally {
      await local.close();
    }
  });

  it("times out an onDelivery that never answers [6, interfaces 17]", async () => {
    const local = await createSandbox({
      clock: { mode: "frozen", now: EPOCH },
      settings: { webhook_timeout_seconds: 0.3 },
      onDelivery: () => new Promise(() => {}),
    });
    try {
      await local.fetch("/webhooks", {
        method: "POST",
        headers: { ...asAda.headers, "content-type": "application/json" },
        body: JSON.stringify({
          url: "https://hooks.example.test/a",
          events: ["user.created"],
          organization_id: "org_acme",
        }),
      });
      await withGarbageCollected(() => local.events.trigger("user.created"));
      expect((await local.deliveries.list()).items[0]).toMatchObject({ status: "failed", response_code: 0 });
    } finally {
      await local.close();
    }
  });

  it("does not call onDelivery for a held delivery that a reset cancels [6, interfaces 17]", async () => {
    let calls = 0;
    const local = await createSandbox({
      onDelivery: () => {
        calls += 1;
      },
    });
    try {
      await local.fetch("/webhooks", {
        method: "POST",
        headers: { ...asAda.headers, "content-type": "application/json" },
        body: JSON.stringify({
          url: "https://hooks.example.test/a",
          events: ["user.created"],
          organization_id: "org_acme",
        }),
      });
      await local.faults.add({ match: { event: "user.created" }, effect: { hold: {} } });
      const triggered = local.events.trigger("user.created").catch(() => {});
      await local.held.next();
      await local.reset();
      await triggered;
      await local.held.list();
      expect(calls).toBe(0);
    } finally {
      await local.close();
    }
  });

  it("streams entries until the reader leaves [interfaces 17]", async () => {
    await sandbox.fetch("/v1/models", asDan);
    const entries = sandbox.journal.follow({}, 0);
    expect((await entries.next()).value).toMatchObject({ path: "/v1/models", status: 200 });
    await entries.return?.();
  });

  it("repeats a request of its history [interfaces 10, 17]", async () => {
    const path = "/v1/organizations/org_acme/departments/dept_ml/reparent";
    await post(path, { new_parent_id: "dept_ops" });
    const { entries } = await sandbox.history.list();
    const repeated = await sandbox.history.repeat(entries[0]!.id);
    expect(repeated).toMatchObject({ same: true });
    expect((await sandbox.journal.list()).entries).toHaveLength(2);
  });

  it("answers through MSW's handlers, URLs that it hands out included [interfaces 13, 17]", async () => {
    const msw = setupServer(...handlersFor(sandbox, { origin: "https://api.example.com" }));
    msw.listen({ onUnhandledRequest: "error" });
    try {
      expect((await fetch("https://api.example.com/v1/models", asDan)).status).toBe(200);
      const announced = await fetch("https://api.example.com/v1/organizations/org_acme/files/upload-url", {
        method: "POST",
        headers: { ...asDan.headers, "content-type": "application/json" },
        body: JSON.stringify({ filename: "notes.txt", file_size: 5, mime_type: "text/plain" }),
      });
      const { upload_url } = await readJson(announced);
      expect((await fetch(upload_url, { method: "PUT", body: "hello" })).status).toBe(200);
      await sandbox.faults.add({ match: { operation: "models.list" }, effect: { wire: "reset" } });
      await expect(fetch("https://api.example.com/v1/models", asDan)).rejects.toThrow(TypeError);
    } finally {
      msw.close();
    }
  });

  it("redirects through MSW's handlers to other handlers [interfaces 13, 17]", async () => {
    const other = http.get("https://login.example.com/", () => HttpResponse.text("sign in"));
    const msw = setupServer(other, ...handlersFor(sandbox, { origin: "https://api.example.com" }));
    msw.listen({ onUnhandledRequest: "error" });
    try {
      const headers = { Location: "https://login.example.com/" };
      await sandbox.faults.add({ match: { operation: "models.list" }, effect: { status: 302, headers } });
      expect(await (await fetch("https://api.example.com/v1/models", asDan)).text()).toBe("sign in");
    } finally {
      msw.close();
    }
  });

  it("is given to each test of a runner [interfaces 13, 17]", async () => {
    const sandboxes = testSandboxes({ engine: true, clock: { mode: "frozen", now: EPOCH } });
    const names = new Set<string>();
    const body = sandboxes.with(async (one) => {
      names.add(one.name);
      expect(one.url).toMatch(/^http:\/\/understudy\.test\/_s\//);
      expect((await one.fetch("/v1/models", asDan)).status).toBe(200);
      expect((await one.fetch("https://api.example.com/v1/models", asDan)).status).toBe(200);
      expect((await one.journal.list()).entries).toHaveLength(2);
    });
    await body();
    await body();
    expect(names.size).toBe(2);
    await sandboxes.close();
  });

  it("need not be there at the end of a test: the test may delete it itself [interfaces 13]", async () => {
    const sandboxes = testSandboxes({ engine: true });
    await sandboxes.with((one) => one.delete())();
    await sandboxes.with(async (one) => {
      await one.faults.add({ match: { operation: "models.list" }, effect: { status: 503 } });
      await one.delete();
    })();
    const failing = sandboxes.with(async (one) => {
      await one.delete();
      throw new Error("the test's own failure");
    });
    await expect(failing()).rejects.toThrow("the test's own failure");
    const using = sandboxes.with(async (one) => {
      await one.delete();
      await one.info();
    });
    await expect(using()).rejects.toThrow("There is no sandbox");
    await sandboxes.close();
  });

  it("refuses unknown options [interfaces 17]", async () => {
    await expect(createSandbox({ port: 1 } as never)).rejects.toThrow(
      'createSandbox has no option "port"; its options are fixture, seed',
    );
    const wrong: [options: object, message: RegExp][] = [
      [{ clock: { mode: "sideways" } }, /clock.mode must be "real", "frozen" or "scaled"/],
      [{ clock: { mode: "frozen", now: "noon" } }, /clock.now must be an ISO 8601 timestamp/],
      [{ clock: { mode: "real", rate: 2 } }, /clock.rate can be given only with mode scaled/],
      [{ clock: 5 }, /clock must be/],
      [{ seed: "x" }, /seed must be/],
      [{ settings: { processing_seconds: "x" } }, /settings.processing_seconds must be a number/],
      [{ scenarios: "flaky-uploads" }, /scenarios must be a list, not the text "flaky-uploads"/],
      [{ scenarios: [{ name: "x" }] }, /scenarios\[0\] must be a text, not a map/],
      [{ scenarios: [null] }, /scenarios\[0\] must be a text, not null/],
      [{ scenariosFolder: 5 }, /scenariosFolder must be a text/],
      [{ scenariosFolder: "nowhere" }, /scenariosFolder must be an existing folder/],
      [{ scenariosFolder: "package.json" }, /scenariosFolder must be an existing folder/],
      [{ fixtures: "reference" }, /has no option "fixtures"; its options are fixture, /],
      [["reference"], /takes its options as an object of fixture, .*; it was given \["reference"\]/],
      [5 as never, /takes its options as an object of fixture, .*; it was given 5/],
      [null as never, /takes its options as an object of fixture, .*; it was given null/],
    ];
    for (const [options, message] of wrong)
      for (const create of [createSandbox, createUnderstudy])
        await expect(create(options as never), `${JSON.stringify(options)}`).rejects.toThrow(message);
    const wrongServers: [options: object, message: RegExp][] = [
      [{ port: -1 }, /port must be at least 0/],
      [{ port: 65_536 }, /port must be at most 65535/],
      [{ port: "4747" }, /port must be an integer, not the text "4747"/],
      [{ persist: { dir: "data" } }, /persist/],
      [{ persist: 5 }, /persist/],
      [
        { publicUrl: "sandbox.example.test" },
        /publicUrl must be an address such as https:\/\/sandbox.example.test, without/,
      ],
      [{ publicUrl: "https://sandbox.example.test/?a" }, /publicUrl must be an address such as/],
      [{ publicUrl: "https://a b" }, /publicUrl must be an address such as/],
      [{ publicUrl: "https://[::1" }, /publicUrl must be an address such as/],
      [
        { upstream: { url: "api.example.test" } },
        /upstream.url must be an address such as https:\/\/api.example.test/,
      ],
      [{ upstream: { url: "https://api.example.test?key=1" } }, /upstream.url must be an address such as/],
      [{ upstream: { url: "https://user@api.example.test" } }, /without credentials, version and query/],
      [{ upstream: { url: "https://api.example.test/v1" } }, /without credentials, version and query/],
      [{ publicUrl: "https://sandbox.example.test/v2/" }, /without credentials, version and query/],
      [{ upstream: { url: "https://:0" } }, /upstream.url must be an address such as/],
      // Without a token, anyone could call the control API.
      [{ shared: true }, /shared must be a map, not true/],
      [{ shared: {} }, /shared.token is required/],
    ];
    for (const [options, message] of wrongServers)
      await expect(createUnderstudy(options as never), JSON.stringify(options)).rejects.toThrow(message);
    await expect(createSandbox({ fixture: "refrence" as never })).rejects.toThrow(/reference/);
    await expect(createSandbox({ onDelivery: "https://a.test" as never })).rejects.toThrow(
      'onDelivery must be a function that takes a Request, not "https://a.test"',
    );
  });

  it("takes exactly the options that the library's page names [interfaces 8]", async () => {
    const page = readFileSync(new URL("../../docs/library.md", import.meta.url), "utf8");
    const [, section = ""] = /^## Options of createUnderstudy\n(.*?)^## /ms.exec(page) ?? [];
    const cells = [...section.matchAll(/^\| (`.*?) \|/gm)].map(([, cell]) => cell!);
    const named = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
    const refused = await createUnderstudy({ fixtures: "reference" } as never).catch(String);
    const known = /options are (.*)$/.exec(String(refused))![1]!.split(", ");
    expect(named.toSorted()).toEqual(known.toSorted());
    const understudy = await createUnderstudy({ overrides: false });
    try {
      const { url } = await understudy.sandbox({ name: "ci" });
      const headers = { ...asDan.headers, "x-sandbox-fault": "INTERNAL_ERROR" };
      expect((await fetch(`${url}/v1/models`, { headers })).status).toBe(400);
    } finally {
      await understudy.close();
    }
  });

  it("hands out URLs below a public URL with and without a slash at its end [interfaces 8]", async () => {
    for (const publicUrl of ["https://sandbox.example.test/base", "https://sandbox.example.test/base/"]) {
      const understudy = await createUnderstudy({ publicUrl });
      const sandbox = await understudy.sandbox({ name: "ci" });
      await understudy.close();
      expect(sandbox.url).toBe("https://sandbox.example.test/base/_s/ci");
    }
  });

  it("leaves no socket, file, thread or timer behind [interfaces 17]", async () => {
    const script = `
      const { createSandbox } = await import(${JSON.stringify(new URL("../../dist/client/engine.js", import.meta.url).href)});
      const sandbox = await createSandbox();
      const form = new FormData();
      form.set("file", new File(["hello"], "notes.txt", { type: "text/plain" }));
      const path = "/v1/organizations/org_acme/files/upload";
      const asDan = { "api-key": ${JSON.stringify(KEYS.dan)} };
      console.log((await sandbox.fetch(path, { method: "POST", headers: asDan, body: form })).status);
      console.log(process.getActiveResourcesInfo().filter((kind) => /TCP|Worker|Message/.test(kind)).length);
      if (process.argv[1] === "close") await sandbox.close();
    `;
    const folder = mkdtempSync(join(tmpdir(), "in-process-"));
    try {
      for (const end of ["close", "leave"]) {
        const { stdout, stderr, status } = spawnSync(
          process.execPath,
          ["--input-type=module", "-e", script, end],
          { encoding: "utf8", timeout: 20_000, env: { ...process.env, TMPDIR: folder } },
        );
        expect([stdout, stderr, status]).toEqual(["201\n0\n", "", 0]);
        expect(readdirSync(folder)).toEqual([]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("a broken connection looks to the caller as it does to fetch", () => {
  const arm = (effect: object) =>
    sandbox.faults.add({ match: { operation: "models.list" }, effect } as never);

  it.each(["reset", "empty", "garbage"] as const)(
    "%s rejects with a TypeError [interfaces 17]",
    async (wire) => {
      await arm({ wire });
      await expect(sandbox.fetch("/v1/models", asDan)).rejects.toThrow(new TypeError("fetch failed"));
      expect((await sandbox.journal.list()).entries[0]).toMatchObject({ status: 0 });
    },
  );

  it("truncate gives status and half of the body, then fails [interfaces 17]", async () => {
    await arm({ wire: "truncate" });
    const response = await sandbox.fetch("/v1/models", asDan);
    const { text, error } = await readBroken(response);
    expect(error).toEqual(new TypeError("terminated"));
    expect(text).toMatch(/^\{"/);
    expect(() => JSON.parse(text)).toThrow();
  });

  it.each([204, 205, 304])(
    "truncate and drip of a %i, which has no body, give its status",
    async (status) => {
      for (const effect of [{ wire: "truncate" }, { wire: "drip", over: "30ms" }]) {
        const rule = await arm({ ...effect, status });
        const response = await sandbox.fetch("/v1/models", asDan);
        expect([response.status, await response.text()]).toEqual([status, ""]);
        await sandbox.faults.remove(rule.id);
      }
    },
  );

  it("truncate and drip of HEAD, which gets no body, give the status", async () => {
    for (const effect of [{ wire: "truncate" }, { wire: "drip", over: "30ms" }]) {
      const rule = { match: { path: "/v1/own" }, effect: { ...effect, body: { a: 1 } } };
      const { id } = await sandbox.faults.add(rule as never);
      const response = await sandbox.fetch("/v1/own", { ...asDan, method: "HEAD" });
      expect([response.status, await response.text()]).toEqual([200, ""]);
      await sandbox.faults.remove(id);
    }
  });

  it("drip gives the whole body in the end [interfaces 17]", async () => {
    await arm({ wire: "drip", over: "50ms" });
    const { text, error } = await readBroken(await sandbox.fetch("/v1/models", asDan));
    expect(error).toBeUndefined();
    expect(JSON.parse(text)).toBeTruthy();
  });

  it("drip ends when the caller aborts, with the caller's reason [interfaces 17]", async () => {
    await arm({ wire: "drip", over: "10m" });
    const caller = new AbortController();
    const answer = await sandbox.fetch("/v1/models", { ...asDan, signal: caller.signal });
    caller.abort(new Error("enough"));
    await expect(answer.text()).rejects.toThrow("enough");
  });

  it("hang ends when the caller aborts, with the caller's reason [interfaces 17]", async () => {
    await arm({ wire: "hang" });
    const caller = new AbortController();
    const answer = sandbox.fetch("/v1/models", { ...asDan, signal: caller.signal });
    caller.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
  });

  it("an abort ends a delayed answer and a stream, also one that was aborted before [interfaces 17]", async () => {
    await arm({ delay: "10m" });
    const caller = new AbortController();
    const answer = sandbox.fetch("/v1/models", { ...asDan, signal: caller.signal });
    caller.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
    await expect(sandbox.fetch("/v1/models", { ...asDan, signal: caller.signal })).rejects.toThrow("enough");
    const reader = new AbortController();
    const stream = await sandbox.fetch("/v1/meeting-buddy/sessions/mbsess_standup/transcripts/stream", {
      ...asDan,
      signal: reader.signal,
    });
    expect(stream.status).toBe(200);
    const reading = stream.text();
    reader.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
  });
});
