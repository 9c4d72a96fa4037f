import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { createTempFolder } from "../run-understudy.ts";
import { ROOT } from "./pages.ts";

/** What pages tell their readers to install; packages of the repository besides them stay out of sight. */
const INSTALLABLE = ["vitest", "@playwright", "vite", "msw", "typescript", "@types", "express", "jest"];

/**
 * A node_modules as readers have it: the package in it holds what is published and its dependencies, no more, and
 * lies below a node_modules with its real path too. Runners read what is installed as it is; what is only linked
 * they take for the reader's own source, and translate the whole server, each time.
 */
export function getInstalledModules(): string {
  if (installed === undefined || !existsSync(installed))
    installed = install(join(createTempFolder(), "node_modules"));
  return installed;
}

/** For the tests of a file: what is built does not change beneath them, and `removeScratch` takes it away. */
let installed: string | undefined;

function install(modules: string): string {
  mkdirSync(modules);
  for (const name of INSTALLABLE) link(name, modules);
  const own = join(modules, "understudy-sandbox");
  const { files, dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const left = new Set(
    (files as string[]).filter((file) => file.startsWith("!")).map((file) => file.slice(1)),
  );
  const filter = (file: string) => !left.has(relative(ROOT, file).split(sep).join("/"));
  for (const file of ["package.json", "README.md", ...(files as string[])]) {
    if (!file.startsWith("!")) cpSync(join(ROOT, file), join(own, file), { recursive: true, filter });
  }
  for (const name of Object.keys(dependencies)) link(name, join(own, "node_modules"));
  return modules;
}

function link(name: string, modules: string): void {
  const there = join(ROOT, "node_modules", name);
  if (!existsSync(there)) return;
  mkdirSync(dirname(join(modules, name)), { recursive: true });
  symlinkSync(there, join(modules, name));
}
