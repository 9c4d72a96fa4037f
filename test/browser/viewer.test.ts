import { createReadStream, existsSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { openPage, see, useChromium } from "../support/browser/with-chromium.ts";
import { startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const chromium = useChromium();
const TYPES: Record<string, string> = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

let folder: string;
const asked: string[] = [];
/** A server of static files with the viewer at its root and below a path. */
const site = http.createServer((request, response) => {
  const { pathname } = new URL(request.url!, "http://x");
  asked.push(pathname);
  const name = pathname.replace(/^\/some\/project\//, "/");
  const file = join(folder, name === "/" ? "index.html" : name);
  if (!existsSync(file)) return void response.writeHead(404).end();
  response.setHeader("content-type", TYPES[extname(file)] ?? "text/html");
  createReadStream(file).pipe(response);
});
beforeAll(async () => {
  folder = join(createTempFolder(), "viewer");
  expect((await runCommand(["viewer", folder])).code).toBe(0);
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
  removeTempFolders();
});

it("the viewer opens a dropped file in the page with timeline, rewind and time, and sends no request to another host [interfaces 19]", async () => {
  const api = await startReference();
  await api.call("dan", "DELETE", "/v1/threads/thread_long");
  const sandbox = await connect(api.url).open("default");
  const bytes = Buffer.from(await sandbox.export());
  await api.close();
  const { page } = await openPage(chromium());
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const elsewhere: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(origin)) elsewhere.push(request.url());
  });
  await page.goto(origin);
  const choose = (name: string, buffer: Buffer) =>
    page.getByLabel("File").setInputFiles({ name, mimeType: "application/x-understudy", buffer });
  await choose("notes.understudy", Buffer.from("hello"));
  await see(page.getByRole("status")).toHaveText("The file was not written by `understudy sandbox export`.");
  await choose("cut.understudy", bytes.subarray(0, -50));
  await see(page.getByRole("status")).toHaveText("The file is damaged or incomplete; copy it again.");
  const world = JSON.parse(gunzipSync(bytes).toString());
  world.content.operations = [{ source: "api/ours.ts", sha256: "0123456789abcdef" }];
  await choose("own.understudy", gzipSync(JSON.stringify(world)));
  await see(page.getByRole("status")).toHaveText(
    "The file needs the operations of api/ours.ts (SHA-256 0123456789ab); open it where these files are, with `understudy open FILE --operations api/ours.ts`.",
  );
  await choose("failed.understudy", bytes);
  const view = page.frameLocator("#console");
  await see(view.getByText("/v1/threads/thread_long").first()).toBeVisible();
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const control = (method: string, path: string, body?: object): Promise<any> =>
    page.frames()[1]!.evaluate(
      async ([method, path, body]) => {
        const response = await fetch(`/_control/sandboxes/default-2${path}`, {
          method,
          headers: { "content-type": "application/json" },
          ...(body && { body: JSON.stringify(body) }),
        } as RequestInit);
        return response.json();
      },
      [method, path, body] as const,
    );
  const { entries } = await control("GET", "/history");
  expect(entries).toMatchObject([{ subject: "thread_long", kept: true }]);
  expect((await control("GET", "/state/threads/thread_long")).title).toBeDefined();
  await control("POST", `/history/${entries[0].id}/rewind`, {});
  expect((await control("GET", "/state/threads/thread_long")).id).toBe("thread_long");
  expect((await control("POST", "/clock/advance", { by: "1h" })).now).toBe("2026-03-15T13:00:00.000Z");
  expect(elsewhere).toEqual([]);
  expect(asked.filter((path) => /^\/(_control|v1|v2|_s)\b/.test(path))).toEqual([]);
  await page.context().close();
});

it("a file dropped on a viewer below any path can be repeated, branched and explained in its console [interfaces 19]", async () => {
  const api = await startReference();
  await api.call("dan", "GET", "/v1/models");
  await api.call("dan", "DELETE", "/v1/threads/thread_long");
  const bytes = Buffer.from(await (await connect(api.url).open("default")).export());
  await api.close();
  const { page } = await openPage(chromium());
  asked.length = 0;
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/some/project/`);
  await see(page.getByLabel("File")).toBeVisible();
  const dropped = await page.evaluateHandle((base64) => {
    const content = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    // biome-ignore lint/suspicious/noExplicitAny: the types of browsers are not among this project's
    const transfer = new (globalThis as any).DataTransfer();
    transfer.items.add(new File([content], "failed.understudy"));
    return transfer;
  }, bytes.toString("base64"));
  await page.dispatchEvent("body", "drop", { dataTransfer: dropped });
  const view = page.frameLocator("#console");
  await view.getByRole("row", { name: /DELETE .*thread_long/ }).click();
  await view.getByRole("button", { name: "Fork before this" }).click();
  await view.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("before-it");
  await view.getByRole("dialog").getByRole("button", { name: "Fork" }).click();
  await see(view.getByText("Forked into sandbox before-it, which is open now.")).toBeVisible();
  await view.getByRole("link", { name: "World" }).click();
  await see(view.getByRole("grid").first()).toBeVisible();
  await view.getByRole("button", { name: "Undo" }).click();
  await view.getByRole("row", { name: /GET \/v1\/models/ }).click();
  await view.getByRole("button", { name: "Repeat" }).click();
  await see(view.getByText("The response is the same.")).toBeVisible();
  await view.getByRole("link", { name: "Faults", exact: true }).click();
  await view.getByRole("button", { name: "Explain a call" }).click();
  await view.getByRole("button", { name: "Explain", exact: true }).click();
  await see(view.getByRole("region", { name: "Explanation" })).toContainText(
    "An anonymous caller would get 401",
  );
  expect(asked.filter((path) => !path.startsWith("/some/project/") && path !== "/favicon.ico")).toEqual([]);
  await page.context().close();
});
