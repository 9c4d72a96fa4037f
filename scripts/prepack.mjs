// Builds what `npm pack` and a git dependency take, so that no package is made without dist/.
import { existsSync } from "node:fs";

if (!existsSync(new URL("../node_modules/rolldown", import.meta.url))) {
  process.stderr.write("understudy-sandbox cannot be packed yet: run `npm ci` in this folder first.\n");
  process.exit(1);
}
process.argv.push("--if-stale");
await import("./build.mjs");
