// Builds the console (src/console) into dist/console. Large files also get a Brotli version, for remote servers.

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));
const sources = join(root, "src", "console");
const out = join(root, "dist", "console");

/** `ifStale`: builds only if the sources are newer than the last build. */
export async function buildConsole({ ifStale }) {
  if (ifStale && (await isFresh())) return;
  // Loaded on demand, since a fresh build does not need it.
  const { build } = await import("vite");
  // The package ships React's production build, whatever the shell's NODE_ENV is.
  process.env.NODE_ENV = "production";
  await build({ configFile: join(sources, "vite.config.ts"), logLevel: "warn" });
  compress(join(out, "assets"));
  writeFileSync(join(out, "built"), "");
}

async function isFresh() {
  const built = statSync(join(out, "built"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (built < statSync(join(root, "package.json")).mtimeMs) return false;
  for (const entry of await readdir(sources, { recursive: true, withFileTypes: true })) {
    if (statSync(join(entry.parentPath, entry.name)).mtimeMs > built) return false;
  }
  return true;
}

/** A smaller file has no compressed version, which would make the package larger for little. */
const MIN_COMPRESSED_BYTES = 20 * 1024;

function compress(folder) {
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name));
    if (text.length < MIN_COMPRESSED_BYTES) continue;
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text, { params }));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildConsole({ ifStale: process.argv.includes("--if-stale") });
}
