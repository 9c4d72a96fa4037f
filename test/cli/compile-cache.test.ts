import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

it("compiled code is cached next to the packages, if Node supports it [quality 1]", () => {
  const bin = join(ROOT, "bin/understudy.js");
  const { stdout } = spawnSync(process.execPath, [bin, "--version"], {
    env: { PATH: process.env["PATH"] },
    encoding: "utf8",
  });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const folder = join(ROOT, "node_modules/.cache/understudy");
  const stored = existsSync(folder) ? readdirSync(folder) : [];
  const ofThisNode = stored.filter((name) => name.startsWith(`${process.version}-`));
  // Node 20 does not support it.
  expect(ofThisNode.length > 0).toBe("enableCompileCache" in module);
});
