import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";

interface Row {
  includes: [string, ...string[]];
  linter: { rules: { style: { noRestrictedImports: { options: { patterns: [{ group: string[] }] } } } } };
}

const ROOT = new URL("../../", import.meta.url);
const { overrides: rows } = JSON.parse(readFileSync(new URL("imports.biome.json", ROOT), "utf8")) as {
  overrides: Row[];
};

// "src/faults/*/*.ts" is ["faults", 2].
function placeOf({ includes: [files] }: Row): [room: string, depth: number] {
  const [, room, ...below] = files.split("/");
  return [room!, below.length];
}

/** Rooms and single files that a row lets through, as `../../contract/**` names them. */
function allowedBy(row: Row): string[] {
  const [{ group }] = row.linter.rules.style.noRestrictedImports.options.patterns;
  return group
    .filter((pattern) => pattern.startsWith("!"))
    .map((pattern) => pattern.replace(/^!(\.\.\/)+/, "").replace(/\/\*\*$/, ""));
}

describe("the table of imports", () => {
  it("has a row for every folder that holds a source file", () => {
    const covered = new Set(rows.map((row) => placeOf(row).join(" ")));
    const files = readdirSync(new URL("src", ROOT), { recursive: true, encoding: "utf8" });
    const folders = new Set(files.filter((file) => /\.tsx?$/.test(file)).map(dirname));
    folders.delete(".");
    const missing = [...folders].filter((folder) => {
      const [room, ...below] = folder.split("/");
      return !covered.has(`${room} ${below.length + 1}`);
    });
    expect(missing).toEqual([]);
  });

  // Biome's rules see imports and exports, but not a type written as `import("./file.ts").Type`.
  it("is not evaded by types that name a file of their own", () => {
    const files = readdirSync(new URL("src", ROOT), { recursive: true, encoding: "utf8" });
    const evading = files
      .filter((file) => /\.tsx?$/.test(file))
      .filter((file) =>
        /\bimport\("\.[^)]*"\)\.[A-Z]/.test(readFileSync(new URL(`src/${file}`, ROOT), "utf8")),
      );
    expect(evading).toEqual([]);
  });

  it("says the same for a room's folders as for the room", () => {
    const byRoom = new Map<string, string>();
    for (const row of rows) {
      const [room] = placeOf(row);
      const allowed = allowedBy(row).join(" ");
      expect(allowed, room).toBe(byRoom.get(room) ?? allowed);
      byRoom.set(room, allowed);
    }
  });

  it("lets rooms import one way only", () => {
    const allowed = new Map(rows.map((row) => [placeOf(row)[0], allowedBy(row)]));
    const visit = (room: string, path: readonly string[]): void => {
      expect(path, `a circle: ${[...path, room].join(" -> ")}`).not.toContain(room);
      for (const next of allowed.get(room) ?? []) visit(next, [...path, room]);
    };
    for (const room of allowed.keys()) visit(room, []);
  });
});
