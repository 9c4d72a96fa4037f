import { Type } from "typebox";
import { expect, it } from "vitest";
import { collection } from "../state/collection.ts";
import type { WrittenRecord } from "../state/transaction.ts";
import { HistoryEntry, type WorldChange } from "./history-entry.ts";
import { Timeline } from "./timeline.ts";

const spec = { prefix: "x_", idField: "id" as const, schema: Type.Object({}) };
const notes = collection<{ id: string }>({ ...spec, name: "notes" });
const hidden = collection<{ id: string }>({ ...spec, name: "hidden", internal: true });
const place = {
  ...{ id: "h_1", sequence: 1, at: 0, parent: 0, journal_position: 0 },
  ...{ cause: null, advanced_by: null },
};
const asked: WorldChange = {
  ...{ kind: "request", title: "user_ada: Write a note.", subject: undefined },
  request: {
    ...{ idSeed: 1, number: 2, summary: "Write a note", principal: "user_ada" },
    ...{ counted: undefined, upload: undefined },
  },
};

function makeWrites(...ids: string[]): WrittenRecord[] {
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
])("the subject of a change is recognized: %s [interfaces 10]", (_what, ids, named, subject) => {
  const entry = new HistoryEntry(new Timeline().append(), place, asked, undefined);
  entry.setSubject(makeWrites(...ids), named);
  expect(entry.subject).toBe(subject);
  entry.setSubject(makeWrites("note_9"), { note: "note_9" });
  expect(entry.subject).toBe(subject ?? "note_9");
});

it("the title of a change mentions that its client got a refusal [interfaces 10]", () => {
  const entry = new HistoryEntry(new Timeline().append(), place, asked, undefined);
  expect(entry.title).toBe("user_ada: Write a note.");
  entry.recordAnswer({ status: 503, code: "SERVICE_UNAVAILABLE", response_body: undefined });
  expect(entry.title).toBe("user_ada: Write a note; it was done, but answered 503 SERVICE_UNAVAILABLE.");
});
