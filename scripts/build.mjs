// Bundles the server, the command and the library into dist/, with the packages that every start needs.
// Bundling is what keeps the cold start low: a few files to read instead of some hundred. npm audits those
// packages as ever, since they stay dependencies; a build takes in what is installed.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { parse } from "yaml";
import { buildConsole } from "./build-console.mjs";
import { writeDeclarations } from "./declarations.mjs";

// What is needed at every start goes into the bundle; what is loaded on demand, or has binaries of its own,
// stays in node_modules.
const LEFT_OUTSIDE =
  /^(express|sharp|unpdf|yargs|chokidar|pino|@playwright|vitest|jose|minisearch|yaml|busboy|csv-parse|csv-stringify|htmlparser2|lowdb|libsql)(\/|$)/;

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

// What every start loads is one file. Of the rest, each command's own part is, so that the package stays small and
// a start reads nothing that it does not run.
const AT_START = ["src/cli/main.ts", "src/cli/start-server.ts", "src/understudy.ts"].map((file) =>
  join(root, file),
);
const ON_DEMAND = ["cli", "grader", "verify", "suite", "bundle", "reports"];
let atStart;

function loadsAtStart(id, build) {
  if (atStart === undefined) {
    atStart = new Set();
    const follow = (module) => {
      if (atStart.has(module)) return;
      atStart.add(module);
      for (const imported of build.getModuleInfo(module)?.importedIds ?? []) follow(imported);
    };
    for (const entry of AT_START) follow(entry);
  }
  return atStart.has(id);
}

/** The file that a module goes into; null: as the bundler thinks best. */
function fileOf(id, build) {
  // What awaits at its top level must not share a file with what it loads meanwhile.
  if (id === AT_START[0]) return null;
  if (loadsAtStart(id, build)) return "start";
  return ON_DEMAND.find((room) => id.startsWith(join(root, "src", room, "/"))) ?? null;
}

const SPLITTING = {
  includeDependenciesRecursively: false,
  groups: [{ name: fileOf, debugName: "rooms" }],
};

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
    preserveEntrySignatures: "allow-extension",
    external: [/^node:/, ...builtinModules, LEFT_OUTSIDE],
    logLevel: "warn",
  });
  await bundle.write({
    dir: out,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: SPLITTING,
  });
  await bundle.close();
  if (!process.argv.includes("--no-types")) {
    const failed = writeDeclarations(join(out, "types"));
    if (failed !== 0) process.exit(failed);
  }
  storeDocuments("fixtures");
  storeDocuments("scenarios");
  writeFileSync(join(out, "built"), "");
}
await buildConsole({ ifStale: process.argv.includes("--if-stale") });
