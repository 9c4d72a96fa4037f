#!/usr/bin/env node
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const main = new URL("../dist/cli/main.js", import.meta.url);
if (!existsSync(main)) {
  process.stderr.write("understudy is not built yet: run `npm ci` or `npm run build` in its folder first.\n");
  process.exit(2);
}
// From Node 22.1 on, what V8 has compiled is kept for the next run: a quarter of the start. It lies with the code that it is made of, since
// whoever may write there may change that too; where nobody may, nothing is kept.
const [, modules = "../node_modules"] = /^(.*\/node_modules)\//s.exec(import.meta.url) ?? [];
module.enableCompileCache?.(fileURLToPath(new URL(`${modules}/.cache/understudy`, import.meta.url)));
await import(main.href);
