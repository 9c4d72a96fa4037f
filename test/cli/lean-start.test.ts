import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type Running, removeScratch, scratch, startCommand } from "../support/run-understudy.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LOADED = join(ROOT, "test/support/lean-start/say-what-is-loaded.cjs");

const running: Running[] = [];
afterAll(() => {
  for (const { child } of running) child.kill("SIGKILL");
  removeScratch();
});

it("quality 1: an idle server has loaded neither Node's fetch nor its tables of languages", async () => {
  const env = { NODE_OPTIONS: `--require="${LOADED}"` };
  const server = startCommand(["start", "--port", "0"], { cwd: scratch(), env });
  running.push(server);
  await eventually(() => expect(server.output().stderr).toContain("loaded: []"));
});

it("quality 1: V8 can hold each file of the build in one byte a letter, and none imports node:http", () => {
  const files = readdirSync(join(ROOT, "dist"), { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".js") && !name.startsWith("console"),
  );
  expect(files).toContain("understudy.js");
  for (const name of files) {
    const text = readFileSync(join(ROOT, "dist", name), "utf8");
    expect.soft(text.match(/[^\0-\x7f].*/)?.[0], name).toBeUndefined();
    expect.soft(text.match(/.*from "(?:node:)?http"/)?.[0], name).toBeUndefined();
  }
});

it("quality 1: what V8 has compiled is kept beside the packages, where Node can keep it", () => {
  const bin = join(ROOT, "bin/understudy.js");
  const { stdout } = spawnSync(process.execPath, [bin, "--version"], {
    env: { PATH: process.env["PATH"] },
    encoding: "utf8",
  });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const folder = join(ROOT, "node_modules/.cache/understudy");
  const kept = existsSync(folder) ? readdirSync(folder) : [];
  const ofThisNode = kept.filter((name) => name.startsWith(`${process.version}-`));
  // Node 20 cannot.
  expect(ofThisNode.length > 0).toBe("enableCompileCache" in module);
});
