import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import picomatch from "picomatch";
import { UsageError } from "./failure.ts";

/**
 * The files that paths and globs name, sorted within each pattern, each once. Quoted globs are for shells
 * that do not expand them, or not the same way.
 * @throws UsageError when a path does not exist or a glob matches nothing
 */
export function filesOf(patterns: readonly string[]): string[] {
  const files = new Set<string>();
  for (const pattern of patterns) {
    for (const file of existsSync(pattern) ? [pattern] : matching(pattern)) {
      if (statSync(file).isDirectory())
        throw new UsageError(`${file} is a folder; name its files: ${file}/*.yaml`);
      files.add(file);
    }
  }
  return [...files];
}

function matching(pattern: string): string[] {
  const normal = pattern.replaceAll("\\", "/").replace(/^\.\//, "");
  const { base, isGlob } = picomatch.scan(normal);
  if (!isGlob) throw new UsageError(`there is no file ${pattern}`);
  const folder = base === "" ? "." : base;
  const matches = picomatch(normal);
  const found = existsSync(folder)
    ? (readdirSync(folder, { recursive: true }) as string[])
        .map((name) => (base === "" ? name : join(base, name)).replaceAll("\\", "/"))
        .filter((file) => matches(file) && statSync(file).isFile())
        .sort()
    : [];
  if (found.length === 0) throw new UsageError(`no file matches ${pattern}`);
  return found;
}
