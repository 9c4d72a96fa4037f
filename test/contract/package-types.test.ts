import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeScratch, scratch } from "../support/run-understudy.ts";
import { MISSPELT, MISSPELT_IN_RUNNERS, RIGHT, RIGHT_IN_RUNNERS } from "../support/type-uses.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const { exports }: { exports: Record<string, string | { types: string }> } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);
const COMPILERS = { "5.9": "typescript-5/bin/tsc", "7": "typescript/bin/tsc" };
let folder: string;

beforeAll(() => {
  folder = scratch();
  const installed = join(folder, "node_modules/understudy");
  mkdirSync(installed, { recursive: true });
  cpSync(join(ROOT, "package.json"), join(installed, "package.json"));
  cpSync(join(ROOT, "dist/types"), join(installed, "dist/types"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
});
afterAll(removeScratch);

/** What a user's compiler says of a file, `skipLibCheck` off: declarations that do not hold together show too. */
function compiled(
  code: string,
  compiler: string,
  moduleResolution: "nodenext" | "bundler",
  skipLibCheck = false,
): string {
  writeFileSync(join(folder, "uses.ts"), code);
  const compilerOptions = {
    module: moduleResolution === "nodenext" ? "nodenext" : "esnext",
    moduleResolution,
    target: "es2023",
    strict: true,
    noEmit: true,
    skipLibCheck,
    types: [],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["uses.ts"] }));
  const args = [join(ROOT, "node_modules", compiler), "-p", "."];
  const { stdout, status } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  return status === 0 ? "" : stdout;
}

const HEAD = `import { connect, createUnderstudy, gradeReceiver, type SandboxClient, testSandboxes } from "understudy";
declare module "understudy" {
  interface OwnScenarios { "lost-answer": true }
  interface OwnFixtures { shop: true }
}
const client = connect("http://127.0.0.1:4747");
declare const sandbox: SandboxClient;
`;

describe("interfaces 13 the package's declarations", () => {
  it.each(Object.entries(COMPILERS))("interfaces 13 TypeScript %s compiles every right use", (_name, tsc) => {
    expect(RIGHT.length).toBeGreaterThanOrEqual(40);
    const code = `${HEAD}${RIGHT.map((line) => `${line};`).join("\n")}\nexport {};`;
    expect(compiled(code, tsc, "nodenext")).toBe("");
    expect(compiled(code, tsc, "bundler")).toBe("");
  });

  it.each(Object.entries(COMPILERS))("interfaces 13 TypeScript %s refuses each misspelling", (_name, tsc) => {
    expect(MISSPELT.length).toBeGreaterThanOrEqual(40);
    // An expectation that is not met is an error itself, so each of them is refused where nothing is said.
    const code = `${HEAD}${MISSPELT.map((line) => `// @ts-expect-error\n${line};`).join("\n")}\nexport {};`;
    expect(compiled(code, tsc, "nodenext")).toBe("");
  });

  it.each(Object.entries(COMPILERS))(
    "interfaces 13 TypeScript %s knows the runner fixtures",
    (_name, tsc) => {
      for (const runner of ["vitest", "@playwright", "msw", "vite"]) {
        const link = join(folder, "node_modules", runner);
        if (!existsSync(link)) symlinkSync(join(ROOT, "node_modules", runner), link);
      }
      const head = `import { test as vitest, expect as expectV, type TestOptions } from "understudy/vitest";
import { test as playwright, expect as expectP } from "understudy/playwright";
import { handlersFor } from "understudy/msw";
import understudyPlugin from "understudy/vite";
import type { SandboxClient } from "understudy";
declare const sandbox: SandboxClient;
`;
      const right = `${head}${RIGHT_IN_RUNNERS.map((line) => `${line};`).join("\n")}`;
      // Their declarations are not ours to check.
      expect(compiled(right, tsc, "nodenext", true)).toBe("");
      const wrong = MISSPELT_IN_RUNNERS.map((line) => `// @ts-expect-error\n${line};`).join("\n");
      expect(compiled(head + wrong, tsc, "nodenext", true)).toBe("");
    },
  );

  it("interfaces 13 decision 11 are one file per entry, and need no package of the server's own", () => {
    const types = join(folder, "node_modules/understudy/dist/types");
    const entries = Object.values(exports).flatMap((entry) =>
      typeof entry === "object" ? [entry.types] : [],
    );
    const files = readdirSync(types).map((name) => `./dist/types/${name}`);
    expect(files.sort()).toEqual(entries.sort());
    const named = readdirSync(types).flatMap((name) => {
      const text = readFileSync(join(types, name), "utf8");
      return [...text.matchAll(/(?:from |import\()"([^"]*)"/g)].map(([, from]) => from!);
    });
    const runners = ["@playwright/test", "msw", "vite", "vitest"];
    expect([...new Set(named)].sort()).toEqual(["./index.js", ...runners]);
  });
});
