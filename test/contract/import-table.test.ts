import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = new URL("../../", import.meta.url);

// @ts-expect-error A script without types; only its table is used.
const { FOLDERS } = (await import("../../scripts/lint-imports.mjs")) as { FOLDERS: Record<string, string[]> };

describe("the table of imports", () => {
  it("allows every import of the source", () => {
    const script = fileURLToPath(new URL("scripts/lint-imports.mjs", ROOT));
    expect(execFileSync(process.execPath, [script], { encoding: "utf8" })).toBe("");
  });

  // The script sees imports and exports, but not types written as `import("./file.ts").Type`.
  it("is not evaded by types that name another file", () => {
    const files = ["src", "scripts/generate"].flatMap((folder) =>
      readdirSync(new URL(folder, ROOT), { recursive: true, encoding: "utf8" }).map(
        (file) => `${folder}/${file}`,
      ),
    );
    const evading = files
      .filter((file) => /\.tsx?$/.test(file))
      .filter((file) => /\bimport\("\.[^)]*"\)\.[A-Z]/.test(readFileSync(new URL(file, ROOT), "utf8")));
    expect(evading).toEqual([]);
  });

  it("lets folders import one way only", () => {
    const visited = new Set<string>();
    const visit = (folder: string, path: readonly string[]): void => {
      expect(path, `a circle: ${[...path, folder].join(" -> ")}`).not.toContain(folder);
      if (visited.has(folder)) return;
      for (const next of FOLDERS[folder] ?? []) visit(next, [...path, folder]);
      visited.add(folder);
    };
    for (const folder of Object.keys(FOLDERS)) visit(folder, []);
  });
});
