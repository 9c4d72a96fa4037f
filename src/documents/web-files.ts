import shipped from "virtual:shipped-files";

/* The shipped fixtures and scenarios as files, which is all that a build for a browser has of a file system. */

export { basename, dirname, extname, isAbsolute, join, relative, resolve } from "pathe";

export const STARTING_FOLDER = "/";

const names = Object.keys(shipped);

export function existsSync(path: string): boolean {
  return path in shipped || names.some((name) => name.startsWith(`${path}/`));
}

export function readFileSync(path: string, encoding: "utf8"): string;
export function readFileSync(path: string): Uint8Array;
export function readFileSync(path: string, encoding?: "utf8"): string | Uint8Array {
  const text = shipped[path];
  if (text === undefined) throw Object.assign(new Error(`there is no file ${path}`), { code: "ENOENT" });
  return encoding === undefined ? new TextEncoder().encode(text) : text;
}

export function readdirSync(folder: string): string[] {
  const start = `${folder}/`;
  return names.filter((name) => name.startsWith(start)).map((name) => name.slice(start.length));
}

export const realpathSync = (path: string): string => path;

export function statSync(path: string, options?: { throwIfNoEntry: false }) {
  if (!existsSync(path)) {
    if (options !== undefined) return undefined;
    throw Object.assign(new Error(`there is no file ${path}`), { code: "ENOENT" });
  }
  const isFile = path in shipped;
  return {
    isFile: () => isFile,
    isDirectory: () => !isFile,
    size: shipped[path]?.length ?? 0,
    ino: 0,
    mtimeMs: 0,
  };
}
