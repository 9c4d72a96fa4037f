// Builds dist/ before `npm pack`, and for a git dependency.
import { existsSync } from "node:fs";

if (!existsSync(new URL("../node_modules/rolldown", import.meta.url))) {
  process.stderr.write("understudy-sandbox cannot be packed yet: run `npm ci` in this folder first.\n");
  process.exit(1);
}
process.argv.push("--if-stale");
await import("./build.mjs");
