import { expect, it } from "vitest";
import { LIMIT, makeRequest, makeSandbox, notes, readState } from "../../../test/support/note-sandboxes.ts";
import type { WorldChange } from "./history-entry.ts";
import type { ExchangeDetails } from "./journal-entry.ts";
import type { Sandbox } from "./sandbox.ts";

const answered = { ...{ status: 200, code: null, path: "", query: "", response_headers: [], id: "req" } };
const answer = (sandbox: Sandbox, change?: WorldChange, fields: object = {}) => {
  const lists = { request_headers: [], reasons: [], warnings: [], method: "GET", decision: "ok" };
  return sandbox.journal.add(
    { ...answered, ...lists, ...fields } as unknown as ExchangeDetails,
    change?.entry,
  );
};

function put(
  { world }: Sandbox,
  text: string,
  change = makeRequest(world, "key_a"),
  id = "note_1",
): WorldChange {
  world.transact((tx) => tx.put(notes, { id, text }), { change });
  return change;
}

it("a request that changes the world is one entry, whichever part ends first [interfaces 10]", () => {
  const sandbox = makeSandbox(LIMIT);
  const [first, second] = [put(sandbox, "a"), put(sandbox, "b")];
  const lines = [answer(sandbox, second), answer(sandbox), answer(sandbox, first)];
  expect(
    lines.map(({ timelineEntry, sequence, history }) => [timelineEntry.number, sequence, history]),
  ).toEqual([
    [2, 1, "h_2"],
    [3, 2, null],
    [1, 3, "h_1"],
  ]);
  expect(sandbox.timeline.entries.map(({ number }) => number)).toEqual([1, 2, 3]);
  expect(sandbox.journal.entries()).toEqual(lines);
});

it("the bounds of journal and history each drop their own part of an entry [interfaces 10]", () => {
  const sandbox = makeSandbox(2);
  sandbox.journal.resize(300);
  for (let i = 0; i < 1000; i++) answer(sandbox, put(sandbox, String(i)));
  expect([sandbox.history.size, sandbox.history.dropped]).toEqual([2, 998]);
  expect([sandbox.journal.size, sandbox.journal.dropped]).toEqual([300, 700]);
  expect(sandbox.history.entries().map(({ sequence }) => sequence)).toEqual([999, 1000]);
  expect(sandbox.journal.entries().map(({ timelineEntry }) => timelineEntry.number)[0]).toBe(701);
  // Entries whose request and change were both dropped do not accumulate, even if entries before and after them remain.
  for (let i = 0; i < 10_000; i++) answer(sandbox);
  expect(sandbox.timeline.entries.length).toBeLessThan(700);
  sandbox.journal.clear();
  expect(sandbox.timeline.entries.map(({ number }) => number)).toEqual([999, 1000]);
});

it("a request whose change was evicted meanwhile gets its own entry [interfaces 10]", () => {
  const sandbox = makeSandbox(1);
  const change = put(sandbox, "first");
  put(sandbox, "second");
  const line = answer(sandbox, change);
  expect([line.timelineEntry.number, line.history]).toEqual([3, "h_1"]);
  expect(sandbox.timeline.entries).toContain(line.timelineEntry);
});

it("a request stays in the journal if more others than that keeps were answered before it [interfaces 10]", () => {
  const sandbox = makeSandbox(LIMIT);
  sandbox.journal.resize(2);
  const change = put(sandbox, "first");
  for (let i = 0; i < 3; i++) answer(sandbox);
  const line = answer(sandbox, change);
  expect(sandbox.journal.entries().slice(-1)).toEqual([line]);
  expect([line.timelineEntry.number, line.history]).toEqual([5, "h_1"]);
});

it("a change whose entry was dropped continues in a new entry, which names it as its cause [interfaces 10]", () => {
  const sandbox = makeSandbox(LIMIT);
  const change = put(sandbox, "x");
  for (let i = 0; i < LIMIT; i++) sandbox.recorder.recordBytes({ change: makeRequest(sandbox.world) });
  put(sandbox, "x", change, "note_2");
  expect(sandbox.history.newest).toMatchObject({
    ...{ sequence: LIMIT + 2, cause: change.entry!.id, subject: "note_2" },
  });
});

it("several commits of one request are one change, whose counts grow [interfaces 10]", () => {
  const sandbox = makeSandbox(LIMIT);
  const change = put(sandbox, "x");
  expect(change.entry!.changes).toEqual({ notes: { added: 1, removed: 0, changed: 0 } });
  put(sandbox, "y", change);
  put(sandbox, "x", change, "note_2");
  expect(sandbox.history.entries().map(({ changes }) => changes)).toEqual([
    { notes: { added: 2, removed: 0, changed: 0 } },
  ]);
});

it("the title of a change contains the refusal that the client saw [interfaces 10]", () => {
  const sandbox = makeSandbox(LIMIT);
  answer(sandbox, put(sandbox, "a"));
  answer(sandbox, put(sandbox, "b"), { status: 503, code: "SERVICE_UNAVAILABLE" });
  answer(sandbox, put(sandbox, "c"), { status: 0 });
  expect(sandbox.history.entries().map(({ title }) => title)).toEqual([
    "key_a: Write a note.",
    "key_a: Write a note; it was done, but answered 503 SERVICE_UNAVAILABLE.",
    "key_a: Write a note; it was done, but answered by a broken connection.",
  ]);
});

it("states are released oldest first, and their changes are still counted [interfaces 10]", () => {
  const sandbox = makeSandbox(100);
  const changes = Array.from({ length: 4 }, (_, i) => put(sandbox, String(i)));
  // An entry with one record takes 1536 bytes.
  sandbox.history.releaseStates(3100);
  expect(changes.map(({ entry }) => entry!.states !== undefined)).toEqual([false, false, true, true]);
  expect(changes[0]!.entry!.changes).toEqual({ notes: { added: 1, removed: 0, changed: 0 } });
  const { before, after } = changes[2]!.entry!.states!;
  expect(readState(sandbox, before)).toMatchObject({ rows: [{ text: "1" }] });
  expect(readState(sandbox, after)).toMatchObject({ rows: [{ text: "2" }] });
});
