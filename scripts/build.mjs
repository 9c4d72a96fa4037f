// Bundles the server, the command and the library into dist/, with the packages that every start and command needs.
// Bundling keeps the cold start low: a few dozen files to read instead of some hundred. npm audits those packages as
// ever, since they stay dependencies; a build takes in what is installed.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { parse } from "yaml";
import { buildBrowser, reach } from "./build-browser.mjs";
import { buildConsole } from "./build-console.mjs";
import { writeDeclarations } from "./declarations.mjs";

// Packages that every start or most commands need go into the bundle; those that are loaded on demand, or have binaries of
// their own, stay in node_modules.
const LEFT_OUTSIDE =
  /^(sharp|unpdf|chokidar|pino|@playwright|vitest|vite|msw|jose|minisearch|busboy|csv-parse|csv-stringify|htmlparser2|jiti|lowdb|libsql)(\/|$)/;

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "dist");
const CONSOLE = join(root, "src", "console");

async function newest(folder) {
  let latest = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    // The console is an application of its own, with its own build.
    if (join(entry.parentPath, entry.name).startsWith(CONSOLE)) continue;
    if (entry.isFile()) latest = Math.max(latest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
  }
  return latest;
}

function builtAt() {
  return statSync(join(out, "built"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

const withTypes = !process.argv.includes("--no-types");
const stale =
  !process.argv.includes("--if-stale") ||
  (withTypes && !existsSync(join(out, "types"))) ||
  builtAt() <
    Math.max(
      await newest(join(root, "src")),
      await newest(join(root, "types")),
      await newest(join(root, "fixtures")),
      statSync(join(root, "package.json")).mtimeMs,
    );

// The server reads this instead of parsing and checking YAML, which takes a good part of a start; it counts as long as
// the YAML beside it is the same (src/documents/shipped-files.ts).
function storeDocuments(folder) {
  const stored = {};
  for (const file of readdirSync(join(root, folder)).filter((name) => name.endsWith(".yaml"))) {
    const text = readFileSync(join(root, folder, file), "utf8");
    stored[file] = { text, value: parse(text) };
  }
  writeFileSync(join(out, `${folder}.json`), JSON.stringify(stored));
}

let loadedAtStart;
let loadedByControl;

/**
 * What every start loads is one file, and the control API another; by default they would be eighty and fourteen, and a
 * first control call opens all of its files at once.
 */
function chooseChunk(id, build) {
  loadedAtStart ??= reach(["src/cli/run.ts", "src/cli/start-server.ts", "src/understudy.ts"], build);
  if (loadedAtStart.has(id)) return "start";
  loadedByControl ??= reach(["src/control/handle-control.ts"], build);
  return loadedByControl.has(id) && id.includes("/src/control/") ? "control" : null;
}

const OUTSIDE = [/^node:/, ...builtinModules, LEFT_OUTSIDE];

if (stale) {
  mkdirSync(out, { recursive: true });
  for (const name of readdirSync(out)) {
    if (name !== "console") rmSync(join(out, name), { recursive: true, force: true });
  }
  const bundle = await rolldown({
    cwd: root,
    input: {
      "cli/main": "src/cli/main.ts",
      understudy: "src/understudy.ts",
      // Started as a thread, so it has to be a file of its own.
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
    external: OUTSIDE,
    logLevel: "warn",
  });
  await bundle.write({
    dir: out,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ debugName: "chunks", name: chooseChunk }],
    },
  });
  await bundle.close();
  // Apart from the others, whose common files need Node.
  const page = await rolldown({
    cwd: root,
    input: {
      client: "src/client/client.ts",
      msw: "src/client/msw.ts",
      operations: "src/client/operations.ts",
    },
    platform: "browser",
    external: LEFT_OUTSIDE,
    logLevel: "warn",
  });
  await page.write({ dir: join(out, "client"), format: "esm", chunkFileNames: "page-[hash].js" });
  await page.close();
  if (withTypes) {
    const failed = writeDeclarations(join(out, "types"));
    if (failed !== 0) process.exit(failed);
  }
  storeDocuments("fixtures");
  await buildBrowser();
  writeFileSync(join(out, "built"), "");
}
await buildConsole({ ifStale: process.argv.includes("--if-stale") });
