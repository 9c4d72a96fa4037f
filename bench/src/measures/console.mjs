import { openBrowser } from "../browser.mjs";
import { control, openClient, runInParallel } from "../client.mjs";
import { atMost, makeRow } from "../rows.mjs";
import { computeMedian } from "../statistics.mjs";
import { asAdaJson, startUnderstudy } from "../subjects/understudy.mjs";

export const about =
  "the console in Chromium: when its first view can be used; 100,000 rows scrolled, searched and in a burst";

const ROWS = 100_000;
const PER_SECOND = 2000;
/** Users notice a longer gap between frames as a stall. */
const STALL_MS = 200;
const USABLE_MS = 1000;
/** Users notice a longer delay between a key press and its display. */
const KEY_MS = 100;
const OPENINGS = 5;
const SOON_MS = 500;
/** The page may finish its start before the measurement. */
const SETTLED_MS = 1500;
const STEP_MS = 5;
/** The pace of a fast typist. */
const TYPED_MS = 120;

export async function measure({ seconds, log }) {
  const server = await startUnderstudy();
  const api = control(server);
  const { base_url } = await api.post("/sandboxes", { name: "busy", settings: { journal_limit: ROWS } });
  const caller = openClient(base_url, asAdaJson);
  const send = () => caller.get("/v1/models");
  const browser = await openBrowser();
  try {
    log("opening");
    await runInParallel(1000, 32, send);
    const usable = [];
    for (let turn = 0; turn < OPENINGS; turn += 1)
      usable.push(await measureFirstOpening(browser, server.url));

    log("typing");
    const keys = await measureTyping(browser, server.url, api);

    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(`${server.url}/_console/s/busy/timeline`);
    const list = page.getByRole("treegrid");
    await list.waitFor();
    log(`${ROWS.toLocaleString("en-GB")} requests`);
    // The page keeps entries that the journal has dropped.
    await runInParallel(ROWS, 32, send);
    await waitForRows(page, ROWS);
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
    const sent = await sendBurst(send, seconds * 1000);
    await waitForRows(page, ROWS + sent);
    const busy = await page.evaluate("frames.take()");
    const drawn = await page.getByRole("row").count();
    return [
      makeRow({
        what: "first view usable: from nothing to a row that opens when it is pressed, 1,000 entries",
        subject: "console",
        value: computeMedian(usable),
        unit: "ms",
        goal: atMost(USABLE_MS, "ms"),
        note: `${OPENINGS} openings with an empty cache, ${Math.round(Math.min(...usable))} to ${Math.round(Math.max(...usable))}`,
      }),
      makeRow({
        what: "a key until what it changed is drawn, searching 100,000 records",
        subject: "console",
        value: Math.max(...keys),
        unit: "ms",
        goal: atMost(KEY_MS, "ms"),
        note: `the longest of ${keys.length} keys; median ${computeMedian(keys)}`,
      }),
      toRow("longest frame while 100,000 rows are scrolled", scrolled, drawn),
      toRow(`longest frame in a burst of ${Math.round(sent / seconds)} entries a second`, busy, drawn),
    ];
  } finally {
    await browser.close();
    await Promise.all([api.close(), caller.close(), server.stop()]);
  }
}

/** Milliseconds until the newest entry of the timeline is open, in a new profile. */
async function measureFirstOpening(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const begun = performance.now();
  await page.goto(`${url}/_console/s/busy/timeline`, { waitUntil: "commit" });
  // Checks in every frame; Playwright checks every half second.
  await page.waitForFunction(() => document.querySelector("[role=treegrid] [role=row] .entry-what"));
  // A click between two renderings may miss, so it is repeated.
  for (let isOpen = false; !isOpen; ) {
    await page.getByRole("row").first().click();
    isOpen = await page
      .locator(".detail")
      .waitFor({ timeout: SOON_MS })
      .then(
        () => true,
        () => false,
      );
  }
  const taken = performance.now() - begun;
  await context.close();
  return taken;
}

/** Returns the browser's measurement of each key: from the press to the frame that shows it. */
async function measureTyping(browser, url, api) {
  const fixture = { extends: "reference", generate: { audit_log: { org_acme: ROWS } } };
  await api.post("/sandboxes", { name: "large", fixture });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${url}/_console/s/large/world?collection=audit_logs`);
  // The view shows the first page of records.
  await page.getByRole("row").nth(1).waitFor();
  await page.waitForTimeout(SETTLED_MS);
  await page.evaluate(FOLLOW_KEYS);
  await page.getByRole("searchbox", { name: "Filter" }).focus();
  for (const key of [..."reparented", ...Array(10).fill("Backspace")]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(TYPED_MS);
  }
  await page.waitForTimeout(SETTLED_MS);
  const keys = await page.evaluate("keys");
  await page.close();
  return keys;
}

function toRow(what, frames, drawn) {
  const longest = Math.max(...frames);
  const note = `${frames.length} frames, ${drawn} rows drawn at the end`;
  return makeRow({
    what,
    subject: "console",
    value: longest,
    unit: "ms",
    goal: atMost(STALL_MS, "ms"),
    note,
  });
}

/**
 * Sends as many requests as are due every few milliseconds, without waiting for responses. Resolves with their
 * number.
 */
async function sendBurst(send, milliseconds) {
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

/** Passes a function, since the page's policy forbids evaluating texts. */
function waitForRows(page, rows) {
  const isShown = (count) => Number(document.querySelector("[role=treegrid]").ariaRowCount) >= count;
  return page.waitForFunction(isShown, rows, { timeout: 300_000 });
}

/** Records the milliseconds between frames since the last read. */
const FOLLOW_FRAMES = `{
  let last = performance.now();
  let gaps = [];
  const next = (now) => { gaps.push(now - last); last = now; requestAnimationFrame(next); };
  requestAnimationFrame(next);
  window.frames.take = () => { const taken = gaps; gaps = []; return taken; };
}`;

/** Records the milliseconds from each key press to the next frame; browsers report none that are within a frame. */
const FOLLOW_KEYS = `{
  window.keys = [];
  new PerformanceObserver((list) => {
    for (const { name, duration } of list.getEntries()) if (name === "keydown") keys.push(duration);
  }).observe({ type: "event", durationThreshold: 16 });
}`;
