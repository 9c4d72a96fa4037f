// Bundles the server, the command and the library into dist/, with the packages that every start needs.
// Bundling is what keeps the cold start low: a few files to read instead of some hundred. npm audits those
// packages as ever, since they stay dependencies; a build takes in what is installed.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { parse } from "yaml";
import { buildConsole } from "./build-console.mjs";

// What is needed at every start goes into the bundle; what is loaded on demand, or has binaries of its own,
// stays in node_modules.
const LEFT_OUTSIDE =
  /^(express|sharp|pdfjs-dist|yargs|chokidar|pino|@playwright|vitest|jose|minisearch|yaml|busboy|csv-parse|csv-stringify|htmlparser2|lowdb|libsql)(\/|$)/;

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

const stale =
  !process.argv.includes("--if-stale") ||
  builtAt() <
    Math.max(
      await newest(join(root, "src")),
      await newest(join(root, "fixtures")),
      await newest(join(root, "scenarios")),
      statSync(join(root, "package.json")).mtimeMs,
    );

// The server reads this instead of parsing and checking YAML, which takes half a second for all scenarios; it
// counts as long as the YAML beside it is the same (src/documents/shipped-files.ts).
function storeDocuments(folder) {
  const stored = {};
  for (const file of readdirSync(join(root, folder)).filter((name) => name.endsWith(".yaml"))) {
    const text = readFileSync(join(root, folder, file), "utf8");
    stored[file] = { sha256: createHash("sha256").update(text).digest("hex"), value: parse(text) };
  }
  writeFileSync(join(out, `${folder}.json`), JSON.stringify(stored));
}

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
      generated: "src/generated.ts",
      // Started as a thread, so it has to be a file of its own.
      "persistence/sqlite-thread": "src/persistence/sqlite-thread.js",
      "client/index": "src/client/index.ts",
      "client/vitest": "src/client/vitest.ts",
      "client/playwright": "src/client/playwright.ts",
    },
    platform: "node",
    external: [/^node:/, ...builtinModules, LEFT_OUTSIDE],
    logLevel: "warn",
  });
  await bundle.write({
    dir: out,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
  });
  await bundle.close();
  if (!process.argv.includes("--no-types")) {
    const { status } = spawnSync(
      process.execPath,
      [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.types.json"],
      { cwd: root, stdio: "inherit" },
    );
    if (status !== 0) process.exit(status ?? 1);
  }
  storeDocuments("fixtures");
  storeDocuments("scenarios");
  writeFileSync(join(out, "built"), "");
}
await buildConsole({ ifStale: process.argv.includes("--if-stale") });
