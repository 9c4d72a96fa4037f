// Writes the files under docs/ that follow from the declarations (src/control/generated-files.ts lists them), or with --check
// says which of them no longer says what is true.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { clientTypes } from "./client-types.mjs";

function build(...options) {
  const script = fileURLToPath(new URL("./build.mjs", import.meta.url));
  const { status } = spawnSync(process.execPath, [script, "--if-stale", ...options], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

// The types are made of what is generated here.
build("--no-types");
const { clientSchemas, generateFiles } = await import("../dist/generated.js");

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
if (!process.argv.includes("--check")) build();
process.exit(drifted === 0 ? 0 : 1);
