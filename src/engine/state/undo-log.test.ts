import fc from "fast-check";
import { Type } from "typebox";
import { expect, it } from "vitest";
import { collection } from "./collection.ts";
import { type Root, Tables } from "./tables.ts";
import { Transaction } from "./transaction.ts";
import { UndoLog } from "./undo-log.ts";

interface Note {
  id: string;
  text: string;
}
const notes = collection<Note>({
  name: "notes",
  prefix: "note_",
  schema: Type.Object({}),
  indexes: { by_text: { groups: "text", order: ({ id }) => id } },
});
const start: Root = { tables: Tables.empty([notes]), draws: 0 };
const setting = { origin: 0, now: 0, seed: 1, secretKey: "" };
const show = ({ tables, draws }: Root) => ({
  draws,
  notes: [...tables.get("notes")!.all()],
  x: [...tables.get("notes")!.index("by_text", "x")],
});

type Write = { id: string; text: string | undefined };
const write = fc.record({
  id: fc.constantFrom("a", "b", "c"),
  text: fc.option(fc.constantFrom("x", "y"), { nil: undefined }),
});
type Step = { do: "write"; writes: Write[] } | { do: "many" | "number" | "jump"; nth: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("write" as const), writes: fc.array(write, { maxLength: 4 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom("number" as const, "jump" as const), nth: fc.nat() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("many" as const), nth: fc.nat() }) },
);

it("the undo log restores every numbered version, over 300 sequences [interfaces 10]", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 200, size: "max" }), (steps) => {
      const log = new UndoLog();
      const numbered = new Map<number, object>();
      let root = start;
      const commit = (change: (tx: Transaction) => void) => {
        const tx = new Transaction(root, setting);
        change(tx);
        const after = tx.toRoot();
        if (after === root) return;
        log.record({ before: root, after, writes: tx.writes });
        root = after;
      };
      for (const one of steps) {
        if (one.do === "write")
          commit((tx) => {
            tx.random("draw");
            for (const { id, text } of one.writes)
              if (text === undefined) tx.remove(notes, id);
              else tx.put(notes, { id, text });
          });
        else if (one.do === "many")
          commit((tx) => {
            for (let i = 0; i < 300; i++) tx.put(notes, { id: `n${i}`, text: String(one.nth) });
          });
        else if (one.do === "number") numbered.set(log.keepVersion(root), show(root));
        else if (numbered.size > 0) root = log.getRoot([...numbered.keys()][one.nth % numbered.size]!)!;
      }
      for (const [version, seen] of numbered) expect(show(log.getRoot(version)!)).toEqual(seen);
      const versions = [...numbered.keys()];
      const middle = versions[Math.floor(versions.length / 2)];
      if (middle === undefined) return;
      log.release(middle);
      for (const [version, seen] of numbered)
        expect(log.getRoot(version) && show(log.getRoot(version)!)).toEqual(
          version < middle ? undefined : seen,
        );
    }),
    { numRuns: 300 },
  );
});
