// Makes a Chromium available to the tests that need one: the one that is there, else Debian's, else
// Playwright's own download. Prints one line when there is something to say, and never fails the run: what
// could not be tested for want of a browser is said at its end (test/support/counts-reporter.ts).

import { spawnSync } from "node:child_process";
import { accessSync, constants, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installFromDebian, run } from "./debian.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Why there is none, for the tests' last lines; gone as soon as there is one. */
const NOTE = join(root, "node_modules", ".cache", "understudy-browser.txt");
const VARIABLES = [
  "PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH",
  "CHROME_PATH",
  "CHROME_BIN",
  "PUPPETEER_EXECUTABLE_PATH",
];
// Without a window and what draws one, a page costs a quarter less.
const NAMES = [
  "chromium-headless-shell",
  "chrome-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "microsoft-edge",
];
const ELSEWHERE = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];
const SECOND = 1000;

/** The path of a Chromium that starts, or undefined. */
export async function findBrowser() {
  // For those who want none, and for trying what a run does without one.
  if (process.env.UNDERSTUDY_NO_BROWSER) return undefined;
  const path = [...candidates()].find((candidate) => isProgram(candidate) && starts(candidate));
  if (path) return path;
  const own = await ownOfPlaywright();
  return own && isProgram(own) && starts(own) ? own : undefined;
}

/** What the last attempt to get one ended with. */
export function whyNone() {
  if (process.env.UNDERSTUDY_NO_BROWSER) return "UNDERSTUDY_NO_BROWSER is set";
  try {
    return readFileSync(NOTE, "utf8");
  } catch {
    return "no Chromium was found on this machine; `node scripts/browser.mjs` installs one";
  }
}

function candidates() {
  const named = VARIABLES.map((name) => process.env[name]).filter(Boolean);
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  return new Set([
    ...named,
    ...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))),
    ...ELSEWHERE,
  ]);
}

async function ownOfPlaywright() {
  try {
    const { chromium } = await import("@playwright/test");
    return chromium.executablePath();
  } catch {
    return undefined;
  }
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

// Some systems have a script of that name which only says how to get the browser.
function starts(path) {
  if (process.platform === "win32") return true;
  const { status, stdout } = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 20 * SECOND });
  return status === 0 && /\b(Chrom\w*|Edge)\b.* \d+\./.test(stdout);
}

function fromPlaywright() {
  const cli = join(root, "node_modules", "@playwright", "test", "cli.js");
  return run(process.execPath, [cli, "install", "chromium"], 300);
}

async function provide() {
  if (process.env.UNDERSTUDY_NO_BROWSER || (await findBrowser())) return rmSync(NOTE, { force: true });
  const failures = [];
  for (const [source, get] of [
    ["Debian's chromium-headless-shell", () => installFromDebian(["chromium-headless-shell"])],
    ["Debian's chromium", () => installFromDebian(["chromium"])],
    ["Playwright's chromium", fromPlaywright],
  ]) {
    const failure = get();
    const path = failure === undefined ? await findBrowser() : undefined;
    if (path) {
      process.stdout.write(`browser: installed ${source} for the browser tests (${path})\n`);
      return rmSync(NOTE, { force: true });
    }
    failures.push(`${source}: ${failure ?? "installed, but it does not start"}`);
  }
  const reason = `no Chromium was found and none could be installed (${failures.join("; ")})`;
  mkdirSync(dirname(NOTE), { recursive: true });
  writeFileSync(NOTE, reason);
  process.stdout.write(`browser: ${reason}; the browser tests will not run\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await provide();
