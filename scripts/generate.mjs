// Writes the files that are generated from the declarations (generate/files.ts lists them). With --check it writes none, and
// lists those that are out of date.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { writeClientTypes } from "./client-types.mjs";

const toPath = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** Imports a TypeScript file, which Node 20 cannot. */
async function importTypeScript(input) {
  const file = toPath("node_modules/.cache/understudy/generate.js");
  const bundle = await rolldown({
    input,
    platform: "node",
    external: (id) => !id.startsWith(".") && !isAbsolute(id),
    logLevel: "warn",
  });
  await bundle.write({ file, codeSplitting: false });
  await bundle.close();
  return import(pathToFileURL(file).href);
}

const { clientSchemas, generateFiles } = await importTypeScript(toPath("scripts/generate/files.ts"));

const getPageUrl = (name) => new URL(`../docs/${name}`, import.meta.url);
const files = Object.entries(await generateFiles((name) => readFileSync(getPageUrl(name), "utf8"))).map(
  ([name, text]) => [`docs/${name}`, text],
);
files.push(["types/control-api.ts", await writeClientTypes(clientSchemas)]);
let outdatedCount = 0;
for (const [name, text] of files) {
  const path = new URL(`../${name}`, import.meta.url);
  if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
  if (process.argv.includes("--check")) {
    process.stderr.write(`${name} is out of date; run \`npm run generate\`\n`);
    outdatedCount += 1;
  } else writeFileSync(path, text);
}
if (process.argv.includes("--check")) process.exit(outdatedCount === 0 ? 0 : 1);
// The declarations of the package contain the generated types.
const { status } = spawnSync(process.execPath, [toPath("scripts/build.mjs"), "--if-stale"], {
  stdio: "inherit",
});
process.exit(status ?? 1);
