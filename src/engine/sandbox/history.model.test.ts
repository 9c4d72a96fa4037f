import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { completeParts } from "../../../test/support/registry-parts.ts";
import { collection } from "../state/collection.ts";
import { Tables } from "../state/tables.ts";
import { timers } from "../state/timers.ts";
import { encodeWorld } from "../state/world-document.ts";
import type { HistoryEntry, WorldChange } from "./history-entry.ts";
import { toMinute } from "./rate-windows.ts";
import { SandboxRegistry } from "./registry.ts";
import type { Sandbox } from "./sandbox.ts";

interface Note {
  id: string;
  text: string;
}
const notes = collection<Note>({ name: "notes", prefix: "note_", idField: "id", schema: Type.Object({}) });

const START = Date.parse("2026-03-15T12:00:00.000Z");
const MINUTE = 60_000;
const KEY = "apikey_a";

function makeRegistry(): SandboxRegistry {
  const root = { tables: Tables.empty([notes, timers]), draws: 0 };
  return new SandboxRegistry(
    completeParts({
      fixtures: {
        load: () => ({
          name: "model",
          getDocument: () => ({}),
          getMinimumRecordCount: () => 0,
          buildRoot: () => root,
        }),
      },
      defaults: { fixture: "model", seed: 1, clock: { mode: "frozen", now: START }, settings: {} },
      wallClock: () => START,
      worldParts: () => ({
        timerHandlers: {
          // The timer sets itself again, so that undoing an advance has a timer to restore.
          expiry: (tx, { subject, due }) => {
            tx.put(notes, { id: `note_${subject}`, text: `due ${due}` });
            tx.schedule({ kind: "expiry", subject, due: due + 7 * MINUTE });
          },
        },
        onEmit: () => {},
        onCommit: () => {},
      }),
    }),
  );
}

/** The state that a rewind restores, as a snapshot contains it, without rate windows that have ended. */
function readState(sandbox: Sandbox): object {
  const { world, windows, taken_at } = sandbox.toValue();
  const open = windows.toJSON().filter(([, { minute }]) => minute === Math.floor(taken_at / MINUTE));
  return { world: encodeWorld(world), windows: Object.fromEntries(open) };
}

/** An entry in the model: copies of the world before and after it, and the line of entries that leads to it. */
interface ModelEntry {
  before: object;
  after: object;
  /** The positions of all entries that lead to this one. */
  line: ReadonlySet<number>;
}

type Command =
  | { do: "put" | "remove"; id: number; text: string }
  | { do: "schedule"; id: number; minutes: number }
  | { do: "advance"; minutes: number }
  | { do: "count" }
  | { do: "rewind" | "fork"; nth: number; to: "before" | "after" };

const id = fc.integer({ min: 0, max: 4 });
const minutes = fc.integer({ min: 0, max: 30 });
const to = fc.constantFrom("before" as const, "after" as const);
const nth = fc.nat({ max: 100 });
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("put" as const, "remove" as const),
      id,
      text: fc.constantFrom("x", "y", "z"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("schedule" as const), id, minutes }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("advance" as const), minutes }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("count" as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("rewind" as const), nth, to }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fork" as const), nth, to }) },
);

class Machine {
  readonly registry = makeRegistry();
  readonly sandbox = this.registry.create({ name: "a" });
  private readonly known = new Map<number, ModelEntry>();
  private line: ReadonlySet<number> = new Set();

  async run(step: Command): Promise<void> {
    const { world, windows, history, recorder } = this.sandbox;
    switch (step.do) {
      case "put":
        this.request((change) =>
          world.transact((tx) => tx.put(notes, { id: `note_${step.id}`, text: step.text }), { change }),
        );
        break;
      case "remove":
        this.request((change) => world.transact((tx) => tx.remove(notes, `note_${step.id}`), { change }));
        break;
      case "schedule": {
        const due = world.epochNow() - world.origin + step.minutes * MINUTE + 1;
        const timer = { kind: "expiry" as const, subject: String(step.id), due };
        this.request((change) => world.transact((tx) => tx.schedule(timer), { change }));
        break;
      }
      case "count":
        windows.count(KEY, 1000, world.epochNow());
        break;
      case "advance": {
        const before = readState(this.sandbox);
        const began = { state: recorder.getState(), position: history.lastSequence };
        const change: WorldChange = { kind: "control", title: "advanced", subject: undefined, began };
        const ran = await world.runAs({ change }, () => world.advance((now) => now + step.minutes * MINUTE));
        if (step.minutes === 0) break;
        recorder.complete(change);
        // One entry for the call and one for each timer that ran, which the model does not inspect.
        const entries = history.listSince(began.position);
        expect(entries.length).toBe(ran.length + 1);
        this.note(change.entry!, before, entries);
        break;
      }
      case "rewind": {
        const entry = this.chosen(step.nth);
        if (entry === undefined) break;
        const before = readState(this.sandbox);
        const known = this.known.get(entry.sequence)!;
        const began = { state: recorder.getState(), position: history.lastSequence };
        const change: WorldChange = { kind: "restore", title: "rewound", subject: entry.id, began };
        const { states } = entry;
        this.sandbox.rewind(states![step.to]);
        recorder.recordRewind(change, step.to === "before" ? entry.sequence - 1 : states!.endPosition);
        expect(readState(this.sandbox)).toEqual(known[step.to]);
        const beforeIt = this.lines.get(entry.sequence - 1) ?? new Set();
        this.line = step.to === "before" ? beforeIt : known.line;
        this.note(change.entry!, before, [change.entry!]);
        break;
      }
      case "fork": {
        const entry = this.chosen(step.nth);
        if (entry === undefined) break;
        const { fork } = this.registry.fork(this.sandbox, "b", entry.states![step.to]);
        expect(readState(fork)).toEqual(this.known.get(entry.sequence)![step.to]);
        this.registry.delete("b");
      }
    }
    this.check();
  }

  /** The line of each entry at the time when it was the newest. */
  private readonly lines = new Map<number, ReadonlySet<number>>();

  private request(make: (change: WorldChange) => void): void {
    const { world, windows, history } = this.sandbox;
    const before = readState(this.sandbox);
    const position = history.lastSequence;
    // In the order of the pipeline: the request is numbered and counted on arrival, and changes the world later.
    const number = world.requests++;
    const at = world.epochNow();
    windows.count(KEY, 1000, at);
    const request = {
      ...{ idSeed: 0, number, summary: "Write", principal: undefined },
      counted: { key_id: KEY, minute: toMinute(at) },
      upload: undefined,
    };
    const change: WorldChange = { kind: "request", title: "asked", subject: undefined, request };
    make(change);
    const entry = change.entry;
    if (entry !== undefined) this.note(entry, before, history.listSince(position));
    else expect(history.lastSequence).toBe(position);
  }

  private note(entry: HistoryEntry, before: object, entries: readonly HistoryEntry[]): void {
    for (const { sequence } of entries) {
      this.line = new Set([...this.line, sequence]);
      this.lines.set(sequence, this.line);
    }
    this.known.set(entry.sequence, { before, after: readState(this.sandbox), line: this.line });
  }

  private chosen(nth: number): HistoryEntry | undefined {
    const entries = this.sandbox.history.entries().filter(({ sequence }) => this.known.has(sequence));
    return entries[nth % Math.max(1, entries.length)];
  }

  private check(): void {
    const { history } = this.sandbox;
    const entries = history.entries();
    const undone = entries
      .filter(({ timelineEntry }) => timelineEntry.isUndone)
      .map(({ sequence }) => sequence);
    const expected = entries.map(({ sequence }) => sequence).filter((one) => !this.line.has(one));
    if (!isDeepStrictEqual(undone, expected)) expect(undone).toEqual(expected);
    expect(new Set(entries.map((entry) => entry.id)).size).toBe(entries.length);
  }
}

describe("rewind and fork [interfaces 10]", () => {
  it("agree with copies of the world before and after every entry, over 500 sequences [interfaces 10]", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 40, size: "max" }), async (steps) => {
        const machine = new Machine();
        for (const step of steps) await machine.run(step);
        machine.registry.close();
      }),
      { numRuns: 500, verbose: 1 },
    );
  });
});
