import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";
import { MISSPELT, MISSPELT_IN_RUNNERS, RIGHT, RIGHT_IN_RUNNERS } from "../support/type-uses.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const { exports }: { exports: Record<string, string | { types: string }> } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);
const COMPILERS = { "5.9": "typescript-5/bin/tsc", "7": "typescript/bin/tsc" };
let folder: string;

beforeAll(() => {
  folder = createTempFolder();
  const installed = join(folder, "node_modules/understudy-sandbox");
  mkdirSync(installed, { recursive: true });
  cpSync(join(ROOT, "package.json"), join(installed, "package.json"));
  // `npm test` has built these files.
  cpSync(join(ROOT, "dist/types"), join(installed, "dist/types"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const runner of ["vitest", "@playwright", "msw", "vite"])
    symlinkSync(join(ROOT, "node_modules", runner), join(folder, "node_modules", runner));
});
afterAll(removeTempFolders);

const HEAD = `import { connect, createUnderstudy, gradeReceiver, type SandboxClient, testSandboxes } from "understudy-sandbox";
declare module "understudy-sandbox" {
  interface OwnScenarios { "lost-answer": true }
  interface OwnFixtures { shop: true }
  interface OwnUsers { usr_kim: true }
}
const client = connect("http://127.0.0.1:4747");
declare const sandbox: SandboxClient;
`;
const RUNNERS_HEAD = `/// <reference types="understudy-sandbox/vite-client" />
import { credentials } from "virtual:understudy";
import { test as vitest, expect as expectV, type TestOptions } from "understudy-sandbox/vitest";
import { test as playwright, expect as expectP } from "understudy-sandbox/playwright";
import { handlersFor } from "understudy-sandbox/msw";
import understudyPlugin from "understudy-sandbox/vite";
import type { SandboxClient } from "understudy-sandbox";
declare const sandbox: SandboxClient;
`;
const ENTRIES = `import { type StartOptions, start } from "understudy-sandbox/browser";
import { connect, ControlError, type SandboxOptions } from "understudy-sandbox/client";
import { createSandbox } from "understudy-sandbox/engine";
import { understudyRoutes } from "understudy-sandbox/fetch";
import { defineOperation } from "understudy-sandbox/operations";
import { showPanel } from "understudy-sandbox/panel";
import { understudy } from "understudy-sandbox/storybook";
const options: SandboxOptions & StartOptions = { seed: 7 };
connect().sandbox(options).catch((error) => error instanceof ControlError && error.status);
start(options).then(showPanel);
`;
const toModule = (lines: readonly string[]) => `${lines.map((line) => `${line};`).join("\n")}\nexport {};`;
/** A line without an error fails by `@ts-expect-error`, so each line is checked. */
const toRejectedModule = (lines: readonly string[]) =>
  toModule(lines.map((line) => `// @ts-expect-error\n${line}`));

/** User projects: files and compiler options. */
const PROJECTS: Readonly<Record<string, { files: Record<string, string>; compilerOptions: object }>> = {
  node: {
    files: {
      "right.ts": HEAD + toModule(RIGHT),
      "wrong.ts": HEAD + toRejectedModule(MISSPELT),
      "entries.ts":
        ENTRIES + toModule(["createSandbox()", "understudyRoutes()", "defineOperation", "understudy()"]),
    },
    compilerOptions: { module: "nodenext" },
  },
  bundler: {
    files: { "right.ts": HEAD + toModule(RIGHT) },
    compilerOptions: { module: "esnext", moduleResolution: "bundler" },
  },
  runners: {
    files: {
      "right.ts": RUNNERS_HEAD + toModule(RIGHT_IN_RUNNERS),
      "wrong.ts": RUNNERS_HEAD + toRejectedModule(MISSPELT_IN_RUNNERS),
    },
    // These packages' declarations are not checked.
    compilerOptions: { module: "nodenext", skipLibCheck: true },
  },
};

/** `skipLibCheck` is off, so that errors within the declarations show. */
const STRICT = {
  ...{ target: "es2023", strict: true, noEmit: true, types: [] },
  ...{ skipLibCheck: false, skipDefaultLibCheck: true },
};

/** Compiles all projects in one run, which reads shared files once. Returns the compiler's errors by line. */
function compile(compiler: string): string[] {
  for (const [name, { files, compilerOptions }] of Object.entries(PROJECTS)) {
    const project = join(folder, name);
    mkdirSync(project, { recursive: true });
    for (const [file, code] of Object.entries(files)) writeFileSync(join(project, file), code);
    const config = { compilerOptions: { ...STRICT, ...compilerOptions }, files: Object.keys(files) };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config));
  }
  const args = [
    join(ROOT, "node_modules", compiler),
    ...["--build", "--force", "--pretty", "false"],
    ...Object.keys(PROJECTS),
  ];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  const lines = `${stdout}${stderr}`.split("\n").filter((line) => line !== "");
  return status !== 0 && lines.length === 0 ? [`${compiler} ended with ${status}`] : lines;
}

describe.each(Object.entries(COMPILERS))(
  "the package's declarations, TypeScript %s [interfaces 13]",
  (_, tsc) => {
    let errors: string[];
    beforeAll(() => {
      errors = compile(tsc);
    });
    const getErrors = (project: string) => errors.filter((line) => line.startsWith(`${project}/`));

    it("compile for every right use, and refuse each misspelling [interfaces 13]", () => {
      expect(RIGHT.length).toBeGreaterThanOrEqual(40);
      expect(MISSPELT.length).toBeGreaterThanOrEqual(40);
      expect(getErrors("node")).toEqual([]);
      // Errors in the declarations or the compiler options.
      expect(
        errors.filter((line) => !Object.keys(PROJECTS).some((name) => line.startsWith(`${name}/`))),
      ).toEqual([]);
    });

    it("work in a bundler's project, too [interfaces 13]", () => {
      expect(getErrors("bundler")).toEqual([]);
    });

    it("include the runner fixtures [interfaces 13]", () => {
      expect(getErrors("runners")).toEqual([]);
    });
  },
);

describe("the package's declarations [interfaces 13]", () => {
  it("are one file per entry, and need no package of the server [interfaces 13, decision 11]", () => {
    const types = join(folder, "node_modules/understudy-sandbox/dist/types");
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
    expect([...new Set(named)].sort()).toEqual(["./index.js", "understudy-sandbox", ...runners].sort());
  });
});
