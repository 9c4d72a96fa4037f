import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCommand } from "../support/run-understudy.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "worker-file-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("worker-file writes the service worker, replaces an existing one only with --force, and can be repeated [interfaces 17]", async () => {
  const file = join(folder, "public", "understudy-worker.js");
  const run = (...more: string[]) => runCommand(["worker-file", join(folder, "public"), ...more]);
  expect(await run()).toMatchObject({ code: 0, stdout: `Wrote ${file}.\n` });
  expect(readFileSync(file, "utf8")).toContain("understudy:who");
  expect(await run()).toMatchObject({ code: 0 });
  writeFileSync(file, "mine");
  expect(await run()).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("add --force to replace it"),
  });
  expect(readFileSync(file, "utf8")).toBe("mine");
  expect(await run("--force")).toMatchObject({ code: 0 });
  expect(readFileSync(file, "utf8")).toContain("understudy:who");
});

it("worker-file also writes the console [interfaces 17]", async () => {
  expect(await runCommand(["worker-file", folder, "--console"])).toMatchObject({ code: 0 });
  const page = readFileSync(join(folder, "_console", "index.html"), "utf8");
  const assets = [...page.matchAll(/(?:src|href)="\/(_console\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  expect(assets.length).toBeGreaterThan(2);
  for (const path of assets) expect(existsSync(join(folder, path)), path).toBe(true);
});
