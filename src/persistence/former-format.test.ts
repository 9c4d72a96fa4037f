import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FormerFolder } from "./former-format.ts";
import { UnfitSandbox } from "./saved-sandbox.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "understudy-former-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const idFieldOf = (collection: string) => ({ notes: "note_id", _timers: "id" })[collection];
const hex = (text: string) => crc32(text).toString(16).padStart(8, "0");
const note = (note_id: string, text = "") => ({ note_id, text });

const CLOCK = { mode: "frozen", now: 5, rate: 0 };
const WORLD = { seed: 7, secret_key: "key", origin: 0, requests: 1, draws: 2, clock: CLOCK };
const HEADER = {
  ...{ created_at: 1, seed: 7, settings: { a: 1 }, resets: 0, start: 3, wall: 9 },
  fixture: { name: "reference", document: { notes: [] } },
  faults: { numbered: 1 },
};

/** A file of that format: its tables, and whatever else is to be different. */
const fileOf = (tables: object, more: object = {}) => ({
  ...{ format: "understudy-world", version: 1, generation: 4, header: HEADER, snapshots: {} },
  present: { taken_at: 5, windows: [["key", { minute: 0 }]], world: { ...WORLD, tables } },
  ...more,
});

function write(name: string, content: object | string, file = "world.json"): void {
  const place = join(folder, "sandboxes", name);
  mkdirSync(place, { recursive: true });
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(join(place, file), `${text}\ncrc32 ${hex(text)}\n`);
}

function log(name: string, generation: number, changes: readonly object[], tail = ""): void {
  const lines = changes.map((change) => JSON.stringify(change)).map((json) => `${hex(json)} ${json}\n`);
  writeFileSync(join(folder, "sandboxes", name, `changes.${generation}.log`), lines.join("") + tail);
}

const change = (records: object, more: object = {}) => ({
  ...{ requests: 10, draws: 20, clock: { mode: "real", at: 50, rate: 1, wall: 60 }, windows: [], records },
  ...more,
});

const read = (name = "a") => FormerFolder.in(folder)!.read(idFieldOf, name);

describe("a folder of the former format", () => {
  it("interfaces 2 is none where there is no folder of sandboxes", () => {
    expect(FormerFolder.in(folder)).toBeUndefined();
  });

  it("interfaces 2 gives the whole of a sandbox, its snapshots too", () => {
    const then = { taken_at: 4, windows: [], blobs: { uploads: {} }, world: { ...WORLD, tables: {} } };
    write(
      "a",
      fileOf(
        { notes: { records: [note("n1")] }, _timers: { put: [], removed: ["t"] } },
        { snapshots: { s: then } },
      ),
    );
    const { wall: _, ...facts } = { ...WORLD, taken_at: 5, clock: { ...CLOCK, wall: 9 }, wall: 0 };
    expect(read()).toStrictEqual({
      about: {
        ...{ created_at: 1, fixture: "reference", seed: 7, settings: { a: 1 }, resets: 0, start: 3 },
        snapshots: ["s"],
      },
      fixture: HEADER.fixture,
      faults: { numbered: 1 },
      present: {
        facts,
        windows: [["key", { minute: 0 }]],
        uploads: undefined,
        tables: { notes: { put: [note("n1")], removed: [] }, _timers: { put: [], removed: ["t"] } },
      },
      snapshots: {
        s: {
          ...{ facts: { ...facts, taken_at: 4 }, windows: [], uploads: undefined, tables: {} },
          blobs: { uploads: {} },
        },
      },
    });
    expect(FormerFolder.in(folder)!.names()).toEqual(["a"]);
  });

  it("interfaces 2 one that was never saved is nothing, one of which nothing is whole is unfit", () => {
    mkdirSync(join(folder, "sandboxes", "b"), { recursive: true });
    write("a", fileOf({}));
    expect(FormerFolder.in(folder)!.names()).toEqual(["a", "b"]);
    expect(read("b")).toBeUndefined();
    const file = join(folder, "sandboxes", "a", "world.json");
    writeFileSync(file, readFileSync(file, "utf8").replace('"seed":7', '"seed":8'));
    expect(() => read()).toThrow(new UnfitSandbox(`${file} is damaged, and so is the copy before it`));
    write("a", fileOf({}), "world.json.previous");
    expect(read()?.about.seed).toBe(7);
    writeFileSync(file, "no checksum at all");
    expect(read()?.about.seed).toBe(7);
    rmSync(file);
    expect(read()?.about.seed).toBe(7);
  });

  it("interfaces 2 what the logs say since is laid over it, the last state of a record being what counts", () => {
    write("a", fileOf({ notes: { put: [note("n1"), note("n2")], removed: ["n5", "n6"] } }));
    log("a", 3, [change({ notes: { n1: note("n1", "older than the file") } })]);
    log("a", 4, [
      change({ notes: { n1: note("n1", "first"), n3: note("n3"), n5: note("n5", "again") } }),
      change({ notes: { n1: note("n1", "second"), n3: null } }, { faults: { numbered: 2 } }),
    ]);
    log("a", 5, [
      change(
        { _timers: { t: { id: "t" } } },
        { requests: 11, draws: 21, windows: [["other", { minute: 1 }]] },
      ),
    ]);
    log("a", 7, [change({ notes: { n9: note("n9") } })]);
    const { present, faults } = read()!;
    expect(present.tables).toEqual({
      notes: {
        put: [note("n2"), note("n1", "second"), note("n5", "again")],
        removed: ["n6", "n3"],
      },
      _timers: { put: [{ id: "t" }], removed: [] },
    });
    expect(present.facts).toMatchObject({
      ...{ requests: 11, draws: 21, seed: 7, taken_at: 5 },
      clock: { mode: "real", now: 50, rate: 1, wall: 60 },
    });
    expect(present.windows).toEqual([["other", { minute: 1 }]]);
    expect(faults).toEqual({ numbered: 2 });
  });

  it("interfaces 2 a log counts up to its first line that is not whole", () => {
    write("a", fileOf({}));
    const json = JSON.stringify(change({ notes: { n2: note("n2") } }));
    log(
      "a",
      4,
      [change({ notes: { n1: note("n1") } })],
      `${hex(json)} ${json.slice(0, -5)}\n${hex(json)} ${json}\n`,
    );
    expect(read()?.present.tables).toEqual({ notes: { put: [note("n1")], removed: [] } });
    expect(read()?.faults).toEqual({ numbered: 1 });
  });

  it("interfaces 2 a collection that this server has not makes it unfit, in the file and in a log", () => {
    write("a", fileOf({ unknown: { records: [] } }));
    const message = "unknown is no collection of this server";
    expect(() => read()).toThrow(new UnfitSandbox(message));
    write("a", fileOf({}));
    log("a", 4, [change({ unknown: {} })]);
    expect(() => read()).toThrow(new UnfitSandbox(message));
  });

  it("interfaces 2 one of a newer version is not touched, be it only the copy", () => {
    for (const file of ["world.json", "world.json.previous"]) {
      write("a", fileOf({}, { version: 2 }), file);
      expect(() => FormerFolder.in(folder)).toThrow(
        `${join(folder, "sandboxes", "a", file)} was written by a newer Understudy (format 2, this one knows 1 there). Update Understudy, or choose another folder with --persist.`,
      );
      rmSync(join(folder, "sandboxes", "a", file));
    }
  });

  it("interfaces 2 one in use is not touched; a lock that nobody holds is none", () => {
    write("a", fileOf({}));
    const lock = (content: string) => writeFileSync(join(folder, "lock"), content);
    lock(JSON.stringify({ pid: process.pid }));
    expect(() => FormerFolder.in(folder)).toThrow(
      `${folder} is in use by process ${process.pid}; stop that server, or choose another folder with --persist.`,
    );
    for (const content of ["{ no", JSON.stringify({ pid: "7" }), JSON.stringify({ pid: 2_000_000_000 })]) {
      lock(content);
      expect(FormerFolder.in(folder)?.names()).toEqual(["a"]);
    }
  });

  it("interfaces 2 goes aside with its lock, over nothing that is there", () => {
    write("a", fileOf({}));
    expect(FormerFolder.in(folder)!.moveAside()).toBe(join(folder, "former-format"));
    expect(readdirSync(join(folder, "former-format"))).toEqual(["sandboxes"]);
    write("b", fileOf({}));
    writeFileSync(join(folder, "lock"), "");
    expect(FormerFolder.in(folder)!.moveAside()).toBe(join(folder, "former-format-2"));
    expect(readdirSync(join(folder, "former-format-2"))).toEqual(["lock", "sandboxes"]);
    expect(readdirSync(folder)).toEqual(["former-format", "former-format-2"]);
  });
});
