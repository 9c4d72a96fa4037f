// Writes the declarations that the package ships (decision 11): one file per entry, without any of the server. The
// library's file has what the others share, so that a class is the same for every entry.

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
  // The compiler also writes declarations of the server's files, which are not shipped.
  const compiled = mkdtempSync(`${folder}-`);
  try {
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const args = [compiler, "-p", "tsconfig.types.json", "--outDir", compiled];
    const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
    if (status !== 0) return status ?? 1;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    writeBundled(join(compiled, "src", "client"), folder);
    // Written by hand, since it declares a module that the plugin for Vite creates.
    copyFileSync(join(root, "types", "vite-client.d.ts"), join(folder, "vite-client.d.ts"));
    return 0;
  } finally {
    rmSync(compiled, { recursive: true, force: true });
  }
}

function writeBundled(client, folder) {
  const entries = ENTRIES.map((name) => [name, join(client, `${name}.d.ts`)]);
  const library = join(client, `${LIBRARY}.d.ts`);
  const exported = listExports(library);
  const files = listImported([library, ...entries.map(([, file]) => file)]);
  const shared = files.filter((file) => file !== library && !entries.some(([, entry]) => entry === file));
  writeFileSync(join(folder, `${LIBRARY}.d.ts`), joinShared(shared, exported));
  for (const [name, file] of entries)
    writeFileSync(join(folder, `${name}.d.ts`), importFromLibrary(file, exported));
}

const resolveImport = (file, target) => join(dirname(file), `${target}.d.ts`);

/** Files and those that they import, imported ones first. */
function listImported(files, found = new Set()) {
  for (const file of files.filter((one) => !found.has(one))) {
    const text = readFileSync(file, "utf8");
    const targets = [...text.matchAll(FROM_FILE)].map(([, , , target]) => target);
    for (const [, target] of text.matchAll(IN_FILE)) targets.push(target);
    listImported(
      targets.map((target) => resolveImport(file, target)),
      found,
    );
    found.add(file);
  }
  return [...found];
}

/** The names that a file exports from others, each with `type` or `value`. */
function listExports(file) {
  const exported = new Map();
  for (const [, , what, target] of readFileSync(file, "utf8").matchAll(FROM_FILE)) {
    if (what === "type *")
      for (const name of listAllExports(resolveImport(file, target))) exported.set(name, "type");
    for (const { name, isType } of parseNames(what)) exported.set(name, isType ? "type" : "value");
  }
  return exported;
}

/** The names of `type { A, B }` or `{ a, type B }`. */
function parseNames(list) {
  const [, typePrefix, names = ""] = /^(type )?\{ (.*) \}$/.exec(list) ?? [];
  return names
    .split(", ")
    .filter(Boolean)
    .map((name) => ({
      name: name.replace(/^type /, ""),
      isType: typePrefix !== undefined || name.startsWith("type "),
    }));
}

function listAllExports(file) {
  const text = readFileSync(file, "utf8");
  const own = [...text.matchAll(DECLARED)].filter(([, exported]) => exported).map(([, , , name]) => name);
  const others = [...text.matchAll(FROM_FILE)].filter(([, , what]) => what === "type *");
  return [...own, ...others.flatMap(([, , , target]) => listAllExports(resolveImport(file, target)))];
}

/** Files as one, which exports the names of the library and no others. */
function joinShared(files, exported) {
  const seen = new Set();
  const typesOnly = [];
  const texts = files.map((file) => {
    const text = readFileSync(file, "utf8");
    const namespaces = [...text.matchAll(/^import type \* as (\w+) from "\./gm)].map(
      ([, name]) => `${name}.`,
    );
    const withoutImports = text
      .replaceAll(FROM_FILE, "")
      .replaceAll(IN_FILE, "$2")
      .replaceAll(/^export \{\};\n/gm, "");
    const flat = namespaces.reduce(
      (all, namespace) => all.replaceAll(new RegExp(`\\b${namespace}(?=[A-Z])`, "g"), ""),
      withoutImports,
    );
    return removeReplaced(flat, seen, exported).replaceAll(DECLARED, (all, exportKeyword, kind, name) => {
      if (seen.has(name)) throw new Error(`${name} is declared twice, which one file cannot contain`);
      seen.add(name);
      const inner = exportKeyword === undefined ? all : all.slice(exportKeyword.length);
      const as = exportKeyword === undefined ? undefined : exported.get(name);
      if (as === "value" || (as === "type" && (kind === "interface" || kind === "type")))
        return `export ${inner}`;
      if (as === "type") typesOnly.push(name);
      return kind === "class" || kind === "function" || kind === "const"
        ? inner.replace(/^(?!declare )/, "declare ")
        : inner;
    });
  });
  const whole = `${texts.join("")}export type { ${typesOnly.join(", ")} };\n`;
  if (/^import |from "|import\("/m.test(whole))
    throw new Error("the library's declarations import another package");
  return whole;
}

/** Removes the control API's interfaces that the library replaces by its own of the same name. */
function removeReplaced(text, seen, exported) {
  const replaced = [...text.matchAll(/^export interface (\w+)/gm)].filter(
    ([, name]) => seen.has(name) && exported.has(name),
  );
  return replaced.reduce(
    (all, [, name]) =>
      all.replace(
        new RegExp(`^(/\\*\\*[^/]*\\*/\\n)?export interface ${name} \\{\\n[^]*?\\n\\}\\n`, "m"),
        "",
      ),
    text,
  );
}

/** An entry's own declarations, which import the shared ones from the library's file. */
function importFromLibrary(file, exported) {
  const text = readFileSync(file, "utf8");
  const listNames = (statement) =>
    [...text.matchAll(FROM_FILE)]
      .filter(([, keyword]) => keyword === statement)
      .flatMap(([, , what]) => parseNames(what).map(({ name }) => name));
  const imports = listNames("import");
  const inline = [...text.matchAll(IN_FILE)].map(([, , name]) => name);
  const missing = [...imports, ...listNames("export"), ...inline].filter((name) => !exported.has(name));
  if (missing.length > 0)
    throw new Error(`${file} needs ${missing.join(", ")}, which src/client/index.ts does not export`);
  const head =
    imports.length === 0 ? "" : `import type { ${imports.sort().join(", ")} } from "./${LIBRARY}.js";\n`;
  const ownText = text.replaceAll(FROM_FILE, (_, keyword, what) =>
    keyword === "export" ? `export ${what} from "./${LIBRARY}.js";\n` : "",
  );
  return `${head}${ownText.replaceAll(IN_FILE, `import("./${LIBRARY}.js").$2`)}`;
}
