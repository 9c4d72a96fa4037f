import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { makeFolder } from "./make-folder.ts";

const root = mkdtempSync(join(tmpdir(), "understudy-folder-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("makeFolder", () => {
  it("interfaces 2 makes what is missing, with the rights asked for, and takes what is there", () => {
    const path = join(root, "a", "b", "c");
    for (const _ of [1, 2]) makeFolder(path, 0o700);
    expect(statSync(path).isDirectory()).toBe(true);
    expect(statSync(join(root, "a")).mode & 0o777).toBe(0o700);
    makeFolder("/");
  });

  it("interfaces 2 says at once that there is no such place, or that a file is in the way", () => {
    for (const path of ["/proc/x", "/proc/x/y/z"])
      expect(() => makeFolder(path)).toThrow(expect.objectContaining({ code: "ENOENT" }));
    writeFileSync(join(root, "file"), "");
    expect(() => makeFolder(join(root, "file", "below"))).toThrow(
      expect.objectContaining({ code: "ENOTDIR" }),
    );
    expect(() => makeFolder(join(root, "file"))).toThrow(expect.objectContaining({ code: "EEXIST" }));
    expect(existsSync(join(root, "file", "below"))).toBe(false);
  });
});
