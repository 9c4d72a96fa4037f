// Bundles the server, the command and the library into dist/. Own code only: packages stay in
// node_modules, where npm audits and updates them. Bundling is what keeps the cold start low: one file to
// read instead of some hundred.

import { spawnSync } from "node:child_process";
import { rmSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "dist");

async function newest(folder) {
  let latest = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) latest = Math.max(latest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
  }
  return latest;
}

function builtAt() {
  return statSync(join(out, "built"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

const stale =
  !process.argv.includes("--if-stale") ||
  builtAt() < Math.max(await newest(join(root, "src")), statSync(join(root, "package.json")).mtimeMs);

if (stale) {
  rmSync(out, { recursive: true, force: true });
  const bundle = await rolldown({
    cwd: root,
    input: {
      "cli/main": "src/cli/main.ts",
      understudy: "src/understudy.ts",
      generated: "src/generated.ts",
      "client/index": "src/client/index.ts",
      "client/vitest": "src/client/vitest.ts",
      "client/playwright": "src/client/playwright.ts",
    },
    platform: "node",
    external: (id) => !id.startsWith(".") && !id.startsWith("/") && !id.startsWith("src/"),
    logLevel: "warn",
  });
  await bundle.write({
    dir: out,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
  });
  await bundle.close();
  if (!process.argv.includes("--no-types")) {
    const { status } = spawnSync(
      process.execPath,
      [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.types.json"],
      { cwd: root, stdio: "inherit" },
    );
    if (status !== 0) process.exit(status ?? 1);
  }
  const { writeFileSync } = await import("node:fs");
  writeFileSync(join(out, "built"), "");
}
