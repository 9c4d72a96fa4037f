#!/usr/bin/env node
import { existsSync } from "node:fs";

const main = new URL("../dist/cli/main.js", import.meta.url);
if (!existsSync(main)) {
  process.stderr.write("understudy is not built yet: run `npm ci` or `npm run build` in its folder first.\n");
  process.exit(2);
}
await import(main.href);
