import { describe, expect, it } from "vitest";
import { savedSandboxOf, UnfitSandbox } from "./saved-sandbox.ts";

const idFieldOf = (collection: string) => ({ notes: "note_id", _timers: "id" })[collection];
const row = (section: string, id: string, value: unknown) => ({ section, id, text: JSON.stringify(value) });
const savedOf = (...rows: ReturnType<typeof row>[]) => savedSandboxOf(idFieldOf, rows);

describe("a sandbox as it was written down", () => {
  it("interfaces 2 is put together of its rows, each snapshot by its name", () => {
    expect(
      savedOf(
        ...[row("sandbox", "about", { seed: 7 }), row("sandbox", "faults", { first: [] })],
        ...[row("world", "facts", { draws: 1 }), row("world", "windows", [])],
        ...[row("records/notes", "n1", { note_id: "n1" }), row("records/notes", "n2", null)],
        ...[row("records/_timers", "t", { id: "t" }), row("records/notes", "n3", { note_id: "n3" })],
        ...[row("snapshots/a/world", "facts", 2), row("snapshots/a/records/notes", "n1", null)],
        row("snapshots/b/world", "facts", 3),
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
    expect(savedOf()).toStrictEqual({ present: { tables: {} }, snapshots: {} });
  });

  it("interfaces 10 has a history where it says so, with its entries", () => {
    const entries = [row("history", "2", { sequence: 2 }), row("history", "3", { sequence: 3 })];
    expect(savedOf(row("history", "about", { next: 4 }), ...entries)).toMatchObject({
      history: { about: { next: 4 }, entries: [{ sequence: 2 }, { sequence: 3 }] },
    });
    expect(savedOf(...entries)).not.toHaveProperty("history");
  });

  it.each([
    [row("elsewhere", "x", 1), "elsewhere is nothing that this server knows"],
    [row("records/unknown", "x", { id: "x" }), "records/unknown is nothing that this server knows"],
    [row("records/notes/x", "x", 1), "records/notes/x is nothing that this server knows"],
    [row("old/records/notes", "x", null), "old/records/notes is nothing that this server knows"],
    [row("snapshots/a", "x", 1), "snapshots/a is nothing that this server knows"],
    [row("old/snapshots/a/world", "x", 1), "old/snapshots/a/world is nothing that this server knows"],
    [row("snapshots/a/elsewhere", "x", 1), "elsewhere is nothing that this server knows"],
    [
      row("records/notes", "n1", { note_id: "n2" }),
      "records/notes holds under n1 a record that is not note_id n1",
    ],
  ])("interfaces 2 refuses %j", (given, message) => {
    expect(() => savedOf(given)).toThrow(new UnfitSandbox(message));
  });

  it("interfaces 2 says which row is no JSON", () => {
    expect(() => savedSandboxOf(idFieldOf, [{ section: "world", id: "facts", text: "{" }])).toThrow(
      /^world\/facts is no JSON: ./,
    );
    expect(new UnfitSandbox("no").name).toBe("UnfitSandbox");
  });
});
