import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { completeParts, NO_BLOBS } from "../../../test/support/registry-parts.ts";
import { collection } from "../state/collection.ts";
import { Tables } from "../state/tables.ts";
import { type Timer, timers } from "../state/timers.ts";
import { RateWindows } from "./rate-windows.ts";
import { SandboxRegistry } from "./registry.ts";
import type { Sandbox } from "./sandbox.ts";
import { decodeSnapshot, encodeSnapshot, type SnapshotDocument } from "./snapshots.ts";

interface Note {
  id: string;
  text: string;
}
const notes = collection<Note>({
  name: "notes",
  prefix: "note_",
  idField: "id",
  schema: Type.Object({}),
  indexes: { by_text: { groups: ({ text }) => [text], order: ({ id }) => id } },
});

const START = Date.parse("2026-03-15T12:00:00.000Z");
const NAMES = ["a", "b", "c"] as const;
const SNAPS = ["s1", "s2"] as const;
const MINUTE = 60_000;

/** The content of a snapshot in the model. */
interface StoredState {
  notes: Record<string, string>;
  due: Record<string, number>;
  now: number;
  draws: number;
  seed: number;
  counted: number;
}
interface Model {
  present: StoredState;
  first: StoredState;
  snapshots: Map<string, StoredState>;
}

const makeState = (seed: number): StoredState => ({
  notes: { note_0: "seed" },
  due: {},
  now: START,
  draws: 0,
  seed,
  counted: 0,
});
const copy = (held: StoredState): StoredState => structuredClone(held);

function makeRegistry(): SandboxRegistry {
  const roots = new Map<number, ReturnType<typeof makeRoot>>();
  const makeRoot = () => {
    const tables = Tables.empty([notes, timers]);
    return { tables: tables.replace(tables.get("notes")!.put({ id: "note_0", text: "seed" })), draws: 0 };
  };
  return new SandboxRegistry(
    completeParts({
      fixtures: {
        load: () => ({
          name: "model",
          getDocument: () => ({}),
          getMinimumRecordCount: () => 1,
          buildRoot: (seed) => {
            const root = roots.get(seed) ?? makeRoot();
            roots.set(seed, root);
            return root;
          },
        }),
      },
      defaults: { fixture: "model", seed: 1, clock: { mode: "frozen", now: START }, settings: {} },
      wallClock: () => START,
      worldParts: () => ({
        // A timer leaves a record, so that the model sees if it does not run, or runs twice.
        timerHandlers: {
          expiry: (tx, timer) =>
            void tx.put(notes, { id: `note_${timer.subject}`, text: `due ${timer.due}` }),
        },
        onEmit: () => {},
        onCommit: () => {},
      }),
    }),
  );
}

type Command =
  | { do: "put" | "remove"; at: string; id: number; text: string }
  | { do: "draw" | "count" | "reset" | "delete"; at: string }
  | { do: "reseed"; at: string; seed: number }
  | { do: "schedule"; at: string; id: number; minutes: number }
  | { do: "advance"; at: string; minutes: number }
  | { do: "save" | "restore"; at: string; snap: string }
  | { do: "fork"; at: string; to: string }
  | { do: "carry"; at: string; snap: string; to: string };

const at = fc.constantFrom("a", ...NAMES);
const id = fc.integer({ min: 0, max: 4 });
const snap = fc.constantFrom(...SNAPS);
const minutes = fc.integer({ min: 0, max: 90 });
/** Weighted so that most sequences restore what they saved and changed before. */
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("put" as const, "remove" as const),
      at,
      id,
      text: fc.constantFrom("x", "y", "z"),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("draw" as const, "count" as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("reset" as const, "delete" as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("reseed" as const), at, seed: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("schedule" as const), at, id, minutes }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("advance" as const), at, minutes }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom("save" as const, "restore" as const), at, snap }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fork" as const), at, to: at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("carry" as const), at, snap, to: at }) },
);

class Machine {
  readonly registry = makeRegistry();
  readonly models = new Map<string, Model>();

  make(name: string): void {
    this.registry.create({ name });
    this.models.set(name, { present: makeState(1), first: makeState(1), snapshots: new Map() });
  }

  async run(step: Command): Promise<void> {
    const sandbox = this.registry.get(step.at);
    const model = this.models.get(step.at);
    if (sandbox === undefined || model === undefined) return this.make(step.at);
    const { present } = model;
    const { world } = sandbox;
    switch (step.do) {
      case "put":
        world.transact((tx) => tx.put(notes, { id: `note_${step.id}`, text: step.text }));
        present.notes[`note_${step.id}`] = step.text;
        break;
      case "remove":
        world.transact((tx) => tx.remove(notes, `note_${step.id}`));
        delete present.notes[`note_${step.id}`];
        break;
      case "draw":
        world.transact((tx) => tx.createId("note_"));
        present.draws += 1;
        break;
      case "count":
        sandbox.windows.count("key", 1000, world.epochNow());
        present.counted += 1;
        break;
      case "schedule": {
        const due = present.now + step.minutes * MINUTE + 1;
        world.transact((tx) =>
          tx.schedule({ kind: "expiry", subject: String(step.id), due: tx.toInstant(due) }),
        );
        present.due[String(step.id)] = due;
        break;
      }
      case "advance": {
        const end = present.now + step.minutes * MINUTE;
        const ran = await world.advance((now) => now + step.minutes * MINUTE);
        const due = Object.entries(present.due)
          .filter(([, instant]) => instant <= end)
          .sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1));
        expect(ran.map(({ subject, at: when }) => [subject, Date.parse(when)])).toEqual(due);
        for (const [subject, instant] of due) {
          present.notes[`note_${subject}`] = `due ${instant - START}`;
          delete present.due[subject];
        }
        if (Math.floor(end / MINUTE) !== Math.floor(present.now / MINUTE)) present.counted = 0;
        present.now = end;
        break;
      }
      case "save":
        sandbox.saveSnapshot(step.snap);
        model.snapshots.set(step.snap, copy(present));
        break;
      case "restore": {
        const held = model.snapshots.get(step.snap);
        if (held === undefined) break;
        sandbox.restore(sandbox.snapshots.get(step.snap)!);
        model.present = copy(held);
        break;
      }
      case "reset":
        sandbox.reset();
        model.present = copy(model.first);
        break;
      case "reseed":
        sandbox.reset({ seed: step.seed });
        model.first = makeState(step.seed);
        model.present = copy(model.first);
        break;
      case "delete":
        this.registry.delete(step.at);
        this.models.delete(step.at);
        break;
      case "fork":
        if (this.registry.get(step.to)) break;
        this.registry.fork(sandbox, step.to);
        this.models.set(step.to, { present: copy(present), first: copy(model.first), snapshots: new Map() });
        break;
      case "carry":
        await this.carry(step, sandbox, model);
    }
  }

  /** Downloads and uploads through JSON text, as files. */
  private async carry(step: Extract<Command, { do: "carry" }>, from: Sandbox, model: Model): Promise<void> {
    const value = from.snapshots.get(step.snap);
    const target = this.registry.get(step.to);
    if (value === undefined || target === undefined) return;
    const document = JSON.parse(
      JSON.stringify(await encodeSnapshot(value, [notes], NO_BLOBS)),
    ) as SnapshotDocument;
    target.saveSnapshot(step.snap, await decodeSnapshot(document, [notes], NO_BLOBS));
    this.models.get(step.to)!.snapshots.set(step.snap, copy(model.snapshots.get(step.snap)!));
  }

  check(): void {
    expect(this.registry.size).toBe(this.models.size);
    for (const [name, { present, snapshots }] of this.models) {
      const sandbox = this.registry.get(name)!;
      const found = readState(sandbox);
      // Assertions that succeed take more time than the comparison.
      if (!isDeepStrictEqual(found, present)) expect(found, name).toEqual(present);
      expect(sandbox.snapshots.size).toBe(snapshots.size);
    }
  }
}

function readState(sandbox: Sandbox): StoredState {
  const tx = sandbox.world.read();
  const found = [...tx.all(notes)];
  for (const { id: noteId, text } of found) {
    // The index must be updated with the records at every replacement of the world.
    const indexed = [...tx.index(notes, "by_text", text)].some((note) => note.id === noteId);
    if (!indexed) throw new Error(`the index lost ${noteId}`);
  }
  const { root, seed } = sandbox.world.toValue();
  return {
    notes: Object.fromEntries(found.map((note) => [note.id, note.text])),
    due: Object.fromEntries(
      ([...tx.all(timers)] as Timer[]).map(({ subject, due }) => [subject, tx.toEpoch(due)]),
    ),
    now: sandbox.world.epochNow(),
    draws: root.draws,
    seed,
    counted:
      1000 - new RateWindows(sandbox.windows.table).count("key", 1001, sandbox.world.epochNow()).remaining,
  };
}

describe("a sandbox as a value [interfaces 4]", () => {
  it("agrees with a model of snapshot, restore, upload, fork and reset over 1,000 sequences [interfaces 4]", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 40, size: "max" }), async (steps) => {
        const machine = new Machine();
        for (const step of steps) {
          await machine.run(step);
          machine.check();
        }
        machine.registry.close();
      }),
      { numRuns: 1000, verbose: 1 },
    );
  });
});

it("a saved sandbox that cannot be restored is not left behind half restored [interfaces 2]", () => {
  const registry = makeRegistry();
  const source = registry.create({ name: "a" });
  expect(() => registry.restoreSaved({ name: "b" }, source.source, { snapshots: [] } as never)).toThrow(
    TypeError,
  );
  expect(registry.get("b")).toBeUndefined();
});
