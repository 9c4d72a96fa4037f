import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, extname, isAbsolute, join, relative } from "node:path";

const EXTENSIONS = [".yaml", ".yml", ".json"];

/** `./my.yaml` and `worlds/my` are paths, `reference` is a name. */
export function isPath(document: string): boolean {
  return /[\\/]/.test(document) || document.startsWith(".") || hasExtension(document);
}

/** The files in these folders that a document of this name may stand in, by their real paths, nearest first. */
export function* filesCalled(name: string, folders: readonly string[]): Generator<string> {
  if (isPath(name)) return;
  for (const folder of folders) {
    for (const extension of EXTENSIONS) {
      const file = join(folder, name + extension);
      const real = realFile(file);
      if (real !== undefined) yield real;
    }
  }
}

/**
 * The documents in a folder, by their real paths. Hidden files are editors' own: `.#mine.yaml` is a lock that
 * points nowhere.
 */
export function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => !file.startsWith(".") && hasExtension(file))
    .sort()
    .map((file) => join(folder, file))
    .filter((file) => existsSync(file))
    .map((file) => realpathSync(file));
}

/** Undefined where there is no file. */
export function realFile(file: string): string | undefined {
  return existsSync(file) ? realpathSync(file) : undefined;
}

/** What a document is called that does not say so itself. */
export function nameOfFile(file: string): string {
  return basename(file, extname(file));
}

/** A path as messages show it: relative where the file is below the current folder. */
export function showFile(file: string, cwd: string): string {
  const short = relative(cwd, file);
  return short === "" || short.startsWith("..") || isAbsolute(short) ? file : short;
}

function hasExtension(file: string): boolean {
  return EXTENSIONS.includes(extname(file).toLowerCase());
}
