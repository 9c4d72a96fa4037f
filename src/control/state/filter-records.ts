import { nearest } from "../../engine/contract/text.ts";
import type { Transaction } from "../../engine/state/transaction.ts";
import { unprocessable } from "../problem.ts";
import type { StateCollection } from "./state-collection.ts";

/**
 * Equality filters on fields of the public form, as texts: `true`, `null`, `42` and timestamps are
 * compared by how they are written. Undefined where there is nothing to filter by.
 * @throws Problem 422 for a field that the collection does not have
 */
export function matcherFor(
  state: StateCollection,
  filters: Readonly<Record<string, string>>,
  tx: Transaction,
): ((record: object) => boolean) | undefined {
  const wanted = Object.entries(filters);
  if (wanted.length === 0) return undefined;
  const known = Object.keys(state.properties);
  for (const [name, text] of wanted) {
    if (!known.includes(name)) {
      throw unprocessable(
        name,
        text,
        `is no field of ${state.collection.name}, nor limit or offset`,
        nearest(name, [...known, "limit", "offset"]),
      );
    }
  }
  return (record) => {
    const shown = state.toPublic(record, tx);
    return wanted.every(([name, text]) => toText(shown[name]) === text);
  };
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined ? "null" : JSON.stringify(value);
}
