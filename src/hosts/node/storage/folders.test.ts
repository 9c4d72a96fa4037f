import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolder, sweepOrphanedFolders, TemporaryFolder } from "./folders.ts";

const root = mkdtempSync(join(tmpdir(), "understudy-folder-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("making a folder", () => {
  it("creates missing folders with the given rights, and accepts existing ones [interfaces 2]", () => {
    const path = join(root, "a", "b", "c");
    for (const _ of [1, 2]) makeFolder(path, 0o700);
    expect(statSync(path).isDirectory()).toBe(true);
    expect(statSync(join(root, "a")).mode & 0o777).toBe(0o700);
    makeFolder("/");
  });

  it("fails for a place that does not exist or is a file [interfaces 2]", () => {
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

let parent: string;
let own: TemporaryFolder;
/** The parts of this process's folder name: a prefix up to the machine, the process id, its start time, the rest. */
let parts: [start: string, pid: string, began: string, rest: string];
const before = process.env["TMPDIR"];

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "sweep-test-"));
  process.env["TMPDIR"] = parent;
  own = new TemporaryFolder();
  const [, start, pid, began, rest] = /^(.+-)(\d+)-(\d+)-(\w{6})$/.exec(basename(own.path))!;
  parts = [start!, pid!, began!, rest!];
});
afterEach(() => {
  own.remove();
  if (before === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = before;
  rmSync(parent, { recursive: true, force: true });
});

function leaveFolder(change: { start?: string; pid?: number; began?: string }): string {
  const [start, pid, began, rest] = parts;
  const name = `${change.start ?? start}${change.pid ?? pid}-${change.began ?? began}-${rest}`;
  mkdirSync(join(parent, name));
  writeFileSync(join(parent, name, "blob-00000001"), "bytes");
  return name;
}

/** The id of a process that has just ended. */
const findDeadPid = () => spawnSync(process.execPath, ["-e", ""]).pid;

describe("files that a killed server leaves behind", () => {
  it("are removed with the folder of a process that is gone [interfaces 7]", async () => {
    const pid = findDeadPid();
    const names = [leaveFolder({ pid, began: "12345" }), leaveFolder({ pid, began: "0" })];
    expect((await sweepOrphanedFolders()).toSorted()).toEqual(names.toSorted());
    for (const name of names) expect(existsSync(join(parent, name))).toBe(false);
  });

  it.runIf(existsSync("/proc/self/stat"))(
    "are removed if the process id belongs to another process now [interfaces 7]",
    async () => {
      const name = leaveFolder({ began: String(Number(parts[2]) + 1) });
      expect(await sweepOrphanedFolders()).toEqual([name]);
    },
  );

  it("stay if their server runs, or if the system cannot report when it started [interfaces 7]", async () => {
    const names = [leaveFolder({ began: "0" }), basename(own.path)];
    expect(await sweepOrphanedFolders()).toEqual([]);
    for (const name of names) expect(existsSync(join(parent, name))).toBe(true);
  });

  it("are the only ones removed: other machines' folders, other names, files and links stay [interfaces 7]", async () => {
    const pid = findDeadPid();
    const [start, , , rest] = parts;
    const foreign = leaveFolder({ pid, start: "understudy-uploads-0123456789ab-" });
    for (const name of ["understudy-AbCdEf", `understudy-uploads-${pid}`, "understudy-test-x"])
      mkdirSync(join(parent, name));
    writeFileSync(join(parent, `${start}${pid}-1-${rest}`), "a file");
    mkdirSync(join(parent, "target"));
    writeFileSync(join(parent, "target", "kept"), "");
    symlinkSync(join(parent, "target"), join(parent, `${start}${pid}-2-${rest}`));
    expect(await sweepOrphanedFolders()).toEqual([]);
    expect(existsSync(join(parent, foreign, "blob-00000001"))).toBe(true);
    expect(existsSync(join(parent, "target", "kept"))).toBe(true);
  });

  it("are removed once by several servers that start at the same time [interfaces 7]", async () => {
    const pid = findDeadPid();
    const names = Array.from({ length: 20 }, (_, i) => leaveFolder({ pid, began: String(100 + i) }));
    const removed = await Promise.all([
      sweepOrphanedFolders(),
      sweepOrphanedFolders(),
      sweepOrphanedFolders(),
    ]);
    expect(new Set(removed.flat())).toEqual(new Set(names));
    for (const name of names) expect(existsSync(join(parent, name))).toBe(false);
  });

  it("need not exist, nor the temporary folder [interfaces 7]", async () => {
    expect(await sweepOrphanedFolders(join(parent, "none"))).toEqual([]);
  });

  it("are removed at the end of a process by one listener for many servers [interfaces 7]", () => {
    // The listener of `own`, and others of this process.
    const listeners = process.listenerCount("exit");
    const folders = Array.from({ length: 12 }, () => new TemporaryFolder());
    for (const folder of folders) expect(existsSync(folder.path)).toBe(true);
    expect(process.listenerCount("exit")).toBe(listeners);
    for (const folder of folders) folder.remove();
    expect(process.listenerCount("exit")).toBe(listeners);
  });
});
