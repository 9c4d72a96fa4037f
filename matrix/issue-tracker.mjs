// Generates a client of docs/examples/issue-tracker/openapi.yaml and makes sixty calls to a server that has only the
// document:
//   node matrix/issue-tracker.mjs
import { execFile, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { COMPILE, GENERATORS } from "./generators.mjs";

const run = promisify(execFile);
const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "..");
const document = join(root, "docs/examples/issue-tracker/openapi.yaml");
const KEY = "ak_danMemberAcme00000000000000000000000000";

// In this folder, so that imports of the generated files are found.
const out = mkdtempSync(join(here, "out-"));
const ready = join(out, "ready.json");
const options = ["--port", "0", "--quiet", "--openapi", document, "--ready-file", ready];
const server = spawn(process.execPath, [join(root, "bin/understudy.js"), "start", ...options], {
  stdio: "inherit",
});
try {
  await GENERATORS["hey-api"](document, out);
  for (const file of ["issue-tracker-calls.ts", "issue-tracker-main.ts"])
    copyFileSync(join(here, "tests", file), join(out, file));
  const main = join(out, "issue-tracker-main.ts");
  await run(join(here, "node_modules/.bin/tsc"), [
    ...COMPILE,
    "--typeRoots",
    join(root, "node_modules/@types"),
    "--types",
    "node",
    main,
  ]);
  const bundle = join(out, "main.mjs");
  await run(join(root, "node_modules/.bin/rolldown"), [
    main,
    "--file",
    bundle,
    "--platform",
    "node",
    "--format",
    "esm",
  ]);
  while (!existsSync(ready) || readFileSync(ready, "utf8") === "") await setTimeout(50);
  const { stdout } = await run(process.execPath, [bundle, JSON.parse(readFileSync(ready, "utf8")).url, KEY]);
  console.log(`ok    hey-api, issue tracker (${stdout.trim()})`);
} catch (error) {
  console.log(`FAIL  hey-api, issue tracker\n${error.stdout ?? ""}${error.stderr ?? error}`);
  process.exitCode = 1;
} finally {
  server.kill();
  rmSync(out, { recursive: true, force: true });
}
