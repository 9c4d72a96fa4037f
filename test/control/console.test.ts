import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findConsoleFiles } from "../support/browser/console.ts";
import { type Api, startReference } from "../support/harness.ts";

const MAX_FIRST_VIEW_BYTES = 250 * 1024;

interface Chunk {
  file: string;
  imports?: string[];
  css?: string[];
  isEntry?: boolean;
}

/** Counts the compressed bytes that a browser loads to show a view: the entry, the view, and their imports. */
function countFirstViewBytes(view: string): number {
  const folder = new URL("../../dist/console/", import.meta.url);
  const chunks: Record<string, Chunk> = JSON.parse(readFileSync(new URL("manifest.json", folder), "utf8"));
  const files = new Set(["index.html"]);
  const visit = (name: string) => {
    const { file, imports = [], css = [] } = chunks[name]!;
    if (files.has(file)) return;
    for (const each of [file, ...css]) files.add(each);
    for (const each of imports) visit(each);
  };
  visit("index.html");
  visit(`views/${view}/index.tsx`);
  return [...files].reduce((sum, file) => sum + gzipSync(readFileSync(new URL(file, folder))).length, 0);
}

describe("the console's files", () => {
  let api: Api;
  let files: ReturnType<typeof findConsoleFiles>;
  beforeAll(async () => {
    files = findConsoleFiles();
    api = await startReference();
  });
  afterAll(() => api.close());

  it.each([
    ["/_console", "text/html", "no-cache"],
    ["/_console/", "text/html", "no-cache"],
    ["/_console/s/default/timeline?entry=req_1", "text/html", "no-cache"],
    ["script", "text/javascript", "public, max-age=31536000, immutable"],
    ["style", "text/css", "public, max-age=31536000, immutable"],
  ])(
    "include %s, under a policy that allows no other source [interfaces 2]",
    async (named, type, caching) => {
      const path = named in files ? files[named as keyof typeof files] : named;
      const { status, headers, text } = await api.call(undefined, "GET", path);
      expect(status).toBe(200);
      expect(headers.get("content-type")).toContain(type);
      expect(headers.get("cache-control")).toBe(caching);
      const policy = headers.get("content-security-policy")!;
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("require-trusted-types-for 'script'");
      expect(policy).not.toMatch(/unsafe|nonce|\*|http/);
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(text.length).toBeGreaterThan(100);
    },
  );

  it("include a page without inline script or style, which says what to do without scripts [interfaces 2]", async () => {
    const { text } = await api.call(undefined, "GET", "/_console");
    expect(text).not.toMatch(/<style|\son\w+=|\sstyle=|<script(?![^>]* src="\/_console\/)/);
    expect(text).toMatch(/<noscript>[\s\S]*understudy status/);
    expect(text).not.toMatch(/https?:/);
  });

  it("files are compressed for clients that accept it, and plain for others [interfaces 2]", async () => {
    const brotli = await api.call(undefined, "GET", files.script, undefined, { "accept-encoding": "br" });
    const plain = await api.call(undefined, "GET", files.script, undefined, {
      "accept-encoding": "identity",
    });
    expect(brotli.headers.get("content-encoding")).toBe("br");
    expect(plain.headers.get("content-encoding")).toBeNull();
    // fetch has decompressed the text.
    expect(brotli.text).toBe(plain.text);
    expect(Number(brotli.headers.get("content-length"))).toBeLessThan(plain.text.length / 2);
    expect(brotli.headers.get("vary")).toContain("Accept-Encoding");
    const gzip = await api.call(undefined, "GET", files.script, undefined, { "accept-encoding": "gzip" });
    expect(gzip.headers.get("content-encoding")).toBe("gzip");
    expect(gzip.headers.get("content-type")).toBe(plain.headers.get("content-type"));
    expect(gzip.headers.get("cache-control")).toBe(plain.headers.get("cache-control"));
    expect(gzip.text).toBe(plain.text);
    expect(Number(gzip.headers.get("content-length"))).toBeLessThan(plain.text.length / 2);
  });

  it("are refused to a page of another origin [interfaces 7]", async () => {
    for (const path of ["/_console", files.script, "/_console/login"]) {
      const { status, body } = await api.call(undefined, "GET", path, undefined, {
        origin: "http://elsewhere.test",
      });
      expect([status, body.type]).toEqual([403, "urn:understudy:problem:origin-not-allowed"]);
    }
  });

  it.each([
    "/_console/assets/none.js",
    "/_console/assets/",
    "/_console/manifest.json",
    "/_console/built.txt",
  ])("do not include %s [interfaces 2]", async (path) => {
    const { status, headers } = await api.call(undefined, "GET", path);
    expect(status).toBe(404);
    expect(headers.get("content-type")).toContain("text/plain");
    expect(headers.get("cache-control")).toBeNull();
  });

  it("are the only ones that a path can reach [interfaces 2]", async () => {
    for (const path of ["%2e%2e/%2e%2e/index.html", "..%2f..%2fpackage.json", "%2e%2e%2fbuilt", "%00.js"]) {
      expect((await api.call(undefined, "GET", `/_console/assets/${path}`)).status).toBe(404);
    }
  });

  it("accept no request but reading [interfaces 2]", async () => {
    for (const path of ["/_console", files.script, "/_console/login"]) {
      expect((await api.call(undefined, "POST", path, {})).status).toBe(405);
    }
  });

  it("are less than 250 KB compressed for the first view [interfaces 2]", () => {
    expect(countFirstViewBytes("timeline")).toBeLessThan(MAX_FIRST_VIEW_BYTES);
    expect(countFirstViewBytes("timeline")).toBeGreaterThan(50 * 1024);
  });
});

describe("logging in to the console of a shared server", () => {
  const token = "a-token-for-the-console";
  let api: Api;
  const login = (code: unknown) => api.call(undefined, "POST", "/_console/login", { code });
  beforeAll(async () => {
    api = await startReference({ shared: { token } });
  });
  afterAll(() => api.close());

  it("exchanges the code of the link for the token once", async () => {
    const code = api.understudy.login!.fragment!.replace("#login=", "");
    expect(code).not.toContain(token);
    for (const wrong of ["", code.slice(1), `${code}x`, null, {}, token]) {
      const { status, body } = await login(wrong);
      expect([status, body.type]).toEqual([401, "urn:understudy:problem:token-required"]);
    }
    expect((await api.call(undefined, "GET", "/_console/login")).status).toBe(405);
    const { status, body, headers } = await login(code);
    expect([status, body]).toEqual([200, { token }]);
    expect(headers.get("cache-control")).toBe("no-store");
    expect((await login(code)).status).toBe(401);
    expect(api.understudy.login!.fragment).toBeUndefined();
  });

  it("refuses a body that is not JSON, and a page of another origin", async () => {
    expect((await api.call(undefined, "POST", "/_console/login", "{")).status).toBe(415);
    const foreign = await api.call(undefined, "POST", "/_console/login", {}, { origin: "http://evil.test" });
    expect(foreign.status).toBe(403);
  });
});
