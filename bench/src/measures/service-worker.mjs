import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { openBrowser } from "../browser.mjs";
import { pinRunner, unpinRunner } from "../pinning.mjs";
import { atMost, formatFigure, makeRow } from "../rows.mjs";
import { computeMedian, computeMedianRatio } from "../statistics.mjs";

export const about = "a sandbox in a page of Chromium, behind its service worker: its first answer; GET";

const BUILT = fileURLToPath(new URL("../../../dist/browser/", import.meta.url));
const PAGE = `<!doctype html><title>A page</title>
<script type="module">import { start } from "/index.js"; globalThis.begin = start;</script>`;
/** The baseline: a worker that forwards nothing. */
const PLAIN = `<!doctype html><title>A page</title>
<script>navigator.serviceWorker.register("worker.js");</script>`;
const PLAIN_WORKER = `addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => event.respondWith(new Response("x")));`;
const FILES = { "/": PAGE, "/plain/": PLAIN, "/plain/worker.js": PLAIN_WORKER };
const VISITS = 7;
const TURNS = 5;
const GETS = 100;

export async function measure({ log }) {
  const server = createServer(({ url }, response) => {
    const { pathname } = new URL(url, "http://x");
    response.setHeader("content-type", pathname.endsWith("/") ? "text/html" : "text/javascript");
    try {
      response.end(FILES[pathname] ?? readFileSync(BUILT + pathname));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  unpinRunner();
  const browser = await openBrowser();
  const visits = [];
  try {
    for (let turn = 0; turn < VISITS; turn++) {
      log(`visit ${turn + 1} of ${VISITS}`);
      visits.push(await visit(browser, `http://127.0.0.1:${server.address().port}/`));
    }
  } finally {
    pinRunner();
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
  const toRow = (what, key, most) =>
    makeRow({
      what,
      value: computeMedian(visits.map((one) => one[key])),
      unit: "ms",
      goal: atMost(most, "ms"),
    });
  const [gets, baselines] = ["gets", "baselines"].map((key) => visits.flatMap((one) => one[key]));
  return [
    toRow("service worker: from start() on a first visit to the first answer", "first", 500),
    toRow("service worker: the same after a reload", "again", 500),
    makeRow({
      what: "service worker: p50 of GET",
      value: computeMedian(gets),
      unit: "ms",
      baseline: `a worker's fixed answer, ${formatFigure(computeMedian(baselines), "ms")}`,
      ratio: computeMedianRatio(gets, baselines),
      goal: atMost(2, "ms"),
    }),
  ];
}

/** Visits the page with a new profile: registers the worker and loads the engine. */
async function visit(browser, url) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
    const first = await measureFirstAnswer(page);
    const plain = await context.newPage();
    await plain.goto(`${url}plain/`);
    await plain.waitForFunction(() => navigator.serviceWorker.controller !== null);
    const gets = [];
    const baselines = [];
    for (let turn = 0; turn < TURNS; turn++) {
      gets.push(await measureGet(page, "/v1/models"));
      baselines.push(await measureGet(plain, "/plain/x"));
    }
    await page.reload();
    return { first, gets, baselines, again: await measureFirstAnswer(page) };
  } finally {
    await context.close();
  }
}

/** Half as many additional requests warm up and are not counted. */
function measureGet(page, path) {
  return page.evaluate(
    async ({ path, times }) => {
      const taken = [];
      for (let n = -times / 2; n < times; n++) {
        const begun = performance.now();
        const answer = await fetch(path, globalThis.asDan);
        await answer.text();
        if (n >= 0) taken.push(performance.now() - begun);
      }
      return taken.sort((one, other) => one - other)[times / 2];
    },
    { path, times: GETS },
  );
}

async function measureFirstAnswer(page) {
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
