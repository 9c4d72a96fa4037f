import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { findFileName } from "../support/docs/page-script.ts";
import { findBlocks, listPages, ROOT } from "../support/docs/pages.ts";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";

afterAll(removeTempFolders);

it("every TypeScript example in the docs compiles strictly against the package [interfaces 13]", () => {
  const folder = createTempFolder();
  const installed = join(folder, "node_modules/understudy-sandbox");
  mkdirSync(installed, { recursive: true });
  cpSync(join(ROOT, "package.json"), join(installed, "package.json"));
  cpSync(join(ROOT, "dist/types"), join(installed, "dist/types"), { recursive: true });
  for (const name of ["vitest", "@playwright", "vite", "msw", "@types"]) {
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  }
  const shown = listPages()
    .flatMap(findBlocks)
    .filter(({ kind }) => kind === "ts");
  expect(shown.length).toBeGreaterThan(10);
  const files = shown.map((block, index) => {
    // Each page has its own folder, since two pages may use the same file name.
    const name = join(block.page.replaceAll("/", "-"), findFileName(block) ?? `example-${index}.ts`);
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), `// ${block.page}\n${block.code}\nexport {};\n`);
    return name;
  });
  const compilerOptions = {
    ...{ module: "esnext", moduleResolution: "bundler", target: "es2023", strict: true, noEmit: true },
    ...{ noUncheckedIndexedAccess: true, skipLibCheck: true, types: ["node"] },
    lib: ["es2023", "dom", "dom.iterable"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [compiler, "-p", "."], { cwd: folder, encoding: "utf8" });
  expect(stdout).toBe("");
});
