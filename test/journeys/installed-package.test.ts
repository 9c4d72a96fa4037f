import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runTests } from "../../matrix/runners.mjs";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MAX_INSTALLED_BYTES = 75_000_000;
const MAX_FILES = 400;
const run = promisify(execFile);
let folder: string;
/** The warnings of npm during the installation. */
let warned: string;

/** Runs a command in the empty project. */
async function runCommandHere(command: string, ...args: string[]) {
  const env = { ...process.env, NO_COLOR: "1", UNDERSTUDY_URL: "", UNDERSTUDY_TOKEN: "", CI: "1" };
  // Variables of this test run would make the runners inside believe that they are part of it.
  for (const name of Object.keys(env))
    if (/^(VITEST|TEST|npm_)/.test(name)) delete env[name as keyof typeof env];
  return run(command, args, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 });
}

/** Returns the standard output. */
const readOutput = async (command: string, ...args: string[]) =>
  (await runCommandHere(command, ...args)).stdout;

/** Runs the installed command. `npx` takes twice as long to find it. */
const runUnderstudy = (...args: string[]) => readOutput(join("node_modules", ".bin", "understudy"), ...args);

function listFiles(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const sumSizes = (files: readonly string[]) => files.reduce((sum, file) => sum + statSync(file).size, 0);

beforeAll(async () => {
  folder = createTempFolder();
  writeFileSync(join(folder, "package.json"), '{"name":"app","private":true,"type":"module"}');
  const packed = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
    cwd: ROOT,
  });
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  // Uses npm's cache where possible, as after `npm ci`.
  const install = ["install", "-D", "--prefer-offline", "--no-audit", "--no-fund", `./${filename}`];
  warned = (await runCommandHere("npm", ...install)).stderr;
}, 300_000);
afterAll(removeTempFolders);

describe("the package in an empty folder", () => {
  it("installs small, in few files, and runs no install script [interfaces 13]", () => {
    const modules = join(folder, "node_modules");
    expect(sumSizes(listFiles(modules))).toBeLessThan(MAX_INSTALLED_BYTES);
    expect(listFiles(join(modules, "understudy-sandbox")).length).toBeLessThan(MAX_FILES);
    const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
    const scripted = Object.entries(packages as Record<string, { hasInstallScript?: boolean }>);
    expect(scripted.filter(([, { hasInstallScript }]) => hasInstallScript).map(([name]) => name)).toEqual([]);
    // Warnings about engines that are too old, install scripts, and deprecated packages.
    expect(warned.split("\n").filter((line) => /EBADENGINE|install-scripts|deprecated/.test(line))).toEqual(
      [],
    );
  });

  it("has a command that answers, generates and checks [interfaces 2]", async () => {
    expect(await readOutput("npx", "understudy", "--version")).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(JSON.parse(await runUnderstudy("openapi")).openapi).toBe("3.1.0");
    writeFileSync(
      join(folder, "mine.yaml"),
      "name: mine\ndescription: Models are busy.\nrules:\n  - match: {operation: models.list}\n    effect: {error: RATE_LIMIT_EXCEEDED}\n",
    );
    expect(await runUnderstudy("scenario", "check", "mine.yaml")).toContain("mine.yaml");
  });

  it("lists, shows, copies and runs the shipped and the derived scenarios [interfaces 6]", async () => {
    const written = readFileSync(join(ROOT, "scenarios/slow-network.yaml"), "utf8");
    expect(await runUnderstudy("scenario", "show", "slow-network")).toBe(written);
    writeFileSync(
      join(folder, "copy.yaml"),
      await runUnderstudy("scenario", "show", "models-list-rate-limited"),
    );
    expect(await runUnderstudy("scenario", "check", "copy.yaml")).toContain("copy.yaml: ok");
    writeFileSync(
      join(folder, "scenarios.mjs"),
      `import { createUnderstudy } from "understudy-sandbox";
const understudy = await createUnderstudy();
const sandbox = await understudy.sandbox({ scenarios: ["models-list-rate-limited"] });
const headers = { "api-key": sandbox.credentials.usr_dan };
const triggered = await fetch(sandbox.url + "/v1/models", { headers });
const bundle = await sandbox.bundle();
const { items } = await sandbox.scenarios.list();
const { file, origin } = items.find(({ active }) => active);
const ofFiles = items.filter(({ origin }) => origin === "shipped").length;
console.log(JSON.stringify([triggered.status, ofFiles, file, origin, bundle.scenarios.length]));
await understudy.close();
`,
    );
    const total = readdirSync(join(ROOT, "scenarios")).length;
    const file = "built-in/models-list-rate-limited.yaml";
    expect(JSON.parse(await readOutput("node", "scenarios.mjs"))).toEqual([429, total, file, "derived", 1]);
    const key = "api-key: ak_danMemberAcme00000000000000000000000000";
    const call = `curl -s -H "${key}" "$UNDERSTUDY_BASE_URL/v1/models"`;
    const names = "models-list-{rate-limited,signed-out}";
    expect(await runUnderstudy("suite", names, "--", "sh", "-c", call)).toContain("2 passed");
  });

  it("has an MCP server without a package for it [interfaces 13]", async () => {
    expect(existsSync(join(folder, "node_modules/@modelcontextprotocol"))).toBe(false);
    writeFileSync(
      join(folder, "mcp.mjs"),
      `import { execFileSync } from "node:child_process";
import { createUnderstudy } from "understudy-sandbox";
const understudy = await createUnderstudy();
const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
const answer = await fetch(understudy.url + "/_control/mcp", {
  method: "POST",
  headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
  body: JSON.stringify(message),
});
const tools = (await answer.text()).match(/"name":"[a-z]+_?[a-z_]*","title"/g);
console.log(JSON.stringify([answer.status, tools.length]));
await understudy.close();
`,
    );
    expect(JSON.parse(await readOutput("node", "mcp.mjs"))).toEqual([200, 23]);
  });

  it("has a library that serves, saves and reads uploads [interfaces 8]", async () => {
    writeFileSync(
      join(folder, "library.mjs"),
      `import { createUnderstudy } from "understudy-sandbox";
const understudy = await createUnderstudy({ persist: { folder: "data" } });
const sandbox = await understudy.sandbox({ clock: { mode: "frozen", now: "2026-03-15T12:00:00Z" } });
const answer = await fetch(sandbox.url + "/v1/models", { headers: { "api-key": sandbox.credentials.usr_dan } });
const console_ = await fetch(understudy.url + "/_console");
console.log(JSON.stringify([answer.status, answer.headers.get("x-sandbox-decision"), console_.status]));
await understudy.close();
`,
    );
    expect(JSON.parse(await readOutput("node", "library.mjs"))).toEqual([200, "ok", 200]);
    expect(readdirSync(join(folder, "data"))).toContain("understudy.db");
  });

  it("has fixtures for both runners [interfaces 13]", async () => {
    // Uses the runners that `npm ci` has installed here: their versions satisfy the peer ranges of the package.
    mkdirSync(join(folder, "node_modules/@playwright"), { recursive: true });
    for (const runner of ["vitest", "@playwright/test"]) {
      const place = join(folder, "node_modules", runner);
      if (!existsSync(place)) symlinkSync(join(ROOT, "node_modules", runner), place);
    }
    const body = `test("a member asks too often", async ({ sandbox }) => {
  await sandbox.faults.add({ match: { operation: "models.list" }, effect: { error: "RATE_LIMIT_EXCEEDED" } });
  const answer = await fetch(sandbox.url + "/v1/models", { headers: { "api-key": sandbox.credentials.usr_dan } });
  expect(answer.status).toBe(429);
});
`;
    writeFileSync(
      join(folder, "a.test.mjs"),
      `import { expect, test } from "understudy-sandbox/vitest";\n${body}`,
    );
    writeFileSync(
      join(folder, "a.spec.mjs"),
      `import { expect, test } from "understudy-sandbox/playwright";\n${body}`,
    );
    // The default timeout of a few seconds is too short on a busy machine.
    const vitest = ["node_modules/vitest/vitest.mjs", "run", "--dir", ".", "--testTimeout", "120000"];
    expect(await readOutput("node", ...vitest, "a.test.mjs")).toMatch(/1 passed/);
    const playwright = ["node_modules/@playwright/test/cli.js", "test", "--timeout", "120000"];
    expect(await readOutput("node", ...playwright, "a.spec.mjs")).toMatch(/1 passed/);
  });

  // `npm run matrix` tests the other versions and pools.
  it.each(["Vitest 4", "Jest 30", "node:test 20"])("passes tests of %s [interfaces 13]", async (name) => {
    for (const runner of ["vitest", "msw", "jest"]) {
      const place = join(folder, "node_modules", runner);
      if (!existsSync(place)) symlinkSync(join(ROOT, "node_modules", runner), place);
    }
    await expect(runTests(name, folder, { pools: ["vmThreads"] })).resolves.toBeUndefined();
  });
});
