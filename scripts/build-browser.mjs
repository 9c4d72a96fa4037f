// Builds what runs in a page: the entries `understudy-sandbox/browser`, `/engine`, `/panel` and `/storybook`, with the engine in chunks that it loads, and the
// service worker's file.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { base, en } from "@faker-js/faker";
import { rolldown } from "rolldown";
import { parse } from "yaml";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The modules that read only shipped files in a page. */
const READS_SHIPPED = /\/(engine\/faults\/scenario|documents\/read-fixture)\.ts$/;

/**
 * Substitutes for what a page lacks, and for the YAML reader, which is loaded with the control API; every other import of
 * Node's modules fails the build.
 */
const SUBSTITUTES = [
  [/\/documents\/node-files\.ts$/, join(root, "src/documents/web-files.ts")],
  [/^node:(http|zlib)$/, join(root, "src/hosts/fetch/node-substitutes.ts")],
  [/\/tools\/grader\/run-grading\.ts$/, join(root, "src/hosts/fetch/no-grader.ts")],
  [/\/read-document\.ts$/, join(root, "src/documents/web-read-document.ts"), READS_SHIPPED],
];
const SHIPPED = "virtual:shipped-files";
const ALL_CHUNKS = "virtual:all-chunks";
const ENGLISH = "@faker-js/faker/locale/en";

/** The lists of faker's English that `src/engine/contract/invent.ts` uses; all of it takes 120 KB more. */
export const INVENTED = {
  person: "first_name last_name last_name_pattern name prefix suffix job_area job_type".split(" "),
  company: "name_pattern legal_entity_type buzz_adjective buzz_noun buzz_verb".split(" "),
};

/** Only these lists of a locale. */
export function pickInvented(locale) {
  return Object.fromEntries(
    Object.entries(INVENTED).map(([name, lists]) => [
      name,
      Object.fromEntries(lists.flatMap((list) => (locale[name]?.[list] ? [[list, locale[name][list]]] : []))),
    ]),
  );
}

const forBrowsers = {
  name: "for-browsers",
  async resolveId(source, importer) {
    if (source === SHIPPED || source === ENGLISH) return `\0${source}`;
    if (source === ALL_CHUNKS) return { id: "./all-chunks.js", external: true };
    const found = await this.resolve(source, importer, { skipSelf: true });
    const substitute = SUBSTITUTES.find(
      ([pattern, , from = /^/]) => pattern.test(found?.id ?? source) && from.test(importer),
    );
    if (substitute !== undefined) return substitute[1];
    if (source.startsWith("node:")) throw new Error(`${importer} imports ${source}, which a page lacks`);
    return null;
  },
  load(id) {
    if (id === `\0${SHIPPED}`) return `export default ${JSON.stringify(shippedFiles())};`;
    if (id === `\0${ENGLISH}`) {
      return `import { Faker } from "@faker-js/faker";
        export const faker = new Faker({ locale: ${JSON.stringify([en, base].map(pickInvented))} });`;
    }
    return null;
  },
};

/** By paths such as `/fixtures/reference.yaml`; scenarios as JSON, which a page reads without a YAML reader. */
function shippedFiles() {
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
let ofEntries;
let ofEngine;

/** Whether the engine needs this module at its start, and no entry has it: those are one file, 20 KB smaller than thirty. */
function isOfEngine(id, build) {
  ofEntries ??= reach(Object.values(ENTRIES), build);
  ofEngine ??= reach(["src/browser.ts"], build);
  return ofEngine.has(id) && !ofEntries.has(id);
}

/** These files and the modules that they import without `import()`. */
export function reach(files, build) {
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
    plugins: [forBrowsers],
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
      groups: [{ debugName: "engine", name: (id, build) => (isOfEngine(id, build) ? "browser" : null) }],
    },
  });
  const later = new Set(files.flatMap(({ dynamicImports = [] }) => dynamicImports));
  const chunks = files.filter(({ fileName }) => later.has(fileName));
  writeFileSync(
    join(out, "all-chunks.js"),
    chunks.map(({ fileName }) => `import("./${fileName}");\n`).join(""),
  );
  await build(
    { "understudy-worker": "src/client/understudy-worker.ts" },
    { format: "iife", entryFileNames: "[name].js" },
    { transform: { define: { __UNDERSTUDY_VERSION__: JSON.stringify(version) } } },
  );
}
