import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expandFiles, loadScenarios } from "./document-files.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "files of "));
  for (const name of ["sc [x]", "sc [x]/deep", "plain", "twice", "twice/deep"]) mkdirSync(join(folder, name));
  for (const name of ["sc [x]/a one.yaml", "sc [x]/b.yaml", "sc [x]/deep/c.yaml", "plain/d.yaml"])
    writeFileSync(join(folder, name), "");
  writeFileSync(join(folder, "twice/deep/calm.yaml"), "name: calm\nrules: []\n");
  symlinkSync("nowhere", join(folder, "plain/dangling.yaml"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("paths and globs of files", () => {
  it.each([
    ["sc [x]/*.yaml", ["sc [x]/a one.yaml", "sc [x]/b.yaml"]],
    ["sc \\[x\\]/*.yaml", ["sc [x]/a one.yaml", "sc [x]/b.yaml"]],
    ["sc [x]/a one.yaml", ["sc [x]/a one.yaml"]],
    ["{plain,other}/*.yaml", ["plain/d.yaml"]],
    ["*/*.yaml", ["plain/d.yaml", "sc [x]/a one.yaml", "sc [x]/b.yaml"]],
    ["sc [x]/**/*.yaml", ["sc [x]/a one.yaml", "sc [x]/b.yaml", "sc [x]/deep/c.yaml"]],
  ])("%j names its files, also with blanks and brackets in names [interfaces 2]", (pattern, expected) => {
    expect(expandFiles([`${folder}/${pattern}`])).toEqual(expected.map((name) => `${folder}/${name}`));
  });

  it("a file that is written in two ways is one file, and so one scenario [interfaces 2]", () => {
    const twice = [`${folder}/twice/deep/*.yaml`, `${folder}/./twice/deep/calm.yaml`];
    expect(expandFiles(twice)).toHaveLength(1);
    expect(loadScenarios(twice).map(({ scenario }) => scenario.name)).toEqual(["calm"]);
  });

  it.runIf(process.platform === "linux")(
    "a glob of one folder does not read the folders in it, which may be unreadable [interfaces 2]",
    () => {
      expect(expandFiles(["/proc/self/statu*"])).toEqual(["/proc/self/status"]);
    },
  );

  it("a glob without matches and a path that does not exist are refused as wrong usage [interfaces 2]", () => {
    expect(() => expandFiles([`${folder}/nope/*.yaml`])).toThrow("no file matches");
    expect(() => expandFiles([`${folder}/nope.yaml`])).toThrow("there is no file");
    expect(() => expandFiles([`${folder}/plain`])).toThrow("is a folder");
  });
});
