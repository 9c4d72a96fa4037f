import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import type { UnderstudyOptions } from "../../src/control/understudy-options.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";

/* A server behind TLS hands out URLs that its clients can use (A6). */

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** Starts a server behind a proxy that adds headers, as nginx or Caddy do. */
async function startBehind(headers: Record<string, string>, options: UnderstudyOptions = {}) {
  const api = await startReference(options);
  open.push(() => api.close());
  const proxy = createServer((incoming, outgoing) => {
    const passed = { ...incoming.headers, ...headers };
    const sent = request(
      api.url,
      { method: incoming.method, path: incoming.url, headers: passed },
      (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
      },
    );
    sent.on("error", () => outgoing.destroy());
    incoming.pipe(sent);
  });
  const port = await listen(proxy);
  return { api, url: `http://127.0.0.1:${port}` };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const UPLOAD_URL = "/v1/organizations/org_acme/files/upload-url";
const makeJson = (body: object) => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "content-type": "application/json", "api-key": KEYS.dan },
});

/** Collects all URLs in responses, by what they are. */
async function collectUrls(url: string): Promise<Record<string, string>> {
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const ask = async (path: string, init?: RequestInit): Promise<any> =>
    (await fetch(url + path, init)).json();
  const announced = { filename: "a.txt", mime_type: "text/plain", file_size: 3 };
  const key = { headers: { "api-key": KEYS.dan } };
  const S = "/_control/sandboxes";
  const page = await ask("/v1/audio/transcribe/trans_interview/sentences?limit=5", key);
  const { get_paragraphs, next } = page.actions;
  const made = await ask(S, makeJson({ name: "mine" }));
  const har = await ask(`${S}/default/journal.har`);
  return {
    upload: (await ask(UPLOAD_URL, makeJson(announced))).upload_url,
    "upload in a sandbox": (await ask(`/_s/mine${UPLOAD_URL}`, makeJson(announced))).upload_url,
    sandbox: made.base_url,
    default: (await ask(`${S}/default`)).base_url,
    receiver: (await ask(`${S}/default/receivers`, makeJson({}))).url,
    link: get_paragraphs.href,
    "next page": next.href,
    document: (await ask("/_control/openapi.json")).servers[0].url,
    "document of a sandbox": (await ask("/_control/openapi.json")).servers[1].url,
    "control document": (await ask("/_control/api.json")).servers[0].url,
    archive: har.log.entries[0].request.url,
  };
}

const toOrigins = (urls: Record<string, string>) =>
  Object.entries(urls).map(([what, url]) => [what, /^[a-z]+:\/\/[^/]+/.exec(url)?.[0]]);

const ALLOWED = { allowHosts: ["dev.example.test"] };
const TRUSTED = { ...ALLOWED, trustProxy: ["127.0.0.1"] };
const PUBLIC = "https://dev.example.test";

it.each([
  [
    "X-Forwarded-Proto and -Host",
    { "x-forwarded-proto": "https", "x-forwarded-host": "dev.example.test" },
    PUBLIC,
  ],
  ["Forwarded", { forwarded: "for=192.0.2.1;proto=https;host=dev.example.test" }, PUBLIC],
  [
    "Forwarded with quotes and a port",
    { forwarded: 'For="[2001:db8::1]"; Proto=HTTPS; Host="dev.example.test:8443", for=10.0.0.1;host=inner' },
    `${PUBLIC}:8443`,
  ],
  [
    "Forwarded with quoted commas, semicolons and quotes",
    { forwarded: ', by="a;host=evil.test, ";for="\\",;host=evil.test";;host=dev.example.test;proto=https' },
    PUBLIC,
  ],
  [
    "a chain of proxies",
    { "x-forwarded-proto": "https, http", "x-forwarded-host": "dev.example.test, inner:80" },
    PUBLIC,
  ],
  [
    "Forwarded, which is stronger than X-Forwarded",
    {
      forwarded: "proto=https;host=dev.example.test",
      "x-forwarded-host": "x.test",
      "x-forwarded-proto": "http",
    },
    PUBLIC,
  ],
  [
    "X-Forwarded, for what Forwarded does not say",
    { forwarded: "for=192.0.2.1", "x-forwarded-host": "dev.example.test", "x-forwarded-proto": "https" },
    PUBLIC,
  ],
])("all URLs follow the header %s of a trusted proxy [A6]", async (_what, headers, expected) => {
  const { url } = await startBehind(headers, TRUSTED);
  const urls = toOrigins(await collectUrls(url));
  expect(urls).toEqual(urls.map(([what]) => [what, expected]));
});

it("the scheme of all URLs is a trusted proxy's even if it preserves Host", async () => {
  const { url } = await startBehind({ "x-forwarded-proto": "https" }, TRUSTED);
  const urls = toOrigins(await collectUrls(url));
  expect(urls).toEqual(urls.map(([what]) => [what, url.replace("http:", "https:")]));
});

it.each([
  [{}, "no address is trusted"],
  [{ trustProxy: ["10.0.0.0/8", "::1"] }, "it comes from another address"],
] as [UnderstudyOptions, string][])("headers %j are ignored, since %s", async (options) => {
  const headers = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "evil.test",
    forwarded: "host=evil.test",
  };
  const { url } = await startBehind(headers, options);
  const urls = toOrigins(await collectUrls(url));
  expect(urls).toEqual(urls.map(([what]) => [what, url]));
});

it.each([
  { "x-forwarded-proto": "javascript" },
  { "x-forwarded-host": "a b" },
  { "x-forwarded-host": "evil.test/path?" },
  { "x-forwarded-host": "a:b:c" },
  { "x-forwarded-host": "[::1" },
  { "x-forwarded-host": "evil.test:99999" },
  { forwarded: 'host="evil.test]"' },
  { forwarded: 'host="evil.test/"' },
  { forwarded: ";;=,," },
  { forwarded: 'host="unclosed' },
  { forwarded: 'by="a;host=evil.test", for=192.0.2.1;host=evil.test' },
  { forwarded: "for=a;,host=evil.test" },
  { forwarded: `host="${"\\".repeat(50)}` },
])("values of a trusted proxy that are not a scheme or host are ignored: %j", async (headers) => {
  const { url } = await startBehind(headers as object as Record<string, string>, {
    trustProxy: ["127.0.0.0/8"],
  });
  const urls = toOrigins(await collectUrls(url));
  expect(urls).toEqual(urls.map(([what]) => [what, url]));
});

it("a trusted proxy's host names a sandbox below localhost [interfaces 16]", async () => {
  const { api, url } = await startBehind({ "x-forwarded-host": "mine.localhost" }, TRUSTED);
  await api.call(undefined, "POST", "/_control/sandboxes", { name: "mine" });
  const answer = await fetch(
    url + UPLOAD_URL,
    makeJson({ filename: "a.txt", mime_type: "text/plain", file_size: 3 }),
  );
  expect(await answer.json()).toMatchObject({
    upload_url: expect.stringMatching(/^http:\/\/mine\.localhost\/upload/),
  });
});

it.each([PUBLIC, `${PUBLIC}/understudy`])(
  "the public URL %s is the base of all URLs, at any address",
  async (publicUrl) => {
    const { api, url } = await startBehind({ host: "dev.example.test" }, { publicUrl });
    for (const called of [url, api.url]) {
      const urls = await collectUrls(called);
      for (const [what, one] of Object.entries(urls))
        expect([what, one.startsWith(`${publicUrl}/`) || one === publicUrl]).toEqual([what, true]);
      expect(urls["sandbox"]).toBe(`${publicUrl}/_s/mine`);
      await api.call(undefined, "DELETE", "/_control/sandboxes/mine");
    }
  },
);

it("webhooks to a receiver at the public URL stay within the server, in shared mode too", async () => {
  const token = "a-token-of-this-test";
  const api: Api = await startReference({ publicUrl: PUBLIC, shared: { token } });
  open.push(() => api.close());
  const control = async (path: string, body: object) =>
    (
      await api.call(undefined, "POST", `/_control/sandboxes/default${path}`, body, {
        authorization: `Bearer ${token}`,
      })
    ).body;
  const { url } = await control("/receivers", {});
  expect(url.startsWith(`${PUBLIC}/_receivers/`)).toBe(true);
  await api.call("ada", "POST", "/webhooks", { url, events: ["user.updated"] });
  const { deliveries } = await control("/events", { event: "user.updated", for: "usr_dan" });
  expect(deliveries).toMatchObject([{ status: "success", response_code: 200 }]);
});
