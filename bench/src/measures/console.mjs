import { createRequire } from "node:module";
import { client, control, inParallel } from "../client.mjs";
import { atMost, row } from "../rows.mjs";
import { asAdaJson, startUnderstudy } from "../subjects/understudy.mjs";

export const about = "the longest frame of the console's timeline with 100,000 rows, scrolled and in a burst";

const ROWS = 100_000;
const PER_SECOND = 2000;
/** Longer than that people call it a stall. */
const STALL_MS = 200;
/** What is measured is a page, not how it begins. */
const SETTLED_MS = 1500;
const STEP_MS = 5;

export async function measure({ seconds, log }) {
  const server = await startUnderstudy();
  const api = control(server);
  const { base_url } = await api.post("/sandboxes", { name: "busy", settings: { journal_limit: ROWS } });
  const caller = client(base_url, asAdaJson);
  const send = () => caller.get("/v1/models");
  const browser = await openBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(`${server.url}/_console/s/busy/timeline`);
    const list = page.getByRole("treegrid");
    await list.waitFor();
    log(`${ROWS.toLocaleString("en-GB")} requests`);
    // The page keeps what the journal lets go of.
    await inParallel(ROWS, 32, send);
    await shows(page, ROWS);
    await page.evaluate(FOLLOW_FRAMES);
    await page.waitForTimeout(SETTLED_MS);
    await page.evaluate("frames.take()");

    log("scrolling");
    const { x, y } = await list.boundingBox();
    await page.mouse.move(x + 50, y + 50);
    for (let turn = 0; turn < 40; turn += 1) await page.mouse.wheel(0, 3000);
    await list.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Home");
    const scrolled = await page.evaluate("frames.take()");

    log(`${PER_SECOND} requests a second`);
    const sent = await burst(send, seconds * 1000);
    await shows(page, ROWS + sent);
    const busy = await page.evaluate("frames.take()");
    const drawn = await page.getByRole("row").count();
    return [
      rowOf("longest frame while 100,000 rows are scrolled", scrolled, drawn),
      rowOf(`longest frame in a burst of ${Math.round(sent / seconds)} entries a second`, busy, drawn),
    ];
  } finally {
    await browser.close();
    await Promise.all([api.close(), caller.close(), server.stop()]);
  }
}

function rowOf(what, frames, drawn) {
  const longest = Math.max(...frames);
  const note = `${frames.length} frames, ${drawn} rows drawn at the end`;
  return row({ what, subject: "console", value: longest, unit: "ms", goal: atMost(STALL_MS, "ms"), note });
}

/** Resolves with how many were sent: as many as are due each few milliseconds, answered or not. */
async function burst(send, milliseconds) {
  const begun = performance.now();
  const sent = [];
  for (;;) {
    const elapsed = performance.now() - begun;
    if (elapsed >= milliseconds) break;
    while (sent.length < (elapsed * PER_SECOND) / 1000) sent.push(send());
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  await Promise.all(sent);
  return sent.length;
}

/** By a function: the page's policy forbids texts. */
function shows(page, rows) {
  const isShown = (count) => Number(document.querySelector("[role=treegrid]").ariaRowCount) >= count;
  return page.waitForFunction(isShown, rows, { timeout: 300_000 });
}

/** Milliseconds between two frames, of all since the last time that they were taken. */
const FOLLOW_FRAMES = `{
  let last = performance.now();
  let gaps = [];
  const next = (now) => { gaps.push(now - last); last = now; requestAnimationFrame(next); };
  requestAnimationFrame(next);
  window.frames.take = () => { const taken = gaps; gaps = []; return taken; };
}`;

/** Playwright and the search for a browser are the project's, not of this folder. */
async function openBrowser() {
  const root = new URL("../../../", import.meta.url);
  const { chromium } = createRequire(new URL("package.json", root))("@playwright/test");
  const { findBrowser } = await import(new URL("scripts/browser.mjs", root).href);
  const executablePath = await findBrowser();
  if (executablePath === undefined) throw new Error("there is no Chromium here");
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
