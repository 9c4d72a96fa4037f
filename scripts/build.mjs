// Bundles the server, the command and the library into dist/, with the packages that every start and command needs.
// Bundling is what keeps the cold start low: a few files to read instead of some hundred. npm audits those
// packages as ever, since they stay dependencies; a build takes in what is installed.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { builtinModules } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { parse } from "yaml";
import { buildConsole } from "./build-console.mjs";
import { writeDeclarations } from "./declarations.mjs";

// What is needed at every start, or by every other command, goes into the bundle; what is loaded on demand, or has
// binaries of its own, stays in node_modules.
const LEFT_OUTSIDE =
  /^(express|sharp|unpdf|chokidar|pino|@playwright|vitest|vite|msw|jose|minisearch|busboy|csv-parse|csv-stringify|htmlparser2|lowdb|libsql)(\/|$)/;

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

const MAIN = join(root, "src/cli/main.ts");
// What tells a plain start from other commands is one file, what knows those commands another, what every start loads
// a third, and what those two share a fourth: a few files instead of dozens are what makes them quick. Of the rest,
// each room is a file, so that the package stays small.
const TOGETHER = {
  run: ["src/cli/run.ts", "src/cli/output.ts"],
  commands: ["src/cli/run-commands.ts"],
  start: ["src/cli/start-server.ts", "src/understudy.ts"],
};
const ROOMS = [
  ...["cli", "client/suite", "client/replay", "engine/fixtures"],
  ...["tools/grader", "tools/verify", "tools/bundle", "tools/reports", "tools/traffic"],
];
let together;

/** Of each module that is loaded with the entries of TOGETHER, which file it is in. */
function filesOf(build) {
  const files = new Map();
  const [run, commands, start] = [TOGETHER.run, TOGETHER.commands, TOGETHER.start].map((entries) =>
    reached(
      build,
      entries.map((entry) => join(root, entry)),
    ),
  );
  for (const module of start) files.set(module, commands.has(module) ? "shared" : "start");
  // What is also of use elsewhere must not bring all commands along.
  const isOfUseElsewhere = (module) =>
    build.getModuleInfo(module).importers.some((one) => !commands.has(one) && !run.has(one));
  const elsewhere = reached(build, [...commands].filter(isOfUseElsewhere));
  for (const module of commands)
    if (!start.has(module)) files.set(module, elsewhere.has(module) ? "shared" : "commands");
  for (const module of run) files.set(module, "run");
  return files;
}

function reached(build, entries) {
  const found = new Set();
  const follow = (module) => {
    if (found.has(module)) return;
    found.add(module);
    for (const imported of build.getModuleInfo(module)?.importedIds ?? []) follow(imported);
  };
  for (const entry of entries) follow(entry);
  return found;
}

/** The file that a module goes into; null: as the bundler thinks best. */
function fileOf(id, build) {
  // What awaits at its top level must not share a file with what it loads meanwhile.
  if (id === MAIN) return null;
  together ??= filesOf(build);
  return (
    together.get(id) ??
    ROOMS.find((room) => id.startsWith(join(root, "src", room, "/")))?.replace("/", "-") ??
    null
  );
}

const SPLITTING = {
  includeDependenciesRecursively: false,
  groups: [{ name: fileOf, debugName: "rooms" }],
};

const FACADE = /^export \{ [\w$, ]+ \} from "\.\/([^"]+)";\s*$/;

/**
 * A module that is loaded on demand and shares its file with others gets a file that does nothing but name its exports.
 * Whoever loads it can load the shared file as well: fewer files to ship, and to read.
 */
const withoutFacades = {
  name: "without-facades",
  generateBundle(_options, files) {
    const chunks = Object.entries(files).filter(([, { type }]) => type === "chunk");
    for (const [path, { code, isDynamicEntry, isEntry }] of chunks) {
      const [, behind] = (isDynamicEntry && !isEntry && FACADE.exec(code)) || [];
      if (behind === undefined) continue;
      delete files[path];
      for (const [, other] of chunks) other.code = other.code.replaceAll(basename(path), behind);
    }
  },
};

const HTTP = /^import (?:(?:\* as )?([\w$]+))?(?:, )?(?:\{ (.+) \})? from "node:http";$/m;

/**
 * `import` asks for each export of a module, and from Node 22 on `http` has a WebSocket, for which Node loads all that fetch
 * consists of: 12 ms and some 4 MB of each start.
 */
const httpWithoutFetch = {
  name: "http-without-fetch",
  renderChunk(code) {
    return code.replace(HTTP, (_, whole, names) => {
      const wanted = [whole, names && `{ ${names.replaceAll(" as ", ": ")} }`].filter(Boolean);
      return wanted.map((each) => `const ${each} = process.getBuiltinModule("node:http");`).join("\n");
    });
  },
};

/** V8 holds a file in two bytes a letter, and reads it more slowly, where a single one of its letters needs them. */
const inAscii = {
  name: "in-ascii",
  generateBundle(_options, files) {
    for (const chunk of Object.values(files))
      if (chunk.type === "chunk") chunk.code = escapeLetters(chunk.code);
  },
};

/** Each letter stands in a text, a pattern or a comment, where it may be told by its number, unless it is escaped itself. */
function escapeLetters(code) {
  const escaped = /.{0,40}\\[^\0-\x7f]/.exec(code);
  if (escaped) throw new Error(`a letter outside ASCII stands behind a backslash: ${escaped[0]}`);
  return code.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
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
      generated: "src/generated.ts",
      // Started as a thread, so it has to be a file of its own.
      "persistence/sqlite-thread": "src/persistence/sqlite-thread.js",
      "client/index": "src/client/index.ts",
      "client/vitest": "src/client/vitest.ts",
      "client/playwright": "src/client/playwright.ts",
      "client/msw": "src/client/msw.ts",
      "client/vite": "src/client/vite.ts",
    },
    platform: "node",
    plugins: [httpWithoutFetch, withoutFacades, inAscii],
    preserveEntrySignatures: "allow-extension",
    external: OUTSIDE,
    logLevel: "warn",
  });
  await bundle.write({
    dir: out,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: SPLITTING,
    // A facade then says the very names, and the file behind it takes its place.
    minifyInternalExports: false,
  });
  await bundle.close();
  if (withTypes) {
    const failed = writeDeclarations(join(out, "types"));
    if (failed !== 0) process.exit(failed);
  }
  storeDocuments("fixtures");
  writeFileSync(join(out, "built"), "");
}
await buildConsole({ ifStale: process.argv.includes("--if-stale") });
