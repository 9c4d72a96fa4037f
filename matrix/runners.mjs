// Runs tests that use the packed tarball in each version of each test tool in docs/helpers.md:
//   node matrix/runners.mjs [NAME ...]
import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findBrowser } from "../scripts/browser.mjs";

const run = promisify(execFile);
const here = fileURLToPath(new URL(".", import.meta.url));

export const POOLS = ["threads", "forks", "vmThreads", "vmForks"];

async function runVitest({ node, pools = POOLS, browser }) {
  const args = ["node_modules/vitest/vitest.mjs", "run", "vitest.test.ts", "--pool"];
  for (const pool of pools) await node([...args, pool], / 5 passed \| 1 skipped/);
  if (browser !== undefined) await runPage({ node, browser });
}

/** In a page, the fixture fails with a message that says what to do. */
async function runPage({ node, browser }) {
  const args = ["node_modules/vitest/vitest.mjs", "run", "--config", "page.config.mjs"];
  await node(args, /starts a server, which a page cannot do/, {
    env: { CHROME_PATH: browser },
    fails: true,
  });
}

async function runJest({ node }) {
  const args = ["--experimental-vm-modules", "node_modules/jest/bin/jest.js", "--testMatch=**/jest.test.mjs"];
  await node(args, /Tests: +2 passed, 2 total/);
}

async function runNode({ node }) {
  await node(["--test", "node.test.mjs"], /pass 2\n(?:.*\n)*?.*skipped 1\n/);
}

async function runPlaywright({ node, browser }) {
  const env = { PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH: browser };
  await node(["node_modules/@playwright/test/cli.js", "test"], /1 skipped\n +1 passed/, { env });
}

const VITEST = ["vitest.test.ts", "page.test.ts", "page.config.mjs"];
const PLAYWRIGHT = ["sandbox.spec.mjs", "playwright.config.mjs"];
const vitest = (version, more) => ({
  packages: { vitest: version, playwright: "1.65.1", ...more },
  files: VITEST,
  run: runVitest,
});
const jest = (version) => ({ packages: { jest: version }, files: ["jest.test.mjs"], run: runJest });
const playwright = (version) => ({
  packages: { "@playwright/test": version },
  files: PLAYWRIGHT,
  run: runPlaywright,
});
const nodeTest = { packages: {}, files: ["node.test.mjs"], run: runNode };

/** `node` is the version that the tool needs, if it is newer than the oldest that Understudy supports. */
export const RUNNERS = {
  "Vitest 3": vitest("3.2.7", { "@vitest/browser": "3.2.7", msw: "2.15.0" }),
  "Vitest 4": vitest("4.1.12", { "@vitest/browser-playwright": "4.1.12", msw: "2.15.0" }),
  "Vitest 5": { node: 22, ...vitest("5.1.1", { "@vitest/browser-playwright": "5.1.1", msw: "3.0.5" }) },
  "Playwright 1.50": playwright("1.50.1"),
  "Playwright 1.65": playwright("1.65.1"),
  "Jest 29": jest("29.7.0"),
  "Jest 30": jest("30.5.2"),
  "node:test 20": nodeTest,
  "node:test 22": { node: 22, ...nodeTest },
  "node:test 24": { node: 24, ...nodeTest },
};

/** Runs a runner's tests in a project that has it and Understudy. @throws Error with the output of a failed run */
export async function runTests(name, folder, { program = process.execPath, browser, pools } = {}) {
  const { files, run: runAll } = RUNNERS[name];
  for (const file of files) copyFileSync(join(here, "tests", file), join(folder, file));
  const env = cleanEnvironment();
  const node = async (args, expected, { env: more, fails } = {}) => {
    const options = { cwd: folder, env: { ...env, ...more }, maxBuffer: 1e8 };
    const { stdout, stderr } = await run(program, args, options).catch((error) => {
      if (!fails) throw error;
      return error;
    });
    if (!expected.test(stdout + stderr))
      throw new Error(`${args.join(" ")}: no ${expected} in\n${stdout}${stderr}`);
  };
  await runAll({ node, browser, pools });
}

/** Removes variables of an outer test run, since runners would think they belong to it. */
function cleanEnvironment() {
  const env = { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0", UNDERSTUDY_URL: "", UNDERSTUDY_TOKEN: "" };
  for (const key of Object.keys(env)) if (/^(VITEST|TEST|JEST|NODE_TEST|npm_)/.test(key)) delete env[key];
  return env;
}

async function install(folder, packages) {
  writeFileSync(join(folder, "package.json"), '{"name":"app","private":true,"type":"module"}');
  await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", ...packages], {
    cwd: folder,
    maxBuffer: 1e8,
  });
}

/** Returns a Node of that major version: this one, or one from npm. */
async function findNode(major, folder) {
  if (major === undefined || Number(process.versions.node.split(".")[0]) === major) return process.execPath;
  await install(folder, [`node@${major}`]);
  return join(folder, "node_modules/node/bin/node");
}

async function main() {
  const wanted = process.argv.slice(2);
  const folder = mkdtempSync(join(tmpdir(), "understudy-matrix-"));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: join(here, "..") });
  const tarball = join(
    folder,
    readdirSync(folder).find((file) => file.endsWith(".tgz")),
  );
  const browser = await findBrowser();
  for (const [name, { node, packages }] of Object.entries(RUNNERS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const began = performance.now();
    try {
      const program = await findNode(node, mkdtempSync(join(folder, "node-")));
      const project = mkdtempSync(join(folder, "project-"));
      await install(project, [
        tarball,
        ...Object.entries(packages).map(([one, version]) => `${one}@${version}`),
      ]);
      await runTests(name, project, { program, browser });
      console.log(`ok    ${name} (${Math.round((performance.now() - began) / 100) / 10} s)`);
    } catch (error) {
      process.exitCode = 1;
      const text = `${error.stdout ?? ""}${error.stderr ?? ""}` || String(error);
      console.log(`FAIL  ${name}\n${text.split("\n").slice(0, 60).join("\n")}`);
    }
  }
  rmSync(folder, { recursive: true, force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
