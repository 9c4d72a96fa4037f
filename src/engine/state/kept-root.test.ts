import fc from "fast-check";
import Type from "typebox";
import { describe, expect, it } from "vitest";
import { collection } from "./collection.ts";
import { type KeptRoot, RootLine } from "./kept-root.ts";
import type { Root } from "./root.ts";
import { Tables } from "./tables.ts";
import { Transaction } from "./transaction.ts";

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
const FIRST: Root = { tables: Tables.empty([notes]), draws: 0 };

/** What a root says, in its lists too. */
function said({ tables, draws }: Root): object {
  const table = tables.get("notes")!;
  const lists = ["a", "b"].map((text) => [...table.index("by_text", text)]);
  return { all: [...table.all()], lists, draws };
}

interface Step {
  kind: "put" | "remove" | "draw" | "many" | "restore";
  id: number;
  text: "a" | "b";
  isKept: boolean;
}
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("put", "put", "put", "remove", "remove", "draw", "many", "restore"),
  id: fc.nat({ max: 9 }),
  text: fc.constantFrom("a", "b"),
  isKept: fc.boolean(),
});

function change(tx: Transaction, { kind, id, text }: Step): void {
  if (kind === "put") tx.put(notes, { id: `note_${id}`, text });
  else if (kind === "remove") tx.remove(notes, `note_${id}`);
  else if (kind === "draw") tx.random("draw");
  else for (let i = 0; i < 40; i++) tx.put(notes, { id: `note_${i}`, text });
}

describe("a line of kept roots", () => {
  it("interfaces 10 gives each root as it was, and what was written between two of them", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: "max" }), (steps) => {
        const line = new RootLine();
        const kept: { root: KeptRoot; said: object }[] = [];
        const keep = (root: Root) => kept.push({ root: line.keep(root), said: said(root) });
        let before = FIRST;
        keep(before);
        for (const one of steps) {
          if (one.kind === "restore") {
            before = kept[one.id % kept.length]!.root.value;
            if (one.isKept) keep(before);
            continue;
          }
          const tx = new Transaction(before, { origin: 0, now: 0, seed: 1, secretKey: "" });
          change(tx, one);
          const after = tx.result();
          line.pass({ before, after, written: tx.written });
          before = after;
          if (one.isKept) keep(after);
        }
        for (const { root, said: then } of kept) expect(said(root.value)).toEqual(then);
        for (let i = 1; i < kept.length; i++) {
          const [from, to] = [kept[i - 1]!.root, kept[i]!.root];
          const compared = [...from.value.tables.get("notes")!.changesTo(to.value.tables.get("notes")!)].map(
            ({ id, before, after }) => ({ id, before, stays: after !== undefined }),
          );
          const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
          const written = from
            .writtenUntil(to)
            ?.filter(({ before, stays }) => before !== undefined || stays)
            .map(({ id, before, stays }) => ({ id, before, stays }))
            .sort(byId);
          if (written !== undefined) expect(written).toEqual(compared.sort(byId));
        }
      }),
      { numRuns: 200 },
    );
  });

  it("interfaces 10 holds no root that it can make again, and never has many steps to go", () => {
    const line = new RootLine();
    const roots: KeptRoot[] = [line.keep(FIRST)];
    let before = FIRST;
    for (let id = 0; id < 1000; id++) {
      const tx = new Transaction(before, { origin: 0, now: 0, seed: 1, secretKey: "" });
      tx.put(notes, { id: `note_${id}`, text: "a" });
      const after = tx.result();
      line.pass({ before, after, written: tx.written });
      roots.push(line.keep(after));
      before = after;
    }
    const held = roots.flatMap((root, place) =>
      (root as unknown as { root: Root | undefined }).root === undefined ? [] : [place],
    );
    expect(held).toEqual([128, 257, 386, 515, 644, 773, 902]);
    expect(roots[1000]!.value).toBe(before);
    expect(roots[0]!.writtenUntil(roots[1000]!)).toHaveLength(1000);
    expect(roots[500]!.value.tables.get("notes")!.size).toBe(500);
  });

  it.each([
    [32, true],
    [33, false],
  ])("interfaces 10 joins over %i changes that nobody keeps: %s", (changes, isJoined) => {
    const line = new RootLine();
    const first = line.keep(FIRST);
    let before = FIRST;
    for (let i = 0; i < changes; i++) {
      const tx = new Transaction(before, { origin: 0, now: 0, seed: 1, secretKey: "" });
      tx.put(notes, { id: "note_1", text: String(i) });
      const after = tx.result();
      line.pass({ before, after, written: tx.written });
      before = after;
    }
    const last = line.keep(before);
    expect(first.writtenUntil(last)).toEqual(
      isJoined ? [{ collection: notes, id: "note_1", before: undefined, stays: true }] : undefined,
    );
    expect(first.value.tables.get("notes")!.size).toBe(0);
    expect(first.value === FIRST).toBe(!isJoined);
  });
});
