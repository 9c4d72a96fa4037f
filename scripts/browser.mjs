// Provides a Chromium for the tests that need one: an installed one, else Debian's, else Playwright's download. Prints
// one line if it installs one or cannot, and never fails the run: test/support/counts-reporter.ts lists the tests that
// could not run without a browser.

import { spawnSync } from "node:child_process";
import { accessSync, constants, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installFromDebian, run } from "./debian.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Contains why no browser could be installed; removed once there is one. */
const REASON_FILE = join(root, "node_modules", ".cache", "understudy-browser.txt");
const VARIABLES = [
  "PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH",
  "CHROME_PATH",
  "CHROME_BIN",
  "PUPPETEER_EXECUTABLE_PATH",
];
/** Headless shells come first: without a window, a page takes a quarter less time. */
const PROGRAM_NAMES = [
  "chromium-headless-shell",
  "chrome-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "microsoft-edge",
];
const USUAL_PATHS = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];
const VERSION_TIMEOUT_MS = 20_000;
const DOWNLOAD_TIMEOUT_SECONDS = 300;

/** The path of a Chromium that starts; undefined if there is none. */
export async function findBrowser() {
  if (process.env.UNDERSTUDY_NO_BROWSER) return undefined;
  // Playwright is imported only if no other browser is found.
  return [...listCandidates()].find(canStart) ?? [await findPlaywrightsBrowser()].find(canStart);
}

/** Why `findBrowser` finds none, for the tests that need one. */
export function explainMissingBrowser() {
  if (process.env.UNDERSTUDY_NO_BROWSER) return "UNDERSTUDY_NO_BROWSER is set";
  try {
    return readFileSync(REASON_FILE, "utf8");
  } catch {
    return "no Chromium was found on this machine; `node scripts/browser.mjs` installs one";
  }
}

function listCandidates() {
  const named = VARIABLES.map((name) => process.env[name]).filter(Boolean);
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  return new Set([
    ...named,
    ...PROGRAM_NAMES.flatMap((name) => folders.map((folder) => join(folder, name))),
    ...USUAL_PATHS,
  ]);
}

/** The path to which Playwright downloads its browser, even if it has not yet; undefined without Playwright. */
async function findPlaywrightsBrowser() {
  try {
    const { chromium } = await import("@playwright/test");
    return chromium.executablePath();
  } catch {
    return undefined;
  }
}

function canStart(path) {
  if (path === undefined || !isExecutable(path)) return false;
  // On Windows, Chromium does not print its version.
  if (process.platform === "win32") return true;
  // Some systems have a script of this name that only says how to install the browser.
  const { status, stdout } = spawnSync(path, ["--version"], {
    encoding: "utf8",
    timeout: VERSION_TIMEOUT_MS,
  });
  return status === 0 && /\b(Chrom\w*|Edge)\b.* \d+\./.test(stdout);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Why the download failed; undefined if it succeeded. */
function installFromPlaywright() {
  const cli = join(root, "node_modules", "@playwright", "test", "cli.js");
  return run(process.execPath, [cli, "install", "chromium"], DOWNLOAD_TIMEOUT_SECONDS);
}

async function provideBrowser() {
  if (process.env.UNDERSTUDY_NO_BROWSER || (await findBrowser())) return rmSync(REASON_FILE, { force: true });
  const failures = [];
  for (const [source, install] of [
    ["Debian's chromium-headless-shell", () => installFromDebian(["chromium-headless-shell"])],
    ["Debian's chromium", () => installFromDebian(["chromium"])],
    ["Playwright's chromium", installFromPlaywright],
  ]) {
    const failure = install();
    const path = failure === undefined ? await findBrowser() : undefined;
    if (path) {
      process.stdout.write(`browser: installed ${source} for the browser tests (${path})\n`);
      return rmSync(REASON_FILE, { force: true });
    }
    failures.push(`${source}: ${failure ?? "installed, but it does not start"}`);
  }
  const reason = `no Chromium was found and none could be installed (${failures.join("; ")})`;
  mkdirSync(dirname(REASON_FILE), { recursive: true });
  writeFileSync(REASON_FILE, reason);
  process.stdout.write(`browser: ${reason}; the browser tests will not run\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await provideBrowser();
