// Bundles the server, the command and the library into dist/, with the packages that every start and command needs. A
// start then reads a few dozen files instead of hundreds. The bundled packages stay dependencies, so npm audits them.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { parse } from "yaml";
import { buildBrowser, findStaticImports, withSlashes } from "./build-browser.mjs";
import { buildConsole } from "./build-console.mjs";
import { writeDeclarations } from "./declarations.mjs";

/** Packages that are loaded on demand, or have binaries, stay in node_modules. */
const UNBUNDLED =
  /^(sharp|unpdf|chokidar|pino|@playwright|vitest|vite|msw|jose|minisearch|busboy|csv-parse|csv-stringify|htmlparser2|jiti|lowdb|libsql)(\/|$)/;

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "dist");
const CONSOLE = join(root, "src", "console");

/** When the newest file of a folder was changed, in milliseconds since 1970. */
async function findLastChange(folder) {
  let latest = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    // The console has its own build.
    if (join(entry.parentPath, entry.name).startsWith(CONSOLE)) continue;
    if (entry.isFile()) latest = Math.max(latest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
  }
  return latest;
}

const withTypes = !process.argv.includes("--no-types");
const builtAt = statSync(join(out, "built"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
const isStale =
  !process.argv.includes("--if-stale") ||
  (withTypes && !existsSync(join(out, "types"))) ||
  builtAt <
    Math.max(
      await findLastChange(join(root, "src")),
      await findLastChange(join(root, "types")),
      await findLastChange(join(root, "fixtures")),
      statSync(join(root, "package.json")).mtimeMs,
    );

/** Stores parsed documents, so that a start need not parse YAML; src/documents/shipped-files.ts reads them. */
function storeDocuments(folder) {
  const stored = {};
  for (const file of readdirSync(join(root, folder)).filter((name) => name.endsWith(".yaml"))) {
    const text = readFileSync(join(root, folder, file), "utf8");
    stored[file] = { text, value: parse(text) };
  }
  writeFileSync(join(out, `${folder}.json`), JSON.stringify(stored));
}

let startModules;
let controlModules;

/** The modules of every start are one file, and those of the control API another, instead of eighty and fourteen. */
function chooseChunk(id, build) {
  startModules ??= findStaticImports(
    ["src/cli/run.ts", "src/cli/start-server.ts", "src/understudy.ts"],
    build,
  );
  if (startModules.has(id)) return "start";
  controlModules ??= findStaticImports(["src/control/handle-control.ts"], build);
  return controlModules.has(id) && withSlashes(id).includes("/src/control/") ? "control" : null;
}

if (isStale) {
  mkdirSync(out, { recursive: true });
  for (const name of readdirSync(out)) {
    if (name !== "console") rmSync(join(out, name), { recursive: true, force: true });
  }
  const bundle = await rolldown({
    cwd: root,
    input: {
      "cli/main": "src/cli/main.ts",
      understudy: "src/understudy.ts",
      // A thread starts from a file of its own.
      "persistence/sqlite-thread": "src/persistence/sqlite-thread.js",
      "client/index": "src/client/index.ts",
      "client/engine": "src/client/engine.ts",
      "client/fetch": "src/client/fetch.ts",
      "client/vitest": "src/client/vitest.ts",
      "client/vitest-page": "src/client/vitest-page.ts",
      "client/playwright": "src/client/playwright.ts",
      "client/vite": "src/client/vite.ts",
    },
    platform: "node",
    preserveEntrySignatures: "allow-extension",
    external: [/^node:/, ...builtinModules, UNBUNDLED],
    // Commands import modules when they need them, which the server's file has at once.
    checks: { ineffectiveDynamicImport: false },
    logLevel: "warn",
  });
  await bundle.write({
    dir: out,
    format: "esm",
    // Licenses stay.
    comments: { jsdoc: false },
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ debugName: "chunks", name: chooseChunk }],
    },
  });
  await bundle.close();
  // A bundle of its own, since the files that the others share need Node.
  const page = await rolldown({
    cwd: root,
    input: {
      client: "src/client/client.ts",
      msw: "src/client/msw.ts",
      operations: "src/client/operations.ts",
    },
    platform: "browser",
    external: UNBUNDLED,
    logLevel: "warn",
  });
  await page.write({ dir: join(out, "client"), format: "esm", chunkFileNames: "page-[hash].js" });
  await page.close();
  if (withTypes) {
    const exitCode = writeDeclarations(join(out, "types"));
    if (exitCode !== 0) process.exit(exitCode);
  }
  storeDocuments("fixtures");
  await buildBrowser();
  writeFileSync(join(out, "built"), "");
}
await buildConsole({ ifStale: process.argv.includes("--if-stale") });
