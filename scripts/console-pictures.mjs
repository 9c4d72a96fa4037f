// Takes pictures of every view of the console: 360, 1280 and 1920 px wide, light and dark, with a busy sandbox, an
// empty one and a lost connection. `node scripts/console-pictures.mjs FOLDER [VIEW ...]` needs a Chromium
// (scripts/browser.mjs) and a build.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { createUnderstudy } from "../dist/client/index.js";
import { findBrowser } from "./browser.mjs";

/** Queries of each view. Names in braces are ids of the sandbox (`findIds`). */
const VIEWS = {
  timeline: ["", "?entry={deletion}", "?entry={refusal}"],
  world: [
    "?collection=threads",
    "?collection=users&record=usr_dan",
    "?collection=files&record=%2B",
    "?show=departments&department=dept_ml",
    "?show=usage",
    "?show=snapshots",
    "?show=compare",
    "?show=compare&from=before&to=now",
  ],
  time: [""],
  faults: ["", "?compose=threads.delete", "?explain=threads.delete", "?group=429&scenario=flaky-uploads"],
  webhooks: [
    "",
    "?delivery={delivery}",
    "?show=webhooks&webhook=wh_ops",
    "?show=webhooks&register=new",
    "?show=trigger&event=file.processed",
    "?show=receivers&open=new",
    "?show=receivers&receiver={receiver}",
    "?show=outbox",
    "?show=test",
  ],
  api: ["", "?operation=departments.reparent"],
  coverage: ["", "?operation=models.list"],
  client: [""],
  keys: ["", "?make=key", "?key=apikey_dan"],
  sandboxes: ["", "?make=sandbox", "?sandbox=default", "?sandbox=default&settings=edit"],
};

const SETTLED_MS = 700;
const DRAWN_MS = 150;
const WIDTHS = [
  [360, 740],
  [1280, 800],
  [1920, 1080],
];

/** One server per case; `broken` is closed while the page is open. */
const WORLDS = {
  async busy() {
    const server = await createUnderstudy();
    const sandbox = await server.sandbox({ name: "checkout", clock: { mode: "scaled", rate: 1 } });
    await exercise(sandbox);
    return { server, sandbox };
  },
  async empty() {
    const server = await createUnderstudy({ fixture: { organizations: [] } });
    return { server, sandbox: await server.sandbox({ name: "fresh", fixture: { organizations: [] } }) };
  },
  broken: () => WORLDS.busy(),
};

/** The ids for the names in braces. */
async function findIds(sandbox) {
  const { entries } = await sandbox.journal.list({ kind: "request" });
  const { items: deliveries } = await sandbox.deliveries.list();
  const {
    items: [receiver],
  } = await sandbox.receivers.list();
  return {
    deletion: entries.find(({ operation, status }) => operation === "threads.delete" && status < 300)?.id,
    refusal: entries.find(({ status }) => status === 404)?.id,
    delivery: deliveries.find(({ attempts }) => attempts === 2)?.delivery_id,
    receiver: receiver?.id,
  };
}

/** Successful, rejected and injected responses, and deliveries with retries. */
async function exercise(sandbox) {
  const { usr_ada: ada, usr_dan: dan } = sandbox.credentials;
  const call = (key, method, path, body) =>
    fetch(sandbox.url + path, {
      method,
      headers: { "api-key": key, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(() => {});
  const receiver = await sandbox.receivers.add({ answers: [500, 500, 200] });
  await call(ada, "POST", "/webhooks", { url: receiver.url, events: ["thread.deleted", "user.created"] });
  await sandbox.faults.add({ match: { operation: "models.list" }, times: 2, effect: { status: 503 } });
  await sandbox.faults.add({ match: { operation: "usage.*" }, every: 3, effect: { delay: "700ms" } });
  for (let round = 0; round < 4; round += 1) {
    await call(ada, "GET", "/v1/models");
    await call(dan, "DELETE", "/v1/threads/thread_none");
    await call(dan, "GET", "/v1/analytics/usage/limits/org_acme");
    await call("ak_unknown", "GET", "/v1/models");
    await call(ada, "POST", "/v1/organizations/org_acme/files/upload-url", {
      filename: `minutes-${round}.pdf`,
      mime_type: "application/pdf",
      file_size: 1000,
    });
  }
  await sandbox.snapshots.save("before");
  await call(ada, "DELETE", "/v1/threads/thread_ada");
  await sandbox.events.trigger("user.created").catch(() => {});
  await sandbox.clock.advance("10m").catch(() => {});
}

/** Takes pictures of one address in all sizes and themes. */
async function takePictures(browser, { made, world, folder, view, search }) {
  const page = await browser.newPage();
  const [[width, height]] = WIDTHS;
  await page.setViewportSize({ width, height });
  const query = search.replace(/\{(\w+)\}/g, (_, name) => made.ids[name] ?? "none");
  await page.goto(`${made.server.url}/_console/s/${made.sandbox.name}/${view}${query}`);
  await page.getByRole("img", { name: "live", exact: true }).waitFor();
  // Queries have finished after a batch of the live stream.
  await page.waitForTimeout(SETTLED_MS);
  if (world === "broken") {
    await made.server.close();
    await page.getByRole("alert").first().waitFor();
  }
  for (const [width, height] of WIDTHS) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.waitForTimeout(DRAWN_MS);
      const name = [view, search.replace(/\W+/g, "-"), world, width, colorScheme].filter(Boolean).join("-");
      await page.screenshot({ path: join(folder, `${name}.png`) });
    }
  }
  await page.close();
}

async function openWorld(world) {
  const made = await WORLDS[world]();
  return { ...made, ids: await findIds(made.sandbox) };
}

const [folder, ...views] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write("usage: node scripts/console-pictures.mjs FOLDER [VIEW ...]\n");
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const executablePath = await findBrowser();
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
for (const world of Object.keys(WORLDS)) {
  let made = await openWorld(world);
  for (const view of views.length > 0 ? views : Object.keys(VIEWS)) {
    for (const search of VIEWS[view]) {
      await takePictures(browser, { made, world, folder, view, search });
      if (world === "broken") made = await openWorld(world);
    }
  }
  await made.server.close();
}
await browser.close();
