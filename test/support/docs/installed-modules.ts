import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { createTempFolder } from "../run-understudy.ts";
import { ROOT } from "./pages.ts";

/** Packages that pages tell users to install. Other packages of the repository are not installed. */
const INSTALLABLE = ["vitest", "@playwright", "vite", "msw", "typescript", "@types", "express", "jest"];

/**
 * Returns a node_modules as users have it: the package in it has only its published files and dependencies, and its
 * real path is below a node_modules too. Runners use installed packages unchanged, but translate linked ones as
 * sources, which takes long.
 */
export function getInstalledModules(): string {
  if (installed === undefined || !existsSync(installed))
    installed = install(join(createTempFolder(), "node_modules"));
  return installed;
}

/** Shared by the tests of a file; `removeTempFolders` removes it. */
let installed: string | undefined;

function install(modules: string): string {
  mkdirSync(modules);
  for (const name of INSTALLABLE) link(name, modules);
  const own = join(modules, "understudy-sandbox");
  const { files, dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const excluded = new Set(
    (files as string[]).filter((file) => file.startsWith("!")).map((file) => file.slice(1)),
  );
  const filter = (file: string) => !excluded.has(relative(ROOT, file).split(sep).join("/"));
  for (const file of ["package.json", "README.md", ...(files as string[])]) {
    if (!file.startsWith("!")) cpSync(join(ROOT, file), join(own, file), { recursive: true, filter });
  }
  for (const name of Object.keys(dependencies)) link(name, join(own, "node_modules"));
  return modules;
}

function link(name: string, modules: string): void {
  const source = join(ROOT, "node_modules", name);
  if (!existsSync(source)) return;
  mkdirSync(dirname(join(modules, name)), { recursive: true });
  symlinkSync(source, join(modules, name));
}
