// The pictures of README and docs: the console's views of a small story. `node scripts/readme-picture.mjs`; needs a
// Chromium (scripts/browser.mjs) and a build.

import { fileURLToPath } from "node:url";
import { chromium } from "@playwright/test";
import sharp from "sharp";
import { createUnderstudy } from "../dist/client/index.js";
import { findBrowser } from "./browser.mjs";

const FOLDER = new URL("../docs/pictures/", import.meta.url);
const DEPARTMENT = "/v1/organizations/org_acme/departments/dept_platform/reparent";

const server = await createUnderstudy();
const clock = { mode: "frozen", now: "2026-03-15T12:00:00Z" };
const sandbox = await server.sandbox({ name: "checkout", clock });
const { usr_ada: ada, usr_ben: ben, usr_dan: dan } = sandbox.credentials;
const call = (key, method, path, body) =>
  fetch(sandbox.url + path, {
    method,
    headers: { "api-key": key, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });

const receiver = await sandbox.receivers.add({ answers: [500, 200] });
await call(ada, "POST", "/webhooks", { url: receiver.url, events: ["thread.deleted"] });
await sandbox.faults.add({
  match: { operation: "models.list" },
  times: 1,
  effect: { error: "RATE_LIMIT_EXCEEDED" },
});
await call(dan, "GET", "/v1/models");
await call(dan, "GET", "/v1/models");
await call(ben, "POST", DEPARTMENT, { new_parent_id: "dept_ops" });
await call(ben, "POST", DEPARTMENT, { new_parent_id: "dept_infra" });
await call(ada, "DELETE", "/v1/threads/thread_long");
await sandbox.clock.advance("1m");

const browser = await chromium.launch({ executablePath: await findBrowser(), args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 640 }, colorScheme: "light" });
const address = `${server.url}/_console/s/checkout`;

async function take(name) {
  await sharp(await page.screenshot())
    .webp({ quality: 85, effort: 6 })
    .toFile(fileURLToPath(new URL(`${name}.webp`, FOLDER)));
}

await page.goto(`${address}/timeline`);
await page.getByText("/v1/threads/thread_long").first().click();
await page.getByText("everything was in order").waitFor();
await page.getByText("removed").first().waitFor();
await take("console");

await page.goto(`${address}/webhooks`);
await page.getByRole("row", { name: /thread\.deleted/ }).click();
await page.getByRole("list", { name: "Attempts" }).locator("summary").first().click();
await page.getByText("The signature that it sent").first().waitFor();
await page.mouse.move(0, 0);
await take("webhooks");
await browser.close();
await server.close();
