#!/usr/bin/env node
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const main = new URL("../dist/cli/main.js", import.meta.url);
if (!existsSync(main)) {
  process.stderr.write("understudy is not built yet: run `npm ci` or `npm run build` in its folder first.\n");
  process.exit(2);
}
// From Node 22.1 on, V8's compiled code is cached for the next run, which saves a quarter of the start. The cache is
// beside the code, so that only users who may change the code may change the cache; if no one may, there is none.
const [, modules = "../node_modules"] = /^(.*\/node_modules)\//s.exec(import.meta.url) ?? [];
module.enableCompileCache?.(fileURLToPath(new URL(`${modules}/.cache/understudy`, import.meta.url)));
await import(main.href);
