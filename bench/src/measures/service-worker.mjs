import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { openBrowser } from "../browser.mjs";
import { atMost, row } from "../rows.mjs";
import { median } from "../statistics.mjs";

export const about = "a sandbox in a page of Chromium, behind its service worker: its first answer; GET";

const BUILT = fileURLToPath(new URL("../../../dist/browser/", import.meta.url));
const PAGE = `<!doctype html><title>A page</title>
<script type="module">import { start } from "/index.js"; globalThis.begin = start;</script>`;
const VISITS = 7;
const GETS = 500;

export async function measure({ log }) {
  const server = createServer(({ url }, response) => {
    const { pathname } = new URL(url, "http://x");
    response.setHeader("content-type", pathname === "/" ? "text/html" : "text/javascript");
    try {
      response.end(pathname === "/" ? PAGE : readFileSync(BUILT + pathname));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await openBrowser();
  const visits = [];
  try {
    for (let turn = 0; turn < VISITS; turn++) {
      log(`visit ${turn + 1} of ${VISITS}`);
      visits.push(await visit(browser, `http://127.0.0.1:${server.address().port}/`));
    }
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
  const rowOf = (what, key, most) =>
    row({ what, value: median(visits.map((one) => one[key])), unit: "ms", goal: atMost(most, "ms") });
  return [
    rowOf("service worker: from start() on a first visit to the first answer", "first", 500),
    rowOf("service worker: the same after a reload", "again", 500),
    rowOf("service worker: p50 of GET", "get", 2),
  ];
}

/** A visit with a profile that has nothing yet: the worker is registered, and the engine loaded. */
async function visit(browser, url) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
    const first = await firstAnswer(page);
    const get = await page.evaluate(async (times) => {
      const taken = [];
      for (let n = 0; n < times; n++) {
        const begun = performance.now();
        const answer = await fetch("/v1/models", globalThis.asDan);
        await answer.text();
        taken.push(performance.now() - begun);
      }
      return taken.sort((one, other) => one - other)[times / 2];
    }, GETS);
    await page.reload();
    return { first, get, again: await firstAnswer(page) };
  } finally {
    await context.close();
  }
}

async function firstAnswer(page) {
  await page.waitForFunction(() => "begin" in globalThis);
  return page.evaluate(async () => {
    const begun = performance.now();
    const { credentials } = await globalThis.begin();
    globalThis.asDan = { headers: { "api-key": credentials.usr_dan } };
    const answer = await fetch("/v1/models", globalThis.asDan);
    await answer.text();
    if (answer.status !== 200) throw new Error(`the first answer is ${answer.status}`);
    return performance.now() - begun;
  });
}
