import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type PreviewServer, preview } from "vite";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openPage, see, useChromium } from "../support/browser/with-chromium.ts";
import { type Api, startReference } from "../support/harness.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

const chromium = useChromium();
const DIST = fileURLToPath(new URL("../../dist/client", import.meta.url));
/** Both entry points that a page may import. Handlers alone need no worker. */
const MAIN = `import { connect } from "understudy-sandbox/client";
import { handlersFor } from "understudy-sandbox/msw";

const understudy = connect(new URLSearchParams(location.search).get("server"));
const sandbox = await understudy.sandbox({ clock: { mode: "frozen" }, origin: true });
const answer = await fetch(new URL("/v1/models", sandbox.url), { headers: { "api-key": sandbox.credentials.usr_dan } });
const json = { "api-key": sandbox.credentials.usr_dan, "content-type": "application/json" };
const asked = new Request("https://api.example.com/v1/auth/token", { method: "POST", headers: json, body: "{}" });
const token = await sandbox.fetch(asked);
const { total } = await sandbox.journal.list();
const handlers = handlersFor(sandbox, { origin: "https://api.example.com" });
document.title = [answer.status, token.status, total, handlers.length].join(" ");
`;

let root: string;
let api: Api;
let site: PreviewServer;
beforeAll(async () => {
  api = await startReference();
  root = mkdtempSync(join(tmpdir(), "understudy-page-"));
  writeFileSync(join(root, "main.js"), MAIN);
  writeFileSync(join(root, "index.html"), '<script type="module" src="/main.js"></script>');
  const alias = {
    "understudy-sandbox/client": join(DIST, "client.js"),
    "understudy-sandbox/msw": join(DIST, "msw.js"),
  };
  const target = "esnext";
  const config = { root, configFile: false, logLevel: "silent", resolve: { alias } } as const;
  await build({ ...config, build: { target } });
  site = await preview({ ...config, preview: { port: 0, host: "127.0.0.1" } });
});
afterAll(async () => {
  await site?.close();
  await api.close();
  rmSync(root, { recursive: true, force: true });
});

it("the library, built by Vite into a page, connects to a server, calls its sandbox, and makes handlers [interfaces 8]", async () => {
  const { page } = await openPage(chromium());
  const errors: string[] = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  const address = site.resolvedUrls!.local[0]!;
  await page.goto(`${address}?server=${encodeURIComponent(api.url)}`);
  await see(page).toHaveTitle(/^200 200 2 \d+$/);
  expect(errors).toEqual([]);
  await page.close();
});
