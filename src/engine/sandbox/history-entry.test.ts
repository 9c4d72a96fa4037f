import Type from "typebox";
import { expect, it } from "vitest";
import { collection } from "../state/collection.ts";
import type { WrittenRecord } from "../state/transaction.ts";
import { type Act, HistoryEntry } from "./history-entry.ts";

const collectionOf = (name: string, internal = false) =>
  collection<{ id: string }>({ name, prefix: "x_", idField: "id", schema: Type.Object({}), internal });
const notes = collectionOf("notes");
const hidden = collectionOf("hidden", true);
const place = {
  ...{ prefix: "h_", number: 1, sequence: 1, at: 0, parent: 0, journal: 0, seq: 1 },
  ...{ cause: null, advanced_by: null },
};
const asked: Act = {
  ...{ kind: "request", title: "never asked for", subject: undefined },
  request: {
    ...{ idSeed: 1, number: 2, summary: "Write a note", principal: "user_ada" },
    ...{ counted: undefined, uploads: undefined },
  },
};

function written(...ids: string[]): WrittenRecord[] {
  return ids.map((id) => ({
    collection: id.startsWith("hidden") ? hidden : notes,
    id,
    before: undefined,
    after: { id },
  }));
}

it.each([
  ["the record that its request names", ["note_1", "note_2"], { org: "org_1", note: "note_2" }, "note_2"],
  ["the first, where it names none of them", ["note_1", "note_2"], { org: "org_1" }, "note_1"],
  ["none that is not shown", ["hidden_1", "note_1"], { org: "hidden_1" }, "note_1"],
  ["the last that it names, where none is shown", ["hidden_1"], { org: "org_1", note: "note_2" }, "note_2"],
  ["the first, where no request names any", ["note_1"], undefined, "note_1"],
  ["none, where there is none", [], undefined, null],
])("interfaces 10 of what was written, an entry is about %s", (_what, ids, named, subject) => {
  const entry = new HistoryEntry(place, asked, undefined);
  entry.choose(written(...ids), named);
  expect(entry.subject).toBe(subject);
  entry.choose(written("note_9"), { note: "note_9" });
  expect(entry.subject).toBe(subject ?? "note_9");
});

it("interfaces 10 an entry's sentence says what was done and, where it was, that it was refused all the same", () => {
  const entry = new HistoryEntry(place, asked, undefined);
  expect(entry.title).toBe("user_ada asked to write a note.");
  entry.answered("503 SERVICE_UNAVAILABLE", 7);
  expect(entry.title).toBe(
    "user_ada asked to write a note; it was done, but answered 503 SERVICE_UNAVAILABLE.",
  );
});
