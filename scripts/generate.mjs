// Writes the files under docs/ that follow from the declarations (generate/files.ts lists them), or with --check says which
// of them no longer says what is true.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { clientTypes } from "./client-types.mjs";

const place = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** Node 20 runs no TypeScript. */
async function load(input) {
  const file = place("node_modules/.cache/understudy/generate.js");
  const bundle = await rolldown({
    input,
    platform: "node",
    external: (id) => /^[^./]/.test(id),
    logLevel: "warn",
  });
  await bundle.write({ file, codeSplitting: false });
  await bundle.close();
  return import(pathToFileURL(file).href);
}

const { clientSchemas, generateFiles } = await load(place("scripts/generate/files.ts"));

const docs = (name) => new URL(`../docs/${name}`, import.meta.url);
const files = Object.entries(await generateFiles((name) => readFileSync(docs(name), "utf8"))).map(
  ([name, text]) => [`docs/${name}`, text],
);
files.push(["types/control-api.ts", await clientTypes(clientSchemas)]);
let drifted = 0;
for (const [name, text] of files) {
  const path = new URL(`../${name}`, import.meta.url);
  if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
  if (process.argv.includes("--check")) {
    process.stderr.write(`${name} is not what the declarations say; run \`npm run generate\`\n`);
    drifted += 1;
  } else writeFileSync(path, text);
}
if (process.argv.includes("--check")) process.exit(drifted === 0 ? 0 : 1);
// The types are made of what is generated here.
const { status } = spawnSync(process.execPath, [place("scripts/build.mjs"), "--if-stale"], {
  stdio: "inherit",
});
process.exit(status ?? 1);
