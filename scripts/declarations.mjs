// Writes the declarations that the package ships.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const ENTRIES = ["client/index", "client/vitest", "client/playwright", "client/msw", "client/vite"];

/** @returns {number} the compiler's exit code */
export function writeDeclarations(folder) {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const args = [compiler, "-p", "tsconfig.types.json", "--outDir", folder];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (status === 0) keepReachable(folder);
  return status ?? 1;
}

/**
 * The compiler writes declarations of all that it has read, the server's included; a user's compiler reads what
 * the library's own lead to.
 */
function keepReachable(folder) {
  const kept = new Set();
  const follow = (file) => {
    if (kept.has(file)) return;
    kept.add(file);
    const text = readFileSync(file, "utf8");
    for (const [, target] of text.matchAll(/(?:from|import\()\s*"(\.[^"]+)\.[jt]s"/g))
      follow(join(file, "..", `${target}.d.ts`));
  };
  for (const entry of ENTRIES) follow(join(folder, `${entry}.d.ts`));
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !kept.has(file)) rmSync(file);
  }
}
