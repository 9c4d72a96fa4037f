import fc from "fast-check";
import { expect, it } from "vitest";
import { asked, LIMIT, makeSandbox, momentOf, notes } from "../../../test/support/note-sandboxes.ts";
import { drawRequestId } from "../state/random.ts";
import type { Transaction } from "../state/transaction.ts";
import type { Act, HistoryEntry } from "./history-entry.ts";
import type { Sandbox } from "./sandbox.ts";

interface Write {
  do: "write";
  id: number;
  text: string;
  key: string | undefined;
  /** Records that each commit of the request writes; none: nothing but bytes of an upload. */
  commits: readonly number[];
  /** Somebody looks between two of them. */
  isWatched: boolean;
  isAnswered: boolean;
}
type Step =
  | Write
  | { do: "hold" | "present" | "control" | "letGo" | "draw" | "reset" | "tick" }
  | { do: "leave"; id: number; kind: "webhook.retry" | "expiry"; seconds: number }
  | { do: "goOn"; nth: number }
  | { do: "rewind"; nth: number; to: "before" | "after" };

const write: fc.Arbitrary<Write> = fc.record({
  do: fc.constant("write" as const),
  id: fc.nat({ max: 3 }),
  text: fc.string({ maxLength: 2 }),
  key: fc.constantFrom("key_a", "key_a", "key_b", undefined),
  commits: fc.constantFrom([1], [1], [2], [1, 3], [5], []),
  isWatched: fc.constantFrom(false, false, false, true),
  isAnswered: fc.constantFrom(true, true, true, false),
});
const nth = fc.nat({ max: 20 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 24, arbitrary: write },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom("hold", "present", "letGo", "draw", "tick" as const) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("control" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ do: fc.constant("leave" as const), id: fc.nat({ max: 3 }), seconds: fc.nat({ max: 60 }) },
      kind: fc.constantFrom("webhook.retry", "expiry"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("goOn" as const), nth }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("rewind" as const), nth, to: fc.constantFrom("before", "after") }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reset" as const) }) },
);

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
  private underWay: Act[] = [];
  private requests = 0;
  /** What was handed out, and what it said then. */
  readonly held: { now: () => object; first: object }[] = [];
  private readonly looksAtAll: boolean;

  /** @param looksAtAll so that every request is an entry as soon as it has changed something */
  constructor(limit: number, looksAtAll = false) {
    this.sandbox = makeSandbox(limit);
    this.looksAtAll = looksAtAll;
  }

  run(one: Step): void {
    const { world, history, recorder } = this.sandbox;
    switch (one.do) {
      case "write":
        this.write(one);
        break;
      case "goOn":
        if (this.underWay.length > 0)
          this.commit(this.underWay[one.nth % this.underWay.length]!, [0, 1], "went on");
        break;
      case "hold":
        for (const entry of history.entries()) this.holdIfOver(entry);
        break;
      case "letGo":
        history.letGoOf(0);
        break;
      case "draw":
        world.transact((tx) => tx.random("alone"), { act: asked(world) });
        break;
      case "tick":
        world.passTo(world.epochNow() + 25_000);
        world.catchUp();
        break;
      case "leave": {
        const timer = {
          kind: one.kind,
          subject: `note_${one.id}`,
          due: world.epochNow() + one.seconds * 1000,
        };
        world.transact((tx) => tx.schedule(timer), { act: asked(world) });
        break;
      }
      case "reset":
        this.sandbox.reset();
        this.underWay = [];
        this.held.length = 0;
        break;
      case "present": {
        const present = recorder.present();
        this.hold(() => momentOf(present));
        break;
      }
      case "rewind":
        this.rewind(one);
        break;
      case "control": {
        const began = { state: recorder.present(), position: history.lastSequence };
        const act: Act = { kind: "control", title: "set", subject: undefined, began };
        world.transact((tx) => tx.put(notes, { id: "note_0", text: `set ${this.requests++}` }), { act });
        recorder.finish(act);
      }
    }
    if (this.looksAtAll) history.entries();
  }

  /** To one that a history with a bound has too. */
  private rewind({ nth, to }: { nth: number; to: "before" | "after" }): void {
    const { history, recorder } = this.sandbox;
    const entries = history.entries().slice(-LIMIT);
    const entry = entries[nth % Math.max(1, entries.length)];
    if (entry?.states === undefined) return;
    const began = { state: recorder.present(), position: history.lastSequence };
    const act: Act = { kind: "restore", title: "rewound", subject: entry.id, began };
    const { states } = entry;
    this.sandbox.rewind(states[to]);
    recorder.rewound(act, to === "before" ? entry.sequence - 1 : states.end);
  }

  /** What is under way may say more later. */
  private holdIfOver(entry: HistoryEntry): void {
    const { states, sequence } = entry;
    if (states === undefined || this.underWay.some((act) => positionOf(act) === sequence)) return;
    const moments = () => ({ before: momentOf(states.before), after: momentOf(states.after) });
    // A rewind may undo it.
    this.hold(() => ({ story: { ...entry.toJSON(), undone: null }, ...moments() }));
  }

  private hold(now: () => object): void {
    this.held.push({ now, first: now() });
  }

  private write({ id, text, key, commits, isWatched, isAnswered }: Write): void {
    const { world, windows, history } = this.sandbox;
    const act = asked(world, key);
    const { number } = act.request!;
    if (key !== undefined) windows.count(key, 1000, world.epochNow());
    if (commits.length === 0) this.sandbox.recorder.noteBytes({ act });
    const others = this.underWay;
    this.underWay = [...others, act];
    for (const [i, records] of commits.entries()) {
      if (i > 0 && isWatched) this.run({ do: "hold" });
      this.commit(act, [id + i, records], `${text} ${number}`);
    }
    const name = history.nameOf(act)!;
    if (isAnswered) {
      this.underWay = others;
      const status = number % 5 === 3 ? 503 : 201;
      history.answered(act, { status, code: null, sequence: number + 1 });
    }
    if (!this.looksAtAll) return;
    const entry = history.entryOf(act)!;
    expect(entry).toMatchObject({ ...name, request: drawRequestId(-7, number) });
  }

  private commit(act: Act, [id, records]: readonly [number, number], text: string): void {
    const change = (tx: Transaction) => {
      for (let i = 0; i < records; i++) tx.put(notes, { id: `note_${id + i}`, text });
    };
    this.sandbox.world.transact(change, { act });
    if (this.looksAtAll) this.sandbox.history.entries();
  }
}

function positionOf({ entry, position = entry?.sequence }: Act): number {
  return position!;
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
  // The sandbox was rewound to where an act that is under way stood.
  [{ ...request(), isAnswered: false }, request(1), { do: "rewind", nth: 0, to: "before" }, goOn],
];

it("interfaces 10 entries are the same whether somebody looks at each at once, late or when others have gone", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const drivers = [new Driver(LIMIT), new Driver(10_000), new Driver(10_000, true)];
      for (const one of steps) for (const driver of drivers) driver.run(one);
      const [newest, late, atOnce] = drivers.map(({ sandbox }) => sandbox.history.entries().map(told));
      expect(late).toEqual(atOnce);
      expect(newest).toEqual(late!.slice(-LIMIT));
      for (const { held } of drivers) for (const { now, first } of held) expect(now()).toEqual(first);
    }),
    { numRuns: 500, examples: FOUND.map((steps) => [steps]) },
  );
});

it.each([
  [300, 1000],
  [300, 200],
  [700, 129],
])(
  "interfaces 10 of %i requests that nobody has looked at, the newest %i are told as they were",
  (requests, limit) => {
    const drivers = [new Driver(limit), new Driver(10_000, true)];
    const wrote = (i: number): Write => ({
      ...request(1 + (i % 4)),
      id: i,
      key: i % 7 === 0 ? "key_b" : "key_a",
    });
    for (let i = 0; i < requests; i++) for (const driver of drivers) driver.run(wrote(i));
    const [late, atOnce] = drivers.map(({ sandbox }) => sandbox.history.entries().map(told));
    expect(late).toHaveLength(Math.min(requests, limit));
    expect(late).toEqual(atOnce!.slice(-limit));
  },
);
