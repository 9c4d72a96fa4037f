// Writes the files under docs/ that follow from the declarations (src/generated.ts lists them), or with --check
// says which of them no longer says what is true.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { clientTypes } from "./client-types.mjs";

const build = spawnSync(
  process.execPath,
  [fileURLToPath(new URL("./build.mjs", import.meta.url)), "--if-stale", "--no-types"],
  {
    stdio: "inherit",
  },
);
if (build.status !== 0) process.exit(build.status ?? 1);
const { clientSchemas, generatedFiles } = await import("../dist/generated.js");

const docs = (name) => new URL(`../docs/${name}`, import.meta.url);
const files = Object.entries(await generatedFiles((name) => readFileSync(docs(name), "utf8"))).map(
  ([name, text]) => [`docs/${name}`, text],
);
files.push(["src/control/api-types.ts", await clientTypes(clientSchemas)]);
let drifted = 0;
for (const [name, text] of files) {
  const path = new URL(`../${name}`, import.meta.url);
  if (process.argv.includes("--check")) {
    if (!existsSync(path) || readFileSync(path, "utf8") !== text) {
      process.stderr.write(`${name} is not what the declarations say; run \`npm run generate\`\n`);
      drifted += 1;
    }
  } else writeFileSync(path, text);
}
process.exit(drifted === 0 ? 0 : 1);
