import { describe, expect, it } from "vitest";
import { createFakeSandbox, createFakeUploads, createRoot } from "../../test/support/persistence-fakes.ts";
import { SandboxImage } from "./sandbox-image.ts";
import { InvalidSandboxRows, listRowChanges, parseSavedSandbox, splitChanges } from "./sandbox-rows.ts";
import type { RowChange } from "./store.ts";

const { uploads } = createFakeUploads();

/** The rows as `section/id` with their values; cleared sections as `clear ...`. */
function listWritten(before: SandboxImage | undefined, after: SandboxImage): Record<string, unknown> {
  return Object.fromEntries(
    [...listRowChanges(before, after)].map((change) => {
      expect(change.sandbox).toBe("default");
      return "clearPrefix" in change
        ? [`clear ${change.clearPrefix}`, undefined]
        : [`${change.section}/${change.id}`, change.text === null ? "gone" : JSON.parse(change.text)];
    }),
  );
}

const ALWAYS = ["sandbox/about", "sandbox/faults", "world/facts", "world/windows", "world/uploads"];
const FIRST = ["clear ", "sandbox/fixture", ...ALWAYS];

describe("the rows of a sandbox", () => {
  it("contain everything at first, its records as their difference from the fixture [interfaces 2]", () => {
    const { sandbox, plain, write, remove, count } = createFakeSandbox(
      "default",
      createRoot({ id: "n1", text: "kept" }, { id: "n2", text: "changed" }, { id: "n3", text: "removed" }),
    );
    write("n2", "is another");
    write("n4", "new");
    remove("n3");
    count();
    plain.world.requests = 5;
    const rows = listWritten(undefined, SandboxImage.capture(sandbox, uploads));
    expect(Object.keys(rows)[0]).toBe("clear ");
    expect(rows).toEqual({
      "clear ": undefined,
      "sandbox/fixture": { name: "reference", document: { notes: [] } },
      "sandbox/about": {
        ...{ created_at: 1000, fixture: "reference", seed: 7, settings: sandbox.settings },
        ...{ resets: 0, start: 500, snapshots: [] },
      },
      "sandbox/faults": { numbered: 0 },
      "world/facts": {
        ...{ seed: 7, secret_key: "key", origin: 0, requests: 5, draws: 0, taken_at: 500 },
        clock: { mode: "frozen", now: 500, rate: 0, wall: 0 },
      },
      "world/windows": [["key", { minute: 0, requests: 1, tokens: 0 }]],
      "world/uploads": { of: "default's bytes" },
      "history/about": { next: 1, base: 0, dropped: 0 },
      "records/notes/n2": { id: "n2", text: "is another" },
      "records/notes/n4": { id: "n4", text: "new" },
      "records/notes/n3": null,
    });
  });

  it("contain only changes later, and no row for a record that equals the fixture's again [interfaces 2]", () => {
    const base = createRoot({ id: "n1", text: "kept" }, { id: "n2", text: "changed" });
    const { sandbox, write, remove } = createFakeSandbox("default", base);
    write("n2", "is another");
    write("n4", "new");
    const before = SandboxImage.capture(sandbox, uploads);
    sandbox.world.transact((tx) => {
      for (const [name, table] of base.tables)
        if (name === "notes") tx.put(table.collection, table.get("n2")!);
    });
    remove("n4");
    remove("n1");
    const rows = listWritten(before, SandboxImage.capture(sandbox, uploads));
    expect(Object.keys(rows).toSorted()).toEqual(
      [...ALWAYS, "history/about", "records/notes/n1", "records/notes/n2", "records/notes/n4"].toSorted(),
    );
    expect(rows).toMatchObject({
      "records/notes/n1": null,
      "records/notes/n2": "gone",
      "records/notes/n4": "gone",
    });
  });

  it("contain everything for another sandbox, or one of another fixture [interfaces 2]", () => {
    const [one, other] = [createFakeSandbox(), createFakeSandbox()];
    one.write("n2", "new");
    other.write("n2", "new");
    const image = SandboxImage.capture(one.sandbox, uploads);
    const expected = [...FIRST, "history/about", "records/notes/n2"].toSorted();
    const again = listWritten(image, SandboxImage.capture(other.sandbox, uploads));
    expect(Object.keys(again).toSorted()).toEqual(expected);
    const base = createRoot({ id: "n1", text: "of the fixture" });
    one.plain.source = { ...one.plain.source, buildRoot: () => base };
    const refounded = listWritten(image, SandboxImage.capture(one.sandbox, uploads));
    expect(Object.keys(refounded)).toEqual(expect.arrayContaining(["clear ", "sandbox/fixture"]));
    // Everything else is unchanged.
    expect(
      Object.keys(listWritten(image, SandboxImage.capture({ ...image.sandbox } as never, uploads))),
    ).toContain("clear ");
  });

  it("contain a snapshot once, and again only if another has its name [interfaces 2]", () => {
    const { sandbox, plain, write } = createFakeSandbox();
    write("n2", "then");
    plain.snapshots.set("a", plain.toValue());
    plain.snapshots.set("b", plain.toValue());
    const before = SandboxImage.capture(sandbox, uploads);
    const first = listWritten(undefined, before);
    expect(first["sandbox/about"]).toMatchObject({ snapshots: ["a", "b"] });
    for (const row of ["world/facts", "world/windows", "world/uploads", "records/notes/n2"]) {
      expect(first[`snapshots/a/${row}`]).toEqual(first[row]);
    }
    write("n3", "now");
    plain.snapshots.delete("a");
    plain.snapshots.set("c", plain.toValue());
    const next = SandboxImage.capture(sandbox, uploads);
    const rows = listWritten(before, next);
    expect(Object.keys(rows).filter((place) => place.includes("snapshots/"))).toEqual([
      "clear snapshots/a/",
      ...["facts", "windows", "uploads"].map((id) => `snapshots/c/world/${id}`),
      ...["n2", "n3"].map((id) => `snapshots/c/records/notes/${id}`),
    ]);
    plain.snapshots.set("b", plain.toValue());
    const replaced = Object.keys(listWritten(next, SandboxImage.capture(sandbox, uploads)));
    expect(replaced.filter((place) => place.includes("snapshots/"))).toEqual([
      "clear snapshots/b/",
      ...["facts", "windows", "uploads"].map((id) => `snapshots/b/world/${id}`),
      ...["n2", "n3"].map((id) => `snapshots/b/records/notes/${id}`),
    ]);
  });

  it("contain changed entries of the history only, and evicted ones are removed [interfaces 10]", () => {
    const { sandbox, plain } = createFakeSandbox();
    const { history } = plain;
    const entries = [1, 2, 3, 4].map((sequence) => ({ sequence }));
    const tell = (next: number, stories: [number, number][]) => {
      history.about = { ...history.about, next };
      history.entries = new Map(stories.map(([sequence, revision]) => [entries[sequence - 1]!, revision]));
      return SandboxImage.capture(sandbox, uploads);
    };
    const first = tell(4, [
      [1, 0],
      [2, 0],
      [3, 0],
    ]);
    const listHistoryRows = (before: SandboxImage | undefined, after: SandboxImage) =>
      Object.entries(listWritten(before, after)).filter(([place]) => /^history\/\d/.test(place));
    expect(listHistoryRows(undefined, first)).toEqual([
      ["history/1", { sequence: 1 }],
      ["history/2", { sequence: 2 }],
      ["history/3", { sequence: 3 }],
    ]);
    const second = tell(5, [
      [2, 1],
      [3, 0],
      [4, 0],
    ]);
    expect(listHistoryRows(first, second)).toEqual([
      ["history/1", "gone"],
      ["history/2", { sequence: 2 }],
      ["history/4", { sequence: 4 }],
    ]);
    expect(listHistoryRows(second, second)).toEqual([]);
  });
});

describe("changes that are saved in pieces", () => {
  const makeChanges = (count: number): RowChange[] =>
    Array.from({ length: count }, (_, i) => ({ sandbox: "a", section: "s", id: `${i}`, text: null }));
  async function countPieces(given: Iterable<RowChange>): Promise<number[]> {
    const all: number[] = [];
    for await (const piece of splitChanges(given)) all.push(piece.length);
    return all;
  }

  it("come in order, at most five hundred each [quality 2.8]", async () => {
    const given = makeChanges(1203);
    const got: RowChange[] = [];
    for await (const piece of splitChanges(given)) {
      expect(piece.length).toBeLessThanOrEqual(500);
      got.push(...piece);
    }
    expect(got).toEqual(given);
    expect(await countPieces([])).toEqual([]);
    expect((await countPieces(makeChanges(500))).reduce((sum, one) => sum + one, 0)).toBe(500);
  });

  it("let requests run between them, also if each change takes long [quality 2.8]", async () => {
    let turns = 0;
    let goesOn = true;
    const tick = () => {
      turns += 1;
      if (goesOn) setImmediate(tick);
    };
    setImmediate(tick);
    function* changeSlowly() {
      for (const change of makeChanges(3)) {
        for (const end = performance.now() + 5; performance.now() < end; );
        yield change;
      }
    }
    expect(await countPieces(changeSlowly())).toEqual([1, 1, 1]);
    expect(turns).toBeGreaterThanOrEqual(3);
    goesOn = false;
  });
});

const findIdField = (collection: string) => ({ notes: "note_id", _timers: "id" })[collection];
const makeRow = (section: string, id: string, value: unknown) => ({
  section,
  id,
  text: JSON.stringify(value),
});
const parseRows = (...rows: ReturnType<typeof makeRow>[]) => parseSavedSandbox(findIdField, rows);

describe("a saved sandbox", () => {
  it("is assembled from its rows, each snapshot by its name [interfaces 2]", () => {
    expect(
      parseRows(
        ...[makeRow("sandbox", "about", { seed: 7 }), makeRow("sandbox", "faults", { first: [] })],
        ...[makeRow("world", "facts", { draws: 1 }), makeRow("world", "windows", [])],
        ...[makeRow("records/notes", "n1", { note_id: "n1" }), makeRow("records/notes", "n2", null)],
        ...[makeRow("records/_timers", "t", { id: "t" }), makeRow("records/notes", "n3", { note_id: "n3" })],
        ...[makeRow("snapshots/a/world", "facts", 2), makeRow("snapshots/a/records/notes", "n1", null)],
        makeRow("snapshots/b/world", "facts", 3),
      ),
    ).toStrictEqual({
      about: { seed: 7 },
      faults: { first: [] },
      present: {
        facts: { draws: 1 },
        windows: [],
        tables: {
          notes: { put: [{ note_id: "n1" }, { note_id: "n3" }], removed: ["n2"] },
          _timers: { put: [{ id: "t" }], removed: [] },
        },
      },
      snapshots: {
        a: { facts: 2, tables: { notes: { put: [], removed: ["n1"] } } },
        b: { facts: 3, tables: {} },
      },
    });
    expect(parseRows()).toStrictEqual({ present: { tables: {} }, snapshots: {} });
  });

  it("has a history if the row `about` is there [interfaces 10]", () => {
    const entries = [makeRow("history", "2", { sequence: 2 }), makeRow("history", "3", { sequence: 3 })];
    expect(parseRows(makeRow("history", "about", { next: 4 }), ...entries)).toMatchObject({
      history: { about: { next: 4 }, entries: [{ sequence: 2 }, { sequence: 3 }] },
    });
    expect(parseRows(...entries)).not.toHaveProperty("history");
  });

  it.each([
    [makeRow("elsewhere", "x", 1), "elsewhere is unknown to this server"],
    [makeRow("records/unknown", "x", { id: "x" }), "records/unknown is unknown to this server"],
    [makeRow("records/notes/x", "x", 1), "records/notes/x is unknown to this server"],
    [makeRow("old/records/notes", "x", null), "old/records/notes is unknown to this server"],
    [makeRow("snapshots/a", "x", 1), "snapshots/a is unknown to this server"],
    [makeRow("old/snapshots/a/world", "x", 1), "old/snapshots/a/world is unknown to this server"],
    [makeRow("snapshots/a/elsewhere", "x", 1), "elsewhere is unknown to this server"],
    [
      makeRow("records/notes", "n1", { note_id: "n2" }),
      "records/notes has under n1 a record with another note_id",
    ],
  ])("is refused for the row %j [interfaces 2]", (given, message) => {
    expect(() => parseRows(given)).toThrow(new InvalidSandboxRows(message));
  });

  it("gives a record its id if it was saved when another field had it [interfaces 18]", () => {
    const { present } = parseRows(makeRow("records/notes", "n1", { id: "n1" }));
    expect(present.tables["notes"]).toEqual({ put: [{ note_id: "n1", id: "n1" }], removed: [] });
  });

  it("is refused with the name of a row that is not JSON [interfaces 2]", () => {
    expect(() => parseSavedSandbox(findIdField, [{ section: "world", id: "facts", text: "{" }])).toThrow(
      /^world\/facts is not JSON: ./,
    );
    expect(new InvalidSandboxRows("no").name).toBe("InvalidSandboxRows");
  });
});
