import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { syncFolder } from "../../src/hosts/node/storage/folders.ts";
import { createTempFolder, startCommand, startServer } from "../support/run-understudy.ts";

/* Processes that take themselves for processes of Windows. The rest was tried with Windows' Node under Wine. */

const AS_WINDOWS = 'Object.defineProperty(process, "platform", { value: "win32" });';

/** @returns a folder with an environment whose Node processes say that they run on Windows */
function placeWindows() {
  const cwd = createTempFolder();
  const preload = join(cwd, "as-windows.mjs");
  writeFileSync(preload, AS_WINDOWS);
  return { cwd, env: { NODE_OPTIONS: `--import=${preload}`, TEMP: cwd } };
}

/** A script without a first line that names its shell, as Windows has no such lines. */
function placeProgram(folder: string, name: string, script: string): string {
  const file = join(folder, name);
  writeFileSync(file, `${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

it("a suite ends a command that takes too long, and what it started, on Windows [interfaces 2]", async () => {
  const { cwd, env } = placeWindows();
  const program = placeProgram(cwd, "endless.exe", "exec /bin/sleep 600");
  // The program is looked up with an extension, and run without one.
  for (const name of ["taskkill", "taskkill.EXE"])
    placeProgram(cwd, name, 'echo "$@" > taskkill.txt; kill -9 "$2"');
  writeFileSync(join(cwd, "calm.yaml"), "name: calm\nrules: []\n");
  const { code, stdout } = await startCommand(["suite", "calm.yaml", "--timeout", "1", "--", program], {
    cwd,
    env: { ...env, PATH: cwd },
  }).finished;
  expect([code, stdout]).toEqual([1, expect.stringContaining("the command did not end within 1 s")]);
  expect(readFileSync(join(cwd, "taskkill.txt"), "utf8")).toMatch(/^\/pid \d+ \/t \/f\n$/);
});

it("the start prints a call that the shells of Windows understand [interfaces 2]", async () => {
  const server = await startServer([], placeWindows());
  await server.stop();
  expect(server.output().stdout).toMatch(/curl -s -H "api-key: ak_\w+" http:/);
});

it("folders, which Windows cannot sync, are not synced there [interfaces 2]", async () => {
  const folder = join(createTempFolder(), "missing");
  await expect(syncFolder(folder)).rejects.toThrow("ENOENT");
  const original = process.platform;
  onTestFinished(() => void Object.defineProperty(process, "platform", { value: original }));
  Object.defineProperty(process, "platform", { value: "win32" });
  await expect(syncFolder(folder)).resolves.toBeUndefined();
});
