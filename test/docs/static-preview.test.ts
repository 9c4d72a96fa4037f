import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BrowserContext, Page } from "@playwright/test";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openPage, see, useChromium } from "../support/browser/with-chromium.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TYPES = { html: "text/html", js: "text/javascript", css: "text/css" };

const chromium = useChromium();
let site: http.Server;
let isDown = false;
let profile: BrowserContext;
let page: Page;
beforeAll(async () => {
  const project = createTempFolder();
  cpSync(join(ROOT, "docs/examples/static-preview"), project, { recursive: true });
  mkdirSync(join(project, "node_modules"));
  for (const name of ["react", "react-dom", "vite"])
    symlinkSync(join(ROOT, "node_modules", name), join(project, "node_modules", name));
  symlinkSync(ROOT, join(project, "node_modules/understudy-sandbox"));
  // Runs the commands of the example's package.json. vitest sets NODE_ENV to test, which would bundle React's
  // development build.
  const written = await runCommand(["worker-file", "public", "--console", "--force"], { cwd: project });
  expect(written.code, written.stderr).toBe(0);
  const vite = join(ROOT, "node_modules/vite/bin/vite.js");
  const env = { ...process.env, NODE_ENV: "production" };
  execFileSync(process.execPath, [vite, "build", "--logLevel", "error"], { cwd: project, env });
  site = http.createServer((request, response) => {
    if (isDown) return void request.destroy();
    const { pathname } = new URL(request.url!, "http://x");
    const file = join(project, "dist", pathname === "/" ? "index.html" : pathname);
    if (!existsSync(file)) return void response.writeHead(404).end();
    const type = TYPES[file.split(".").at(-1) as keyof typeof TYPES] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type }).end(readFileSync(file));
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
  removeTempFolders();
});
beforeEach(async () => {
  isDown = false;
  profile = await chromium().newContext();
  ({ page } = await openPage(profile, `http://127.0.0.1:${(site.address() as AddressInfo).port}`));
});
afterEach(() => profile.close());

const openScreen = (screen: string) => page.getByRole("link", { name: screen }).click();
const clickButton = (name: string) => page.getByRole("button", { name }).click();
const findDepartment = (name: string) =>
  page.getByRole("listitem").filter({ hasText: new RegExp(`^${name}`) });

describe("the example of a static preview", () => {
  it("keeps a moved department after a reload [interfaces 17]", async () => {
    await clickButton("Move");
    await see(findDepartment("Operations").getByText("ML")).toBeVisible();
    await page.reload();
    await see(findDepartment("Operations").getByText("ML")).toBeVisible();
    expect(await page.getByRole("alert").textContent()).toBe("");
  });

  it("opens without a network [interfaces 17]", async () => {
    await see(findDepartment("Operations")).toBeVisible();
    isDown = true;
    await page.reload();
    await see(findDepartment("Operations")).toBeVisible();
    expect(await page.getByRole("alert").textContent()).toBe("");
  });

  it("uploads a file, retries a webhook and shows limits [interfaces 17]", async () => {
    await openScreen("uploads");
    const buffer = Buffer.alloc(600 * 1024, "a");
    await page
      .getByLabel("File", { exact: true })
      .setInputFiles({ name: "report.txt", mimeType: "text/plain", buffer });
    await clickButton("Upload");
    await see(page.getByRole("status")).toHaveText(/^report\.txt is file_\w+\.$/);
    await openScreen("webhooks");
    await clickButton("Add a receiver that fails twice");
    const seeDelivery = (status: string, attempts: number) =>
      see(page.getByRole("row", { name: `user.created ${status} ${attempts}`, exact: true })).toBeVisible();
    await seeDelivery("failed", 1);
    await clickButton("To the next retry");
    await seeDelivery("failed", 2);
    await clickButton("To the next retry");
    await seeDelivery("success", 3);
    await openScreen("limits");
    await see(page.getByRole("row").nth(1)).toContainText("Organization");
    expect(await page.getByRole("alert").textContent()).toBe("");
  });
});
