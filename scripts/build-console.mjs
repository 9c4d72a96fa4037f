// Builds the console (src/console) into dist/console: hashed files that nothing but a browser reads. Beside each
// large one lies the same compressed once and for all, for the console of a server that is far away.

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));
const sources = join(root, "src", "console");
const out = join(root, "dist", "console");

/** Builds it unless the last build is newer than its sources. */
export async function buildConsole({ ifStale }) {
  if (ifStale && (await isFresh())) return;
  // Loaded here: whoever starts a server that is built does not wait for it.
  const { build } = await import("vite");
  // Whatever the shell says: what is shipped has no checks for developers in it.
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

/** Smaller files are sent as they are: a few packets, and the package has few files. */
const WORTH_COMPRESSING_BYTES = 20 * 1024;

function compress(folder) {
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name));
    if (text.length < WORTH_COMPRESSING_BYTES) continue;
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text, { params }));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildConsole({ ifStale: process.argv.includes("--if-stale") });
}
