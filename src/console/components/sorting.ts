import { useEffect, useState } from "react";

export type SortKey = string | number;

export interface Sort {
  /** Id of the column. */
  id: string;
  down: boolean;
}

/** Above this count, texts are compared by code unit: numeric collation (9 before 10) would take a second. */
const MANY = 10_000;
/** Items per step of sorting or merging, a few milliseconds. */
const PIECE = 4096;

const collator = new Intl.Collator("en", { numeric: true });

/**
 * Indexes of rows in the order of their keys. Stable. Yields after each piece, so that the caller can pause.
 */
export function* sortedPlaces(keys: readonly SortKey[], down: boolean): Generator<void, Uint32Array> {
  const texts = keys.length > MANY ? byCharacters : collator.compare;
  const compare = (a: number, b: number) => {
    const order = compareKeys(keys[a]!, keys[b]!, texts);
    return (down ? -order : order) || a - b;
  };
  let runs: Uint32Array[] = [];
  for (let from = 0; from < keys.length; from += PIECE) {
    const run = Uint32Array.from({ length: Math.min(PIECE, keys.length - from) }, (_, at) => from + at);
    runs.push(run.sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: Uint32Array[] = [];
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(at + 1 < runs.length ? yield* merge(runs[at]!, runs[at + 1]!, compare) : runs[at]!);
    }
    runs = merged;
  }
  return runs[0] ?? new Uint32Array();
}

function* merge(
  left: Uint32Array,
  right: Uint32Array,
  compare: (a: number, b: number) => number,
): Generator<void, Uint32Array> {
  const merged = new Uint32Array(left.length + right.length);
  let [l, r] = [0, 0];
  for (let at = 0; at < merged.length; at += 1) {
    if (at % PIECE === PIECE - 1) yield;
    const isLeft = r === right.length || (l < left.length && compare(left[l]!, right[r]!) < 0);
    merged[at] = isLeft ? left[l++]! : right[r++]!;
  }
  return merged;
}

/** Texts come before numbers; a missing value is an empty text. */
function compareKeys(a: SortKey, b: SortKey, texts: (a: string, b: string) => number): number {
  if (typeof a === "string") return typeof b === "string" ? texts(a, b) : -1;
  return typeof b === "string" ? 1 : a - b;
}

function byCharacters(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The sort after a click on a header: numbers start descending; the third click removes the sort. */
export function nextSort(sort: Sort | undefined, id: string, first: SortKey | undefined): Sort | undefined {
  const begins = typeof first === "number";
  if (sort?.id !== id) return { id, down: begins };
  return sort.down === begins ? { id, down: !begins } : undefined;
}

/** Sorting pauses after this time, so that the page stays responsive. */
const SLICE_MS = 8;

interface Sorted<Row> {
  rows: readonly Row[];
  sort: Sort;
  order: readonly Row[];
}

/**
 * Sorts rows in slices; the previous order is shown until the new one is complete.
 */
export function useSorted<Row>(
  rows: readonly Row[],
  sort: Sort | undefined,
  value: ((row: Row) => SortKey) | undefined,
): readonly Row[] {
  const [sorted, setSorted] = useState<Sorted<Row>>();
  useEffect(() => {
    if (sort === undefined || value === undefined) return setSorted(undefined);
    const steps = sortRows(rows, value, sort.down);
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
  // An order of other rows would show removed rows, or hide new ones.
  return sorted.rows === rows || sorted.sort === sort ? sorted.order : rows;
}

/** Keys read between two checks of the time. */
const KEYS = 8192;

function* sortRows<Row>(
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
