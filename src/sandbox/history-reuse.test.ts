import fc from "fast-check";
import Type from "typebox";
import { expect, it } from "vitest";
import { quietParts } from "../../test/support/quiet-sandboxes.ts";
import { collection } from "../state/collection.ts";
import { drawRequestId } from "../state/random.ts";
import { Tables } from "../state/tables.ts";
import { timers } from "../state/timers.ts";
import type { Transaction } from "../state/transaction.ts";
import type { World } from "../state/world.ts";
import type { KeptState } from "./entry-states.ts";
import type { Act, HistoryEntry } from "./history-entry.ts";
import { minuteOf } from "./rate-windows.ts";
import { SandboxRegistry } from "./registry.ts";
import type { Sandbox } from "./sandbox.ts";

interface Note {
  id: string;
  text: string;
}
const notes = collection<Note>({ name: "notes", prefix: "note_", idField: "id", schema: Type.Object({}) });
const START = Date.parse("2026-03-15T12:00:00.000Z");
const LIMIT = 5;

function makeSandbox(history_limit: number): Sandbox {
  const root = { tables: Tables.empty([notes, timers]), draws: 0 };
  const registry = new SandboxRegistry(
    quietParts({
      fixtures: {
        load: () => ({ name: "reuse", document: () => ({}), leastRecords: () => 0, root: () => root }),
      },
      defaults: { fixture: "reuse", seed: 1, clock: { mode: "frozen", now: START }, settings: {} },
      wallClock: () => START,
    }),
  );
  return registry.create({ name: "a", settings: { history_limit } });
}

interface Write {
  do: "write";
  id: number;
  text: string;
  key: string;
  /** Records that each commit of the request writes; none: nothing but bytes of an upload. */
  commits: readonly number[];
  /** Somebody looks between two of them. */
  isWatched: boolean;
  isAnswered: boolean;
}
type Step = Write | { do: "hold" | "present" | "control" | "letGo" } | { do: "goOn"; nth: number };

const write: fc.Arbitrary<Write> = fc.record({
  do: fc.constant("write" as const),
  id: fc.nat({ max: 3 }),
  text: fc.string({ maxLength: 2 }),
  key: fc.constantFrom("key_a", "key_b"),
  commits: fc.constantFrom([1], [1], [2], [1, 3], []),
  isWatched: fc.constantFrom(false, false, false, true),
  isAnswered: fc.constantFrom(true, true, true, false),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: write },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom("hold" as const, "present" as const, "letGo" as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("control" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("goOn" as const), nth: fc.nat({ max: 20 }) }) },
);

/** All that a moment says. */
function momentOf({ root, now, requests, windows, counted, frame }: KeptState): object {
  const { tables, draws } = root.value;
  const rows = [...tables.get("notes")!.all()];
  return { rows, draws, now, requests, windows: windows.entries(), counted, uploads: frame.uploads };
}

function told(entry: HistoryEntry): object {
  const { states, journaled, journal } = entry;
  return {
    story: entry.toJSON(),
    places: { journaled, journal },
    before: states && momentOf(states.before),
    after: states && momentOf(states.after),
  };
}

class Driver {
  readonly sandbox: Sandbox;
  private readonly unanswered: Act[] = [];
  private requests = 0;
  /** What was handed out, and what it said then. */
  readonly held: { now: () => object; first: object }[] = [];

  constructor(limit: number) {
    this.sandbox = makeSandbox(limit);
  }

  run(one: Step): void {
    const { world, history, recorder } = this.sandbox;
    if (one.do === "write") this.write(one);
    else if (one.do === "goOn") {
      const act = this.unanswered[one.nth % Math.max(1, this.unanswered.length)];
      if (act === undefined) return;
      // Where nothing came between, an entry that was evicted is not gone on with, one without a bound is.
      if (act.entry!.sequence <= history.lastSequence - LIMIT) this.run({ do: "control" });
      this.commit(act, [0, 1], "went on");
    } else if (one.do === "hold") for (const entry of history.entries()) this.holdIfOver(entry);
    else if (one.do === "letGo") history.letGoOf(0);
    else if (one.do === "present") {
      const present = recorder.present();
      this.hold(() => momentOf(present));
    } else {
      const began = { state: recorder.present(), position: history.lastSequence };
      const act: Act = { kind: "control", title: "set", subject: undefined, began };
      world.transact((tx) => tx.put(notes, { id: "note_0", text: `set ${this.requests++}` }), { act });
      recorder.finish(act);
    }
  }

  /** What is under way may say more later. */
  private holdIfOver(entry: HistoryEntry): void {
    if ((entry.isOver || entry.kind !== "request") && entry.states !== undefined) {
      const { states } = entry;
      const moments = () => ({ before: momentOf(states.before), after: momentOf(states.after) });
      this.hold(() => ({ story: entry.toJSON(), ...moments() }));
    }
  }

  private hold(now: () => object): void {
    this.held.push({ now, first: now() });
  }

  private write({ id, text, key, commits, isWatched, isAnswered }: Write): void {
    const { world, windows } = this.sandbox;
    const number = world.requests++;
    const at = world.epochNow();
    windows.count(key, 1000, at);
    const request = {
      ...{ idSeed: -7, number, summary: "Write a note", principal: key },
      counted: { key_id: key, minute: minuteOf(at) },
      uploads: undefined,
    };
    const act: Act = { kind: "request", title: "a write", subject: undefined, request };
    if (commits.length === 0) this.sandbox.recorder.noteBytes({ act });
    for (const [i, records] of commits.entries()) {
      if (i > 0 && isWatched) this.run({ do: "hold" });
      this.commit(act, [id + i, records], `${text} ${number}`);
    }
    expect(act.entry!.request).toBe(drawRequestId(-7, number));
    if (!isAnswered) this.unanswered.push(act);
    else {
      answer(act.entry!, number + 1);
      act.entry = undefined;
    }
  }

  private commit(act: Act, [id, records]: readonly [number, number], text: string): void {
    const change = (tx: Transaction) => {
      for (let i = 0; i < records; i++) tx.put(notes, { id: `note_${id + i}`, text });
    };
    this.sandbox.world.transact(change, { act });
  }
}

const request = (...commits: number[]): Write => ({
  ...{ do: "write", id: 0, text: "", key: "key_a", commits },
  ...{ isWatched: false, isAnswered: true },
});
const goOn: Step = { do: "goOn", nth: 0 };
/** What was missed once, and is seldom drawn. */
const FOUND: Step[][] = [
  // Whoever holds an entry holds the root that it goes on to.
  [
    { ...request(1, 3), isWatched: true, isAnswered: false },
    ...[request(1), goOn, request(1), request(1), goOn, request(1), request(1), goOn],
  ],
  // What changed no record begins and ends at the root that the next one begins with.
  [request(1), request(), request(), request(1), request(1), request(1), request(1), request(1)],
];

it("interfaces 10 entries are as in a history without a bound, though evicted ones are written anew", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const bounded = new Driver(LIMIT);
      const whole = new Driver(10_000);
      for (const one of steps) {
        bounded.run(one);
        whole.run(one);
      }
      const newest = bounded.sandbox.history.entries().map(told);
      const all = whole.sandbox.history.entries().map(told);
      expect(newest).toEqual(all.slice(-LIMIT));
      for (const { now, first } of bounded.held) expect(now()).toEqual(first);
    }),
    { numRuns: 500, examples: FOUND.map((steps) => [steps]) },
  );
});

function answer(entry: HistoryEntry, journaled: number): void {
  entry.answered(journaled % 5 === 4 ? "503" : undefined, journaled);
  entry.isOver = true;
}

function asked(world: World): Act {
  const request = {
    ...{ idSeed: 0, number: world.requests++, summary: "Write", principal: undefined },
    ...{ counted: undefined, uploads: undefined },
  };
  return { kind: "request", title: "a write", subject: undefined, request };
}

it("interfaces 10 an answered request's entry is written anew once it is evicted, unless somebody was handed it", () => {
  const { world, history } = makeSandbox(LIMIT);
  const add = (isAnswered = true): HistoryEntry => {
    const act = asked(world);
    world.transact((tx) => tx.put(notes, { id: "note_1", text: String(act.request!.number) }), { act });
    const entry = act.entry!;
    if (isAnswered) answer(entry, 1);
    return entry;
  };
  const many = () => Array.from({ length: LIMIT }, () => add());
  const first = many();
  const states = first.map((entry) => entry.states!);
  const roots = states.map(({ from }) => from);
  const second: number[][] = [];
  for (let i = 0; i < LIMIT; i++) {
    const entry = add();
    second.push([first.indexOf(entry), states.indexOf(entry.states!), roots.indexOf(entry.states!.to)]);
  }
  expect(second).toEqual([-1, 0, 1, 2, 3].map((place) => [place, place, place]));
  history.entries();
  // Of those that were lent none; the spare one had gone before.
  expect(many().map((entry) => first.indexOf(entry))).toEqual([4, -1, -1, -1, -1]);
  const unanswered = add(false);
  many();
  expect(many().includes(unanswered)).toBe(false);
});

it("interfaces 10 an act whose entry was evicted goes on in another, of which that is the cause", () => {
  const { world, history, recorder } = makeSandbox(LIMIT);
  const act = asked(world);
  world.transact((tx) => tx.put(notes, { id: "note_1", text: "x" }), { act });
  const { id } = act.entry!;
  for (let i = 0; i < LIMIT; i++) recorder.noteBytes({ act: asked(world) });
  world.transact((tx) => tx.put(notes, { id: "note_2", text: "x" }), { act });
  expect(history.newest).toMatchObject({ sequence: LIMIT + 2, cause: id, subject: "note_2" });
});

it("interfaces 10 whoever holds an entry holds what it goes on to", () => {
  const { world, history } = makeSandbox(LIMIT);
  const put = (act: Act, text: string) =>
    world.transact((tx) => tx.put(notes, { id: "note_1", text }), { act });
  const act = asked(world);
  put(act, "first");
  const [held] = history.entries();
  put(act, "second");
  for (let i = 0; i < 3 * LIMIT; i++) {
    const other = asked(world);
    put(other, "other");
    answer(other.entry!, 1);
  }
  expect(momentOf(held!.states!.after)).toMatchObject({ rows: [{ id: "note_1", text: "second" }] });
});

it("interfaces 10 an act that goes on is one entry, though somebody looked in between", () => {
  const { world, history } = makeSandbox(LIMIT);
  const act = asked(world);
  world.transact((tx) => tx.put(notes, { id: "note_1", text: "x" }), { act });
  expect(history.entries()[0]!.changes).toEqual({ notes: { added: 1, removed: 0, changed: 0 } });
  world.transact((tx) => tx.put(notes, { id: "note_2", text: "x" }), { act });
  expect(history.entries().map(({ changes }) => changes)).toEqual([
    { notes: { added: 2, removed: 0, changed: 0 } },
  ]);
});
