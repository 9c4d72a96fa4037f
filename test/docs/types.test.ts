import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { fileOf } from "../support/docs/page-script.ts";
import { blocks, pages, ROOT } from "../support/docs/pages.ts";
import { removeScratch, scratch } from "../support/run-understudy.ts";

afterAll(removeScratch);

it("every TypeScript example in the docs compiles strictly against the package [interfaces 13]", () => {
  const folder = scratch();
  const installed = join(folder, "node_modules/understudy-sandbox");
  mkdirSync(installed, { recursive: true });
  cpSync(join(ROOT, "package.json"), join(installed, "package.json"));
  cpSync(join(ROOT, "dist/types"), join(installed, "dist/types"), { recursive: true });
  for (const name of ["vitest", "@playwright", "vite", "msw", "@types"]) {
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  }
  const shown = pages()
    .flatMap(blocks)
    .filter(({ kind }) => kind === "ts");
  expect(shown.length).toBeGreaterThan(10);
  const files = shown.map((block, index) => {
    // Each page in a folder of its own, as a reader has its files: two pages may call one the same.
    const name = join(block.page.replaceAll("/", "-"), fileOf(block) ?? `example-${index}.ts`);
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
