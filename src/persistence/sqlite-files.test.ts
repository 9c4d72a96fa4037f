import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { setUpFolderPerTest } from "../../test/support/folder-per-test.ts";
import { FORMAT_ID, SqliteFiles } from "./sqlite-files.ts";

let folder: string;
let files: SqliteFiles;
setUpFolderPerTest((place) => {
  folder = place;
  mkdirSync(folder);
  files = new SqliteFiles(folder);
});

/** A database with this page size in its header, and this many bytes. */
function write({
  page = 4096,
  size = 8192,
  version = 2,
  id = FORMAT_ID,
  magic = "SQLite format 3\0",
} = {}): void {
  const bytes = Buffer.alloc(size);
  bytes.write(magic, "latin1");
  bytes.writeUInt16BE(page, 16);
  bytes.writeUInt32BE(version, 60);
  bytes.writeUInt32BE(id, 68);
  writeFileSync(files.database, bytes);
}

const setAge = (file: string, seconds: number) => utimesSync(file, seconds, seconds);

describe("a database file in the folder of --persist", () => {
  it("may be opened if it is our own, new or empty [interfaces 2]", () => {
    const inspect = () => files.requireKnownFormat();
    expect(inspect).not.toThrow();
    for (const given of [{}, { version: 1 }, { id: 0, version: 0 }, { magic: "", version: 99, id: 5 }]) {
      write(given);
      expect(inspect).not.toThrow();
    }
  });

  it("is refused if it is of a newer version or of another program [interfaces 2]", () => {
    write({ version: 4 });
    expect(() => files.requireKnownFormat()).toThrow(
      `${files.database} was written by a newer Understudy (format 4, this one knows 3). Update Understudy, or choose another folder with --persist.`,
    );
    write({ id: 5 });
    expect(() => files.requireKnownFormat()).toThrow(
      `${files.database} is not a database of Understudy; nothing was touched.`,
    );
  });

  it("is truncated if its last page is incomplete, unless its log repairs it [quality 2.7]", () => {
    expect(files.isTruncated()).toBe(false);
    const cut = (given: Parameters<typeof write>[0]) => {
      write(given);
      return files.isTruncated();
    };
    expect(cut({})).toBe(false);
    expect(cut({ size: 8191 })).toBe(true);
    expect(cut({ page: 1024, size: 5 * 1024 })).toBe(false);
    // SQLite writes the page size 65,536 as 1, since it does not fit into two bytes.
    expect(cut({ page: 1, size: 65_536 })).toBe(false);
    expect(cut({ page: 1, size: 65_535 })).toBe(true);
    // Without a page size, the file cannot be checked.
    expect(cut({ page: 0, size: 8191 })).toBe(false);
    write({ size: 8191 });
    writeFileSync(`${files.database}-wal`, "");
    expect(files.isTruncated()).toBe(true);
    writeFileSync(`${files.database}-wal`, "log");
    expect(files.isTruncated()).toBe(false);
  });

  it("counts as emptied if only its copy is left [quality 2.7]", () => {
    expect(files.isEmptied()).toBe(false);
    writeFileSync(files.database, "");
    expect(files.isEmptied()).toBe(false);
    writeFileSync(files.copy, "copy");
    expect(files.isEmptied()).toBe(true);
    writeFileSync(files.database, "x");
    expect(files.isEmptied()).toBe(false);
    rmSync(files.database);
    expect(files.isEmptied()).toBe(true);
    rmSync(files.copy);
    expect(files.isEmptied()).toBe(false);
    writeFileSync(files.acknowledgedFile, JSON.stringify({ saves: 1, changes: 1, at: "" }));
    expect(files.isEmptied()).toBe(true);
  });

  it("has a fresh copy if that is not older than the database [quality 2.7]", () => {
    write();
    setAge(files.database, 100);
    expect(files.hasFreshCopy()).toBe(false);
    writeFileSync(files.copy, "copy");
    for (const [seconds, isFresh] of [
      [99, false],
      [100, true],
      [101, true],
    ] as const) {
      setAge(files.copy, seconds);
      expect(files.hasFreshCopy()).toBe(isFresh);
    }
  });

  it("is set aside with its logs if damaged, and its copy takes its place [quality 2.7]", () => {
    write();
    writeFileSync(`${files.database}-wal`, "wal");
    writeFileSync(`${files.database}-shm`, "shm");
    writeFileSync(files.copy, "copy");
    setAge(files.copy, 1_700_000_000);
    const aside = `${files.database}.damaged`;
    expect(files.setDamagedAside().message).toBe(
      `${files.database} is damaged (cut short, emptied or overwritten) and was kept as ${aside}; the copy of 2023-11-14T22:13:20.000Z is used instead.`,
    );
    expect(readFileSync(files.database, "utf8")).toBe("copy");
    expect(["", "-wal", "-shm"].map((part) => statSync(aside + part).size)).toEqual([8192, 3, 3]);
    expect(["-wal", "-shm", ".previous"].some((part) => existsSync(files.database + part))).toBe(false);
    // The copy is damaged as well, and has no log.
    expect(files.setDamagedAside().message).toBe(
      `${files.database} is damaged (cut short, emptied or overwritten) and was kept as ${aside}-2; there is no earlier copy, so everything starts empty.`,
    );
    expect([existsSync(files.database), readFileSync(`${aside}-2`, "utf8")]).toEqual([false, "copy"]);
  });

  it("is readable by its owner only, since it contains keys and secrets [interfaces 2]", () => {
    files.makePrivate();
    expect(statSync(files.database).mode & 0o777).toBe(0o600);
    expect(statSync(files.database).size).toBe(0);
    write();
    chmodSync(files.database, 0o600);
    files.makePrivate();
    expect(statSync(files.database).size).toBe(8192);
    files.recordHolder();
    expect(statSync(join(folder, "in-use-by.json")).mode & 0o777).toBe(0o600);
  });

  it("is refused with the name of the process that uses the folder, if known [interfaces 2]", () => {
    const holder = join(folder, "in-use-by.json");
    const describeInUse = (who: string) =>
      `${folder} is in use by ${who}; stop that server, or choose another folder with --persist.`;
    expect(files.toOpeningError({ code: "SQLITE_BUSY" }).message).toBe(describeInUse("another process"));
    files.recordHolder();
    expect(JSON.parse(readFileSync(holder, "utf8"))).toEqual({ pid: process.pid, host: hostname() });
    expect(files.toOpeningError({ code: "SQLITE_BUSY" }).message).toBe(
      describeInUse(`process ${process.pid}`),
    );
    writeFileSync(holder, JSON.stringify({ pid: 7, host: "elsewhere" }));
    expect(files.toOpeningError({ code: "SQLITE_BUSY" }).message).toBe(
      describeInUse("process 7 on elsewhere"),
    );
    files.clearHolder();
    files.clearHolder();
    expect(existsSync(holder)).toBe(false);
  });
});
