export type SortKey = string | number;

export interface Sort {
  /** Of the column. */
  id: string;
  down: boolean;
}

/** More are put in the order of their characters: to tell 9 from 10 within a text takes a second of so many. */
const MANY = 10_000;
/** So many are sorted at once, which takes a few milliseconds; then runs are merged in pieces as long. */
const PIECE = 4096;

const collator = new Intl.Collator("en", { numeric: true });

/**
 * The places of rows in the order of their keys, equal ones as they stood. Pauses now and then, for whoever has
 * something more urgent to do.
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

/** What is missing is an empty text, and stands before numbers. */
function compareKeys(a: SortKey, b: SortKey, texts: (a: string, b: string) => number): number {
  if (typeof a === "string") return typeof b === "string" ? texts(a, b) : -1;
  return typeof b === "string" ? 1 : a - b;
}

function byCharacters(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The sort after a press of a column's head: numbers begin with the largest; the third press ends it. */
export function nextSort(sort: Sort | undefined, id: string, first: SortKey | undefined): Sort | undefined {
  const begins = typeof first === "number";
  if (sort?.id !== id) return { id, down: begins };
  return sort.down === begins ? { id, down: !begins } : undefined;
}
