import fc from "fast-check";
import { Type } from "typebox";
import { expect, it } from "vitest";
import { collection } from "../state/collection.ts";
import { type Root, Tables } from "../state/tables.ts";
import { Transaction } from "../state/transaction.ts";
import { UndoLog } from "../state/undo-log.ts";
import type { History } from "./history.ts";
import { decodeStates, encodeStates, type StoredStates } from "./stored-states.ts";

const notes = collection<{ id: string; text: string }>({ name: "notes", schema: Type.Object({}) });
const start: Root = { tables: Tables.empty([notes]), draws: 0 };
const setting = { origin: 0, now: 0, seed: 1, secretKey: "" };
const show = (root: Root | undefined) => root && [...root.tables.get("notes")!.all()];

/** The part of a history with the versions of the world. */
const toHistory = (versions: UndoLog) =>
  ({ versions, entries: () => [], restoreStates: () => {} }) as unknown as History;

/** Either a change writes some records, with or without an entry, or a restore replaces the world. */
const step = fc.record({
  count: fc.constantFrom(0, 1, 1, 1, 1, 2, 2, 2, 2, 300),
  isNumbered: fc.boolean(),
  isRestored: fc.boolean(),
});

it("an exported history has every version that it had, also if commits without an entry follow a checkpoint", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 140, maxLength: 160 }), (steps) => {
      const log = new UndoLog();
      const seen = new Map<number, unknown>();
      let root = start;
      for (const [position, { count, isNumbered, isRestored }] of steps.entries()) {
        if (isRestored && position % 40 === 0) root = { ...start, draws: position };
        if (isNumbered) seen.set(log.keepVersion(root), show(root));
        const tx = new Transaction(root, setting);
        for (let i = 0; i < count; i++) tx.put(notes, { id: `n${i}`, text: String(position) });
        const after = tx.toRoot();
        if (after === root) continue;
        log.record({ before: root, after, writes: tx.writes });
        root = after;
      }
      log.keepVersion(root);
      const stored: StoredStates = JSON.parse(JSON.stringify(encodeStates(toHistory(log), start, [notes])));
      const opened = new UndoLog();
      const context = { collections: [notes], base: start, currentRoot: root, uploads: undefined };
      decodeStates(toHistory(opened), stored, context);
      for (const [version, records] of seen) expect(show(opened.getRoot(version))).toEqual(records);
    }),
    { numRuns: 15 },
  );
});
