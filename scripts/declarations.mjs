// Writes the declarations that the package ships (decision 11): one file per entry, in which nothing of the server's is
// left. The library's holds what the others share, so that a class is the same class whichever entry names it.

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const LIBRARY = "index";
const ENTRIES = [
  "browser",
  "client",
  "engine",
  "fetch",
  "panel",
  "storybook",
  "vitest",
  "playwright",
  "msw",
  "vite",
  "operations",
];

const FROM_FILE = /^(import|export) (.*?) from "(\.[^"]+)\.ts";\n/gm;
const IN_FILE = /import\("(\.[^"]+)\.ts"\)\.(\w+)/g;
const DECLARED =
  /^(export )?(?:default )?(?:declare )?(?:abstract )?(class|function|const|interface|type) (\w+)/gm;

/** @returns {number} the compiler's exit code */
export function writeDeclarations(folder) {
  mkdirSync(dirname(folder), { recursive: true });
  // Beside it: the compiler writes declarations of all that it has read, the server's included.
  const written = mkdtempSync(`${folder}-`);
  try {
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const args = [compiler, "-p", "tsconfig.types.json", "--outDir", written];
    const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
    if (status !== 0) return status ?? 1;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    writeBundled(join(written, "src", "client"), folder);
    // Written by hand: a module that the plugin for Vite makes.
    copyFileSync(join(root, "types", "vite-client.d.ts"), join(folder, "vite-client.d.ts"));
    return 0;
  } finally {
    rmSync(written, { recursive: true, force: true });
  }
}

function writeBundled(client, folder) {
  const entries = ENTRIES.map((name) => [name, join(client, `${name}.d.ts`)]);
  const library = join(client, `${LIBRARY}.d.ts`);
  const offered = offers(library);
  const files = reached([library, ...entries.map(([, file]) => file)]);
  const shared = files.filter((file) => file !== library && !entries.some(([, entry]) => entry === file));
  writeFileSync(join(folder, `${LIBRARY}.d.ts`), together(shared, offered));
  for (const [name, file] of entries) writeFileSync(join(folder, `${name}.d.ts`), onLibrary(file, offered));
}

const fileBeside = (file, target) => join(dirname(file), `${target}.d.ts`);

/** Files and those that they name, what is named first. */
function reached(files, found = new Set()) {
  for (const file of files.filter((one) => !found.has(one))) {
    const text = readFileSync(file, "utf8");
    const named = [...text.matchAll(FROM_FILE)].map(([, , , target]) => target);
    for (const [, target] of text.matchAll(IN_FILE)) named.push(target);
    reached(
      named.map((target) => fileBeside(file, target)),
      found,
    );
    found.add(file);
  }
  return [...found];
}

/** What a file exports from others, by name, and whether more of it than a type. */
function offers(file) {
  const offered = new Map();
  for (const [, , what, target] of readFileSync(file, "utf8").matchAll(FROM_FILE)) {
    if (what === "type *") for (const name of listAll(fileBeside(file, target))) offered.set(name, "type");
    for (const { name, type } of namesIn(what)) offered.set(name, type ? "type" : "value");
  }
  return offered;
}

/** Of `type { A, B }` and `{ a, type B }`. */
function namesIn(list) {
  const [, before = "", names = ""] = /^(type )?\{ (.*) \}$/.exec(list) ?? [];
  return names
    .split(", ")
    .filter(Boolean)
    .map((name) => ({ name: name.replace(/^type /, ""), type: before !== "" || name.startsWith("type ") }));
}

function listAll(file) {
  const text = readFileSync(file, "utf8");
  const own = [...text.matchAll(DECLARED)].filter(([, exported]) => exported).map(([, , , name]) => name);
  const others = [...text.matchAll(FROM_FILE)].filter(([, , what]) => what === "type *");
  return [...own, ...others.flatMap(([, , , target]) => listAll(fileBeside(file, target)))];
}

/** Files as one, which exports what the library offers and nothing else. */
function together(files, offered) {
  const seen = new Set();
  const onlyTypes = [];
  const texts = files.map((file) => {
    const text = readFileSync(file, "utf8");
    const spaces = [...text.matchAll(/^import type \* as (\w+) from "\./gm)].map(([, name]) => `${name}.`);
    const bare = text
      .replaceAll(FROM_FILE, "")
      .replaceAll(IN_FILE, "$2")
      .replaceAll(/^export \{\};\n/gm, "");
    const flat = spaces.reduce(
      (all, space) => all.replaceAll(new RegExp(`\\b${space}(?=[A-Z])`, "g"), ""),
      bare,
    );
    return withoutFormer(flat, seen, offered).replaceAll(DECLARED, (all, exported, kind, name) => {
      if (seen.has(name)) throw new Error(`two declarations of ${name}: one file cannot hold both`);
      seen.add(name);
      const inner = exported === undefined ? all : all.slice(exported.length);
      const as = exported === undefined ? undefined : offered.get(name);
      if (as === "value" || (as === "type" && (kind === "interface" || kind === "type")))
        return `export ${inner}`;
      if (as === "type") onlyTypes.push(name);
      return kind === "class" || kind === "function" || kind === "const"
        ? inner.replace(/^(?!declare )/, "declare ")
        : inner;
    });
  });
  const whole = `${texts.join("")}export type { ${onlyTypes.join(", ")} };\n`;
  if (/^import |from "|import\("/m.test(whole))
    throw new Error("the library's declarations name another package");
  return whole;
}

/** Without interfaces that the library names itself: they go before the control API's of the same name, as among exports. */
function withoutFormer(text, seen, offered) {
  const twice = [...text.matchAll(/^export interface (\w+)/gm)].filter(
    ([, name]) => seen.has(name) && offered.has(name),
  );
  return twice.reduce(
    (all, [, name]) =>
      all.replace(
        new RegExp(`^(/\\*\\*[^/]*\\*/\\n)?export interface ${name} \\{\\n[^]*?\\n\\}\\n`, "m"),
        "",
      ),
    text,
  );
}

/** An entry's own, which takes what it shares with the library from there. */
function onLibrary(file, offered) {
  const text = readFileSync(file, "utf8");
  const imports = [...text.matchAll(FROM_FILE)].flatMap(([, , what]) =>
    namesIn(what).map(({ name }) => name),
  );
  const inline = [...text.matchAll(IN_FILE)].map(([, , name]) => name);
  const lacking = [...imports, ...inline].filter((name) => !offered.has(name));
  if (lacking.length > 0)
    throw new Error(`client/index.ts offers no ${lacking.join(", ")}, as ${file} needs`);
  const head =
    imports.length === 0 ? "" : `import type { ${imports.sort().join(", ")} } from "./${LIBRARY}.js";\n`;
  return `${head}${text.replaceAll(FROM_FILE, "").replaceAll(IN_FILE, `import("./${LIBRARY}.js").$2`)}`;
}
