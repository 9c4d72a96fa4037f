// Checks that the folders of `src/`, and `scripts/generate/`, import one way (docs/decisions/0005-folders-import-one-way.md),
// and use no private fields of Node's objects:
//   node scripts/lint-imports.mjs            exits 1 and lists each import that the table does not allow
//   node scripts/lint-imports.mjs --arrows   prints which folder imports which
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

const ENGINE = [
  "state",
  "contract",
  "documents",
  "sandbox",
  "webhooks",
  "receivers",
  "resources",
  "fixtures",
  "faults",
  "pipeline",
  "own",
];
const engineFolders = ENGINE.map((folder) => `engine/${folder}`);
const engine = [...engineFolders, "engine/index.ts"];

/** Files of the engine that import nothing and that every folder may import. */
const FOUNDATION = ["engine/platform.ts", "engine/bytes.ts", "engine/crc32c.ts", "engine/maps.ts"];

/** Globals that a browser lacks. */
const NODE_GLOBALS = /(?<![.\w"'`/-])(Buffer\b|process\.|setImmediate\b|NodeJS\.|__dirname\b)/;

/** A private field, such as Node's `socket._httpMessage`; `_read` is documented for streams. */
const PRIVATE_FIELD = /\._(?!read\b)[a-z]\w*/i;

/** Each folder, and the folders that it may import. A file at the root of `src/` is a folder. */
export const FOLDERS = {
  "engine/state": [],
  "engine/contract": ["engine/state"],
  "engine/documents": ["engine/contract"],
  "engine/sandbox": ["engine/state", "engine/contract"],
  "engine/webhooks": ["engine/state", "engine/contract", "engine/sandbox"],
  "engine/receivers": ["engine/state", "engine/contract", "engine/webhooks"],
  "engine/resources": ["engine/state", "engine/contract", "engine/webhooks", "engine/receivers"],
  "engine/fixtures": [
    "engine/state",
    "engine/contract",
    "engine/documents",
    "engine/sandbox",
    "engine/resources",
  ],
  "engine/faults": ["engine/state", "engine/contract", "engine/documents", "engine/sandbox"],
  "engine/pipeline": ["engine/state", "engine/contract", "engine/sandbox"],
  "engine/own": ["engine/state", "engine/contract", "engine/resources"],
  "engine/services.ts": ["engine/state", "engine/contract", "engine/sandbox", "engine/webhooks"],
  "engine/index.ts": [...engineFolders, "engine/services.ts"],
  "hosts/node": engine,
  "hosts/fetch": engine,
  documents: engine,
  persistence: [...engine, "hosts/node", "hosts/fetch", "documents"],
  fleet: [...engine, "hosts/node", "persistence"],
  tools: [...engine, "hosts/node", "documents"],
  control: [...engine, "hosts/node", "hosts/fetch", "documents", "persistence", "tools"],
  "understudy.ts": [
    ...engine,
    ...["hosts/node", "hosts/fetch", "documents", "persistence", "fleet", "tools", "control"],
  ],
  "browser.ts": [...engine, "hosts/fetch", "documents", "persistence", "tools", "control"],
  client: [
    ...engine,
    ...["hosts/node", "hosts/fetch", "documents", "tools", "control", "understudy.ts", "browser.ts"],
  ],
  // The page itself reads the checks of a client test, as the command does, and shares helpers for texts and durations.
  console: ["engine/contract", "tools"],
  cli: [
    ...engine,
    "hosts/node",
    "hosts/fetch",
    "documents",
    "persistence",
    "tools",
    "control",
    "client",
    "understudy.ts",
  ],
  scripts: [...engine, "hosts/node", "documents", "tools", "control"],
};

function findFolder(path) {
  const [place, ...parts] = relative(root, path).split(sep);
  if (place === "scripts") return place;
  if (place !== "src") return undefined;
  const file = parts.join("/");
  const [first, second] = parts;
  if (FOUNDATION.includes(file)) return undefined;
  return first === "engine" || first === "hosts" ? `${first}/${second}` : first;
}

const IMPORT =
  /(?:^|\n)(?:import|export)\s[^;"']*?from\s+"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)|(?:^|\n)import\s+"([^"]+)"/g;

const problems = [];
const arrows = new Map();
const listFiles = (folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
for (const name of [...listFiles("src"), ...listFiles("scripts/generate")]) {
  if (!/\.(tsx?|js)$/.test(name) || /\.test\.tsx?$/.test(name)) continue;
  const file = join(root, name);
  const folder = findFolder(file);
  if (folder === undefined) continue;
  if (FOLDERS[folder] === undefined)
    problems.push(`${name}: the folder ${folder} is not in the table FOLDERS of this script`);
  const text = readFileSync(file, "utf8");
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const [, global] = (folder.startsWith("engine/") && NODE_GLOBALS.exec(code)) || [];
  if (global !== undefined) problems.push(`${name}: the engine uses ${global}`);
  const [privateField] = PRIVATE_FIELD.exec(code) ?? [];
  if (privateField !== undefined)
    problems.push(`${name}: ${privateField} is a private field; use what is documented`);
  for (const match of text.matchAll(IMPORT)) {
    const target = match[1] ?? match[2] ?? match[3];
    if (!target.startsWith(".")) {
      if (folder.startsWith("engine/") && target.startsWith("node:"))
        problems.push(`${name}: the engine imports ${target}`);
      continue;
    }
    const to = findFolder(normalize(join(dirname(file), target)));
    if (to === undefined || to === folder) continue;
    arrows.set(`${folder} -> ${to}`, [...(arrows.get(`${folder} -> ${to}`) ?? []), name]);
    if (!FOLDERS[folder]?.includes(to)) problems.push(`${name}: ${folder} imports ${to}`);
  }
}
if (process.argv.includes("--arrows"))
  for (const [arrow, files] of [...arrows].sort()) console.log(arrow, files.length);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
