import type { OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import { http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { waitUntilPasses } from "../../test/support/eventually.ts";
import { createUnderstudy, type LocalUnderstudy } from "./create-understudy.ts";
import { handlersFor } from "./msw.ts";

const API = "https://api.example.com";
let understudy: LocalUnderstudy;
beforeAll(async () => {
  understudy = await createUnderstudy();
});
afterAll(() => understudy.close());

describe("understudy-sandbox/msw", () => {
  it("passes on method, path, query, headers and body, and gives back the whole answer [interfaces 13]", async () => {
    const sandbox = await understudy.sandbox();
    const unhandled = vi.fn();
    const network = setupServer(
      http.get(`${API}/v1/mine`, () => Response.json({ own: true })),
      ...handlersFor(sandbox, { origin: API }),
    );
    network.listen({ onUnhandledRequest: unhandled });
    try {
      const headers = { "api-key": sandbox.credentials["usr_ada"]!, "content-type": "application/json" };
      const made = await fetch(`${API}/webhooks?a=b`, {
        method: "POST",
        headers,
        body: JSON.stringify({ url: "http://127.0.0.1:9/zoë", events: ["user.created"] }),
      });
      expect([made.status, made.headers.get("x-sandbox-decision")]).toEqual([201, "ok"]);
      expect(await made.json()).toMatchObject({ data: { url: "http://127.0.0.1:9/zoë" } });
      expect(await (await fetch(`${API}/v1/mine`)).json()).toEqual({ own: true });
      const { entries } = await sandbox.journal.list();
      expect(entries.map(({ path, request }) => [path, request.query])).toEqual([["/webhooks", "a=b"]]);
      // An address in an answer is the sandbox's own.
      expect((await fetch(`${sandbox.url}/v1/models`, { headers })).status).toBe(200);
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      network.close();
    }
  });

  it("passes on requests of Node's own client, with a body of unknown length and headers of its connection", async () => {
    const sandbox = await understudy.sandbox();
    const network = setupServer(...handlersFor(sandbox, { origin: API }));
    network.listen({ onUnhandledRequest: "error" });
    const ask = (headers: OutgoingHttpHeaders) =>
      new Promise<number | undefined>((resolve, reject) => {
        const key = sandbox.credentials["usr_ada"]!;
        const sent = https.request(`${API}/webhooks`, {
          method: "POST",
          headers: { "api-key": key, "content-type": "application/json", ...headers },
        });
        sent.on("response", ({ statusCode }) => resolve(statusCode)).on("error", reject);
        sent.write('{"url":"http://127.0.0.1:9/",');
        sent.end('"events":["user.created"]}');
      });
    try {
      for (const headers of [
        {},
        { connection: "close" },
        { connection: "TE", te: "trailers" },
        { expect: "100-continue" },
      ])
        expect(await ask(headers), JSON.stringify(headers)).toBe(201);
    } finally {
      network.close();
    }
  });

  it("a wire fault, a stopped server and an aborted request become network errors that log nothing [interfaces 13]", async () => {
    const sandbox = await understudy.sandbox();
    const complain = vi.spyOn(console, "error").mockReturnValue(undefined);
    const listHandlers = (url: string, origin: string) => handlersFor({ url }, { origin });
    const network = setupServer(
      ...listHandlers(sandbox.url, API),
      ...listHandlers("http://127.0.0.1:9", "https://gone.example.com"),
    );
    network.listen();
    try {
      const headers = { "api-key": sandbox.credentials["usr_ada"]! };
      const ask = (init: RequestInit = {}) => fetch(`${API}/v1/models`, { headers, ...init });
      for (const wire of ["reset", "empty", "garbage"] as const) {
        await sandbox.faults.add({ match: { operation: "models.list" }, times: 1, effect: { wire } });
        await expect(ask(), wire).rejects.toThrow("Failed to fetch");
      }
      await expect(fetch("https://gone.example.com/v1/models")).rejects.toThrow("Failed to fetch");
      await sandbox.faults.add({ match: { operation: "models.list" }, effect: { wire: "hang" } });
      const leaving = new AbortController();
      const answer = ask({ signal: leaving.signal });
      await waitUntilPasses(async () => expect((await sandbox.journal.list()).entries).toHaveLength(4));
      leaving.abort();
      await expect(answer).rejects.toThrow(/aborted/);
      expect(complain).not.toHaveBeenCalled();
    } finally {
      network.close();
      complain.mockRestore();
    }
  });

  it("a request whose body cannot be read is a network error [interfaces 13]", async () => {
    const sandbox = await understudy.sandbox();
    const complain = vi.spyOn(console, "error").mockReturnValue(undefined);
    const network = setupServer(...handlersFor(sandbox, { origin: API }));
    network.listen();
    try {
      const body = new ReadableStream({ pull: (controller) => controller.error(new Error("unreadable")) });
      const sent = fetch(`${API}/webhooks`, { method: "POST", body, duplex: "half" } as RequestInit);
      await expect(sent).rejects.toThrow("Failed to fetch");
      expect(complain).not.toHaveBeenCalled();
    } finally {
      network.close();
      complain.mockRestore();
    }
  });

  it("passes the page's own requests through on a shared origin, and accepts a base path [interfaces 13]", () => {
    vi.stubGlobal("location", { origin: API });
    const matchesUrl = (origin: string, url: string) =>
      handlersFor({ url: "http://127.0.0.1:4747/_s/a" }, { origin }).some(({ info }) =>
        (info.path as RegExp).test(url),
      );
    const own = "http://127.0.0.1:4747/upload/x";
    for (const url of [`${API}/v1/x`, `${API}/v2/models`, `${API}/webhooks`, `${API}/webhooks/wh_a`, own])
      expect([url, matchesUrl(API, url)]).toEqual([url, true]);
    for (const url of [`${API}/`, `${API}/index.html`, `${API}/v1x`, "https://other.example.com/v1/x"])
      expect([url, matchesUrl(API, url)]).toEqual([url, false]);
    vi.unstubAllGlobals();
    for (const url of [`${API}/base`, `${API}/base/`, `${API}/base/v1/x`, own])
      expect([url, matchesUrl(`${API}/base/`, url)]).toEqual([url, true]);
    expect(matchesUrl(`${API}/base/`, `${API}/v1/x`)).toBe(false);
  });

  it("answers from the sandbox also at the address of its server, which serves another one there [interfaces 13]", async () => {
    const sandbox = await understudy.sandbox();
    const { origin } = new URL(sandbox.url);
    const network = setupServer(...handlersFor(sandbox, { origin }));
    network.listen({ onUnhandledRequest: "error" });
    try {
      const headers = { "api-key": sandbox.credentials["usr_ada"]! };
      for (const base of [origin, sandbox.url])
        expect((await fetch(`${base}/v1/models`, { headers })).status).toBe(200);
      expect((await sandbox.journal.list()).total).toBe(2);
    } finally {
      network.close();
    }
    expect(handlersFor(sandbox, { origin: sandbox.url })).toHaveLength(1);
  });

  it.each(["http://[::1]:4711", `${API}/a(b)`, `${API}/a+b`, `${API}/v:1`, `${API}/$x*`])(
    "answers at the origin %s, whatever its characters mean in a pattern [interfaces 13]",
    async (origin) => {
      const sandbox = await understudy.sandbox();
      const network = setupServer(...handlersFor(sandbox, { origin }));
      network.listen({ onUnhandledRequest: "error" });
      try {
        const headers = { "api-key": sandbox.credentials["usr_ada"]! };
        expect((await fetch(`${origin}/v1/models?a=b`, { headers })).status).toBe(200);
      } finally {
        network.close();
      }
    },
  );

  it("is a network error for a server that is gone, also one at an IPv6 address [interfaces 13]", async () => {
    const network = setupServer(...handlersFor({ url: "http://[::1]:9/_s/a" }, { origin: API }));
    network.listen({ onUnhandledRequest: "error" });
    try {
      await expect(fetch(`${API}/v1/models`)).rejects.toThrow(TypeError);
    } finally {
      network.close();
    }
  });

  it("refuses a wrong sandbox, origin or option in one sentence [interfaces 13]", () => {
    const makeCall = (sandbox: unknown, options: unknown) => () =>
      handlersFor(sandbox as { url: string }, options as { origin: string });
    const sandbox = { url: "http://127.0.0.1:4747" };
    expect(makeCall({}, { origin: API })).toThrow(
      /takes a sandbox first, or \{ url \} of one; it was given \{\}/,
    );
    expect(makeCall(sandbox, undefined)).toThrow(/needs \{ origin \}/);
    expect(makeCall(sandbox, { origin: "api.example.com" })).toThrow(/it was given "api\.example\.com"/);
    for (const origin of ["https://a:b@api.example.com", "https://*.example.com", `${API}?`, `${API}#a`])
      expect(makeCall(sandbox, { origin })).toThrow(`it was given ${JSON.stringify(origin)}`);
    expect(makeCall(sandbox, { origin: API, orign: API })).toThrow(
      /has no option "orign"; its option is origin/,
    );
  });
});
