import { useEffect, useState } from "react";
import { type Sort, type SortKey, sortedPlaces } from "./sorting.ts";

/** After so long the page draws and takes keys, and sorting goes on behind it. */
const SLICE_MS = 8;

interface Sorted<Row> {
  rows: readonly Row[];
  sort: Sort;
  order: readonly Row[];
}

/**
 * Rows in the order that is asked for. A hundred thousand are sorted in slices; until then they stand as they stood,
 * and a few are in order at once.
 */
export function useSorted<Row>(
  rows: readonly Row[],
  sort: Sort | undefined,
  value: ((row: Row) => SortKey) | undefined,
): readonly Row[] {
  const [sorted, setSorted] = useState<Sorted<Row>>();
  useEffect(() => {
    if (sort === undefined || value === undefined) return setSorted(undefined);
    const steps = sortedIn(rows, value, sort.down);
    let next: ReturnType<typeof setTimeout>;
    const go = () => {
      const until = performance.now() + SLICE_MS;
      for (let step = steps.next(); ; step = steps.next()) {
        if (step.done) return setSorted({ rows, sort, order: step.value });
        if (performance.now() > until) break;
      }
      next = setTimeout(go);
    };
    go();
    return () => clearTimeout(next);
  }, [rows, sort, value]);
  if (sort === undefined || sorted === undefined) return rows;
  // What is there no more, or not yet, is not to be seen in an order of before, unless that was of the same rows.
  return sorted.rows === rows || sorted.sort === sort ? sorted.order : rows;
}

/** So many keys are taken before the clock may be asked. */
const KEYS = 8192;

function* sortedIn<Row>(
  rows: readonly Row[],
  value: (row: Row) => SortKey,
  down: boolean,
): Generator<void, readonly Row[]> {
  const keys: SortKey[] = [];
  for (const row of rows) {
    keys.push(value(row));
    if (keys.length % KEYS === 0) yield;
  }
  const places = yield* sortedPlaces(keys, down);
  return Array.from(places, (at) => rows[at]!);
}
