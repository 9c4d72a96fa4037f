import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
afterAll(removeTempFolders);

it("a clone without installed packages makes no package, and says what to do [interfaces 16]", () => {
  const folder = createTempFolder();
  mkdirSync(join(folder, "scripts"));
  for (const file of ["package.json", "scripts/prepack.mjs", "bin"])
    cpSync(join(ROOT, file), join(folder, file), { recursive: true });
  const { status, stderr } = spawnSync("npm", ["pack"], { cwd: folder, encoding: "utf8" });
  expect([status === 0, readdirSync(folder).filter((name) => name.endsWith(".tgz"))]).toEqual([false, []]);
  expect(stderr).toContain("understudy-sandbox cannot be packed yet: run `npm ci` in this folder first.\n");
});
