// Takes the pictures of the console for README and docs: `node scripts/docs-pictures.mjs`, after a build, when the console
// has changed. They show a sandbox with a frozen clock.

import { fileURLToPath } from "node:url";
import { chromium } from "@playwright/test";
import sharp from "sharp";
import { createUnderstudy } from "../dist/client/index.js";
import { findBrowser } from "./browser.mjs";

const FOLDER = fileURLToPath(new URL("../docs/pictures/", import.meta.url));
const SIZE = { width: 1280, height: 640 };
/** Queries have finished after a batch of the live stream. */
const SETTLED_MS = 700;

/** Sends the requests that the pictures show. */
async function exercise({ url, credentials, receivers, faults, clock, deliveries }) {
  const call = (user, method, path, body) =>
    fetch(url + path, {
      method,
      headers: { "api-key": credentials[user], ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  const move = (department, new_parent_id) =>
    call("usr_ada", "POST", `/v1/organizations/org_acme/departments/${department}/reparent`, {
      new_parent_id,
    });
  const receiver = await receivers.add({ answers: [500, 200] });
  await call("usr_ada", "POST", "/webhooks", { url: receiver.url, events: ["thread.deleted"] });
  await faults.add({
    match: { operation: "models.list" },
    times: 1,
    effect: { error: "RATE_LIMIT_EXCEEDED" },
  });
  await call("usr_dan", "GET", "/v1/models");
  await call("usr_dan", "GET", "/v1/models");
  await move("dept_ml", "dept_ops");
  await move("dept_eng", "dept_infra");
  const { headers } = await call("usr_ada", "DELETE", "/v1/threads/thread_ada");
  await clock.advance("1m");
  const { items } = await deliveries.list();
  return {
    entry: headers.get("x-request-id"),
    delivery: items.find(({ attempts }) => attempts === 2).delivery_id,
  };
}

const server = await createUnderstudy();
const sandbox = await server.sandbox({
  name: "checkout",
  clock: { mode: "frozen", now: "2026-03-15T12:00:00Z" },
});
const { entry, delivery } = await exercise(sandbox);
const browser = await chromium.launch({ executablePath: await findBrowser(), args: ["--no-sandbox"] });

async function takePicture(name, address, prepare = () => {}) {
  const page = await browser.newPage({ viewport: SIZE, colorScheme: "light" });
  await page.goto(`${server.url}/_console/s/checkout/${address}`);
  await page.locator(".detail").waitFor();
  await prepare(page);
  await page.waitForTimeout(SETTLED_MS);
  const picture = await page.screenshot();
  await sharp(picture).webp({ quality: 88 }).toFile(`${FOLDER}${name}.webp`);
  await page.close();
}

await takePicture("console", `timeline?entry=${entry}`);
await takePicture("webhooks", `webhooks?delivery=${delivery}`, (page) =>
  page.locator(".attempt-list summary").first().click(),
);
await browser.close();
await server.close();
