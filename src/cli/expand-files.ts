import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import picomatch from "picomatch";
import { UsageError } from "./failure.ts";

/**
 * Expands paths and globs to files, sorted within each pattern, each once. Users quote globs for shells that do not expand
 * them, or not in the same way.
 * @throws UsageError if a path does not exist or a glob matches no file
 */
export function expandFiles(patterns: readonly string[]): string[] {
  const files = new Set<string>();
  for (const pattern of patterns) {
    for (const file of existsSync(pattern) ? [pattern] : matching(pattern)) {
      if (statSync(file).isDirectory())
        throw new UsageError(`${file} is a folder; name its files, for example ${file}/*.yaml`);
      files.add(file);
    }
  }
  return [...files];
}

function matching(pattern: string): string[] {
  // On other systems a backslash escapes the next character.
  const normal = (process.platform === "win32" ? pattern.replaceAll("\\", "/") : pattern).replace(
    /^\.\//,
    "",
  );
  const { folder, glob } = literalFolder(normal);
  const { base: literal, isGlob } = picomatch.scan(glob);
  const base = literal.replace(/\\(.)/g, "$1");
  if (!isGlob) throw new UsageError(`there is no file ${pattern}`);
  const matches = picomatch(glob);
  const start = join(folder, base);
  const found = existsSync(start)
    ? (readdirSync(start, { recursive: true }) as string[])
        .map((name) => join(base, name))
        .filter((name) => matches(name.replaceAll("\\", "/")))
        .map((name) => join(folder, name).replaceAll("\\", "/"))
        .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile())
        .sort()
    : [];
  if (found.length === 0) throw new UsageError(`no file matches ${pattern}`);
  return found;
}

/** Existing folders are taken literally: `runs [1]/*.yaml` is in a folder with brackets. */
function literalFolder(pattern: string): { folder: string; glob: string } {
  for (let at = pattern.lastIndexOf("/"); at >= 0; at = pattern.lastIndexOf("/", at - 1)) {
    const folder = pattern.slice(0, at + 1);
    if (existsSync(folder)) return { folder, glob: pattern.slice(at + 1) };
    if (at === 0) break;
  }
  return { folder: "", glob: pattern };
}
