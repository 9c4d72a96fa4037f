import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { removeScratch, scratch } from "../support/run-understudy.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
afterAll(removeScratch);

function tsc(cwd: string, ...args: string[]): string {
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  const { stdout, status } = spawnSync(process.execPath, [compiler, ...args], { cwd, encoding: "utf8" });
  return status === 0 ? "" : stdout;
}

/** A user's project that has the package among its modules, declarations as the build writes them. */
function project(): string {
  const folder = scratch();
  const installed = join(folder, "node_modules/understudy");
  mkdirSync(installed, { recursive: true });
  cpSync(join(ROOT, "package.json"), join(installed, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(installed, "node_modules"));
  expect(tsc(ROOT, "-p", "tsconfig.types.json", "--outDir", join(installed, "dist/types"))).toBe("");
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  return folder;
}

const CODE = `
import { type ClockState, ControlError, connect, createUnderstudy, type JournalEntry } from "understudy";

const client = connect("http://127.0.0.1:4747");
const sandbox = await client.sandbox({ clock: { mode: "frozen" }, settings: { preview: "on" } });
const rule = await sandbox.faults.add({ match: { operation: "threads.delete" }, effect: { wire: "reset" } });
const { entries } = await sandbox.journal.list({ status: "4xx" });
const shown: [number, ClockState, JournalEntry | undefined] = [rule.hits, await sandbox.clock.show(), entries[0]];
// @ts-expect-error a misspelt field
sandbox.clock.show().then(({ modus }) => modus);
const { title } = await sandbox.state("threads").create({ owner_id: "usr_dan" });
// @ts-expect-error a misspelt collection
sandbox.state("threds");
// @ts-expect-error a misspelt option
await createUnderstudy({ fixtures: "reference" });
export const hint = (error: unknown) => (error instanceof ControlError ? error.problem.hint : [...shown, title].length);
`;

describe("interfaces 8 the package's declarations", () => {
  it("interfaces 8 compile in a user's project, however modules are resolved", { timeout: 300_000 }, () => {
    const folder = project();
    writeFileSync(join(folder, "uses.ts"), CODE);
    for (const [module, moduleResolution] of [
      ["nodenext", "nodenext"],
      ["esnext", "bundler"],
    ]) {
      // Declarations that do not hold together would show here alone.
      const compilerOptions = {
        module,
        moduleResolution,
        target: "es2023",
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        types: [],
      };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["uses.ts"] }));
      expect(tsc(folder, "-p", "."), moduleResolution).toBe("");
    }
  });
});
