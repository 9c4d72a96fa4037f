// Builds the entries that run in a page, such as `understudy-sandbox/browser` and `/panel`, with the engine in chunks that
// they load, and the service worker's file.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { base, en } from "@faker-js/faker";
import { rolldown } from "rolldown";
import { parse } from "yaml";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Writes a path with slashes, as the patterns below expect it, also on Windows. */
export const withSlashes = (path) => path.replaceAll("\\", "/");

/** Modules that read only shipped files in a page. */
const SHIPPED_READERS = /\/(engine\/faults\/scenario|documents\/read-fixture)\.ts$/;

/**
 * Modules that a page cannot run or need not load, with their substitutes and, if restricted, the importers. The YAML
 * reader is loaded with the control API only. Other imports of Node's modules fail the build.
 */
const SUBSTITUTES = [
  [/\/documents\/node-files\.ts$/, join(root, "src/documents/web-files.ts")],
  [/^node:(http|zlib)$/, join(root, "src/hosts/fetch/node-substitutes.ts")],
  [/\/tools\/grader\/run-grading\.ts$/, join(root, "src/hosts/fetch/no-grader.ts")],
  [/\/read-document\.ts$/, join(root, "src/documents/web-read-document.ts"), SHIPPED_READERS],
];

/** The file that a page gets in place of a module; undefined if it gets the module itself. */
export function findSubstitute(id, importer = "") {
  const [path, importerPath] = [id, importer].map(withSlashes);
  return SUBSTITUTES.find(
    ([pattern, , importers = /^/]) => pattern.test(path) && importers.test(importerPath),
  )?.[1];
}

const SHIPPED = "virtual:shipped-files";
const ALL_CHUNKS = "virtual:all-chunks";
const ENGLISH = "@faker-js/faker/locale/en";

/** The lists of faker's English that `src/engine/contract/invent.ts` uses; the whole locale takes 120 KB more. */
const USED_LISTS = {
  person: "first_name last_name last_name_pattern name prefix suffix job_area job_type".split(" "),
  company: "name_pattern legal_entity_type buzz_adjective buzz_noun buzz_verb".split(" "),
};

/** A locale with those lists alone. */
export function pickUsedLists(locale) {
  return Object.fromEntries(
    Object.entries(USED_LISTS).map(([name, lists]) => [
      name,
      Object.fromEntries(lists.flatMap((list) => (locale[name]?.[list] ? [[list, locale[name][list]]] : []))),
    ]),
  );
}

const substitutePlugin = {
  name: "substitutes",
  async resolveId(source, importer) {
    if (source === SHIPPED || source === ENGLISH) return `\0${source}`;
    if (source === ALL_CHUNKS) return { id: "./all-chunks.js", external: true };
    const resolved = await this.resolve(source, importer, { skipSelf: true });
    const substitute = findSubstitute(resolved?.id ?? source, importer);
    if (substitute !== undefined) return substitute;
    if (source.startsWith("node:")) throw new Error(`${importer} imports ${source}, which a page lacks`);
    return null;
  },
  load(id) {
    if (id === `\0${SHIPPED}`) return `export default ${JSON.stringify(readShippedFiles())};`;
    if (id === `\0${ENGLISH}`) {
      return `import { Faker } from "@faker-js/faker";
        export const faker = new Faker({ locale: ${JSON.stringify([en, base].map(pickUsedLists))} });`;
    }
    return null;
  },
};

/** By paths such as `/fixtures/reference.yaml`; scenarios as JSON, which a page reads without a YAML reader. */
function readShippedFiles() {
  const files = {};
  for (const folder of ["fixtures", "scenarios"]) {
    for (const name of readdirSync(join(root, folder)).filter((one) => one.endsWith(".yaml"))) {
      const text = readFileSync(join(root, folder, name), "utf8");
      files[`/${folder}/${name}`] = folder === "scenarios" ? JSON.stringify(parse(text)) : text;
    }
  }
  files["/dist/fixtures.json"] = readFileSync(join(root, "dist/fixtures.json"), "utf8");
  return files;
}

const ENTRIES = {
  index: "src/client/browser.ts",
  engine: "src/client/engine-in-page.ts",
  panel: "src/client/panel.ts",
  viewer: "src/client/viewer.ts",
  storybook: "src/client/storybook.ts",
};
let entryModules;
let engineModules;

/** The modules that the engine's start needs and no entry contains are one file, 20 KB smaller than thirty files. */
function isEngineModule(id, build) {
  entryModules ??= findStaticImports(Object.values(ENTRIES), build);
  engineModules ??= findStaticImports(["src/browser.ts"], build);
  return engineModules.has(id) && !entryModules.has(id);
}

/** Lists these files and the modules that they import statically, at any depth. */
export function findStaticImports(files, build) {
  const found = new Set(files.map((file) => join(root, file)));
  for (const module of found)
    for (const imported of build.getModuleInfo(module)?.importedIds ?? []) found.add(imported);
  return found;
}

const out = join(root, "dist/browser");

async function build(input, output, options = {}) {
  const bundle = await rolldown({
    cwd: root,
    input,
    platform: "browser",
    plugins: [substitutePlugin],
    logLevel: "silent",
    ...options,
  });
  const written = await bundle.write({ dir: out, minify: true, ...output });
  await bundle.close();
  return written.output;
}

export async function buildBrowser() {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const files = await build(ENTRIES, {
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ debugName: "engine", name: (id, build) => (isEngineModule(id, build) ? "browser" : null) }],
    },
  });
  const loadedOnDemand = new Set(files.flatMap(({ dynamicImports = [] }) => dynamicImports));
  const chunks = files.filter(({ fileName }) => loadedOnDemand.has(fileName));
  writeFileSync(
    join(out, "all-chunks.js"),
    chunks.map(({ fileName }) => `import("./${fileName}").catch(() => {});\n`).join(""),
  );
  await build(
    { "understudy-worker": "src/client/understudy-worker.ts" },
    { format: "iife", entryFileNames: "[name].js" },
    { transform: { define: { __UNDERSTUDY_VERSION__: JSON.stringify(version) } } },
  );
}
