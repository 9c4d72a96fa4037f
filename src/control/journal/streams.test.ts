import { expect, it, vi } from "vitest";
import { HeldExchanges } from "../../engine/sandbox/held.ts";
import type { Journal } from "../../engine/sandbox/journal.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { listNewestFirst } from "../list-entries.ts";
import { readLastEvent, streamEntries, waitForChange } from "../stream-entries.ts";
import { type LiveBody, streamLive } from "../stream-live.ts";

/** One id for all logs. */
let revision = 0;

/** A journal or history with entries at these positions, with the methods that a stream uses. */
class Log {
  kept: object[] = [];
  lastSequence = 0;
  isClosed = false;
  clearCount = 0;
  dropped = 0;
  readonly listeners = new Set<() => void>();
  add(more: object = {}) {
    this.lastSequence += 1;
    this.kept.push({ ...makeEntry(this.lastSequence), ...more });
    this.tell();
    return this.kept.at(-1)!;
  }
  clear() {
    this.kept = [];
    this.clearCount += 1;
    this.tell();
  }
  close() {
    this.isClosed = true;
    this.tell();
  }
  tell() {
    for (const listener of [...this.listeners]) listener();
  }
  entries = () => this.kept;
  listSince = (at: number) => this.kept.filter((one) => (one as { sequence: number }).sequence > at);
  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

const makeEntry = (sequence: number) => ({
  ...{ id: `e_${sequence}`, sequence, at: 0, operation: null, method: "GET", path: "/v1/x", query: "a=1" },
  ...{ status: 200, code: null, duration_ms: 1, principal: null, api_key: null, decision: "ok", reasons: [] },
  ...{
    request_headers: [],
    response_headers: [],
    timelineEntry: { number: sequence, isUndone: false },
    warnings: [],
    history: null,
    kind: "control",
    title: "It.",
  },
  ...{ subject: null, cause: null, advanced_by: null, request: null, journal: 0, delivered: null },
  ...{ changes: {}, states: undefined, revision: ++revision },
});

type Kind = "journal" | "history";
function follow(log: Log, kind: Kind, after: number | undefined, matches = (_: object) => true) {
  const leaving = new AbortController();
  const forget = vi.spyOn(leaving.signal, "removeEventListener");
  const followed = log as unknown as Journal;
  const stream = streamEntries(
    kind,
    followed,
    { after, matches, render: ({ id }) => ({ id }) },
    leaving.signal,
  );
  const pieces = stream[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await pieces.next();
    return done
      ? "end"
      : String(value)
          .replace(/data: .*?"id":"(\w+)".*/, "$1")
          .trim();
  };
  return { next, leave: () => leaving.abort(), forget };
}
const waitForTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

it.each<Kind>(["journal", "history"])(
  "the %s is followed from its end, or from a position [interfaces 10]",
  async (kind) => {
    const log = new Log();
    log.add();
    log.add();
    const fresh = follow(log, kind, undefined);
    expect(await fresh.next()).toBe(`: the ${kind} of this sandbox`);
    const coming = fresh.next();
    await waitForTurn();
    expect(log.listeners.size).toBe(1);
    log.add();
    expect(await coming).toBe("id: 3\ne_3");
    expect([log.listeners.size, fresh.forget.mock.calls.map(([name]) => name)]).toEqual([0, ["abort"]]);
    const again = follow(log, kind, 1);
    expect([await again.next(), await again.next(), await again.next()]).toEqual([
      `: the ${kind} of this sandbox`,
      "id: 2\ne_2",
      "id: 3\ne_3",
    ]);
    // A position after the end comes from an earlier run of the server, so all entries of this run are new.
    const ahead = follow(log, kind, 99);
    expect([await ahead.next(), await ahead.next()]).toEqual([`: the ${kind} of this sandbox`, "id: 1\ne_1"]);
  },
);

it.each<Kind>(["journal", "history"])(
  "a stream of the %s reports lost entries, and ends with the log [interfaces 10]",
  async (kind) => {
    const log = new Log();
    for (let i = 0; i < 5; i++) log.add();
    log.kept.splice(0, 3);
    const late = follow(log, kind, 1);
    await late.next();
    expect(await late.next()).toBe(`: 2 entries were lost to the ${kind}'s bound`);
    expect(await late.next()).toBe("id: 4\ne_4");
    expect(await late.next()).toBe("id: 5\ne_5");
    const ending = late.next();
    await waitForTurn();
    log.close();
    expect(await ending).toBe("end");
    const left = follow(new Log(), kind, undefined);
    await left.next();
    const waiting = left.next();
    await waitForTurn();
    left.leave();
    expect(await waiting).toBe("end");
  },
);

it("the journal's stream has the entries that match, and continues after a clear [interfaces 4]", async () => {
  const log = new Log();
  const even = follow(log, "journal", 0, (one) => (one as { sequence: number }).sequence % 2 === 0);
  await even.next();
  for (let i = 0; i < 4; i++) log.add();
  expect([await even.next(), await even.next()]).toEqual(["id: 2\ne_2", "id: 4\ne_4"]);
  log.add();
  log.clear();
  const next = even.next();
  await waitForTurn();
  log.add();
  expect(await next).toBe("id: 6\ne_6");
});

it("waiting for an entry ends when the journal is closed or the reader leaves [interfaces 4]", async () => {
  const log = new Log();
  const wait = (signal: AbortSignal) => waitForChange([log], signal);
  await wait(AbortSignal.abort());
  log.close();
  await wait(new AbortController().signal);
  expect(log.listeners.size).toBe(0);
});

/** A sandbox with these logs, with the methods that a page's stream uses. */
function createSandbox(journal: Log, history: Log): Sandbox {
  const entries = () => [
    ...journal.kept.map((exchange) => ({ exchange })),
    ...history.kept.map((change) => ({ change })),
  ];
  const timeline = {
    get entries() {
      return entries();
    },
    get revision() {
      return revision;
    },
  };
  return { journal, history, timeline, held: new HeldExchanges() } as unknown as Sandbox;
}

it("a page gets all stored entries, then new ones, and is notified when to drop them [interfaces 11]", async () => {
  const [journal, history] = [new Log(), new Log()];
  journal.dropped = 7;
  for (let i = 0; i < 251; i++) journal.add(i === 0 ? { reasons: ["why"], warnings: ["a", "b"] } : {});
  journal.add({ delivery: {} });
  const changing = history.add() as { revision: number };
  Reflect.deleteProperty(changing, "request_headers");
  const leaving = new AbortController();
  const live = (after?: string) => {
    const stream = streamLive(createSandbox(journal, history), after, leaving.signal);
    const pieces = stream[Symbol.asyncIterator]();
    return async () => {
      const { value, done } = await pieces.next();
      if (done) return undefined;
      const [, id, data] = /^id: (\S+)\ndata: (.*)\n\n$/.exec(String(value))!;
      const { begins, requests, history, dropped } = JSON.parse(data!) as LiveBody;
      const received = [
        begins,
        requests.map(({ sequence }) => sequence),
        history.map((one) => one.id),
        dropped,
      ];
      return { id: id!, received, first: requests[0] };
    };
  };
  const next = live();
  const first = (await next())!;
  const countUp = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
  expect(first.received).toEqual([true, countUp(1, 250), [], 7]);
  expect(first.first).toEqual({
    ...{ id: "e_1", seq: 1, sequence: 1, at: "1970-01-01T00:00:00.000Z", operation: null, method: "GET" },
    ...{ path: "/v1/x", query: "a=1", status: 200, code: null, duration_ms: 1, principal: null },
    ...{ decision: "ok", history: null, why: "why", warnings: 2 },
  });
  // A delivery attempt is not a request, but its history entry is sent.
  const second = (await next())!;
  expect(second.received).toEqual([false, [251], ["e_1"], 7]);
  const coming = next();
  await waitForTurn();
  expect([journal.listeners.size, history.listeners.size]).toEqual([1, 1]);
  changing.revision = ++revision;
  history.tell();
  expect((await coming)!.received).toEqual([false, [], ["e_1"], 7]);
  expect([journal.listeners.size, history.listeners.size]).toEqual([0, 0]);
  // A client that was cut off continues; one with another server's id starts over.
  expect((await live(first.id)())!.received).toEqual([false, [251], ["e_1"], 7]);
  expect((await live(`other-0.250`)())!.received[0]).toBe(true);
  expect((await live(`${first.id}x`)())!.received[0]).toBe(true);
  const cleared = next();
  await waitForTurn();
  journal.clear();
  expect((await cleared)!.received).toEqual([true, [], ["e_1"], 7]);
  const end = next();
  await waitForTurn();
  leaving.abort();
  expect(await end).toBeUndefined();
  expect(await live()()).toBeUndefined();
});

it("the stream of a deleted sandbox ends [interfaces 11]", async () => {
  const [journal, history] = [new Log(), new Log()];
  const { signal } = new AbortController();
  const pieces = streamLive(createSandbox(journal, history), undefined, signal)[Symbol.asyncIterator]();
  await pieces.next();
  const end = pieces.next();
  await waitForTurn();
  journal.close();
  expect((await end).done).toBe(true);
});

it.each([
  [undefined, undefined],
  ["0", 0],
  ["123456789012345", 123_456_789_012_345],
])("Last-Event-ID %s is read as the position %s [interfaces 10]", (text, position) => {
  expect(readLastEvent(text === undefined ? {} : { "last-event-id": text })).toBe(position);
});

it.each(["", "x1", "1x", "-1", "1.5", "1234567890123456"])(
  "Last-Event-ID %s is refused [interfaces 10]",
  (text) => {
    expect(() => readLastEvent({ "last-event-id": text })).toThrow(
      "must be the id of an event of this stream",
    );
  },
);

it("lists begin with the newest matching entry [interfaces 4]", () => {
  const log = { entries: () => [1, 2, 3, 4, 5].map((n) => ({ at: n * 86_400_000 })), dropped: 9 };
  const listNewest = (since: string | undefined, limit: number, matches = (_: { at: number }) => true) =>
    listNewestFirst(log, { since, limit }, { matches, render: ({ at }) => at / 86_400_000 });
  expect(listNewest(undefined, 100)).toEqual({ entries: [5, 4, 3, 2, 1], total: 5, dropped: 9 });
  expect(listNewest(undefined, 2)).toEqual({ entries: [5, 4], total: 5, dropped: 9 });
  expect(listNewest("1970-01-04", 1)).toEqual({ entries: [5], total: 3, dropped: 9 });
  expect(listNewest("1970-01-04", 9, ({ at }) => at < 5 * 86_400_000)).toEqual({
    entries: [4, 3],
    total: 2,
    dropped: 9,
  });
  expect(() => listNewest("soon", 1)).toThrow("since must be a date such as 2026-03-15, or a time");
});
