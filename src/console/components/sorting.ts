export type SortKey = string | number;

export interface Sort {
  id: string;
  isDescending: boolean;
}

/** Above this count, texts are compared by code unit: numeric collation (9 before 10) would take a second. */
const MAX_COLLATED = 10_000;

const collator = new Intl.Collator("en", { numeric: true });

/** Rows in the order of their keys; rows of equal keys keep their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  getKey: (row: Row) => SortKey,
  isDescending: boolean,
): readonly Row[] {
  const compareTexts = rows.length > MAX_COLLATED ? compareCodeUnits : collator.compare;
  const direction = isDescending ? -1 : 1;
  return rows
    .map((row) => ({ row, key: getKey(row) }))
    .sort((a, b) => direction * compareKeys(a.key, b.key, compareTexts))
    .map(({ row }) => row);
}

/** Texts come before numbers; a missing value is an empty text. */
function compareKeys(a: SortKey, b: SortKey, compareTexts: (a: string, b: string) => number): number {
  if (typeof a === "string") return typeof b === "string" ? compareTexts(a, b) : -1;
  return typeof b === "string" ? 1 : a - b;
}

function compareCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The sort after a click on a header: numbers start descending; the third click removes the sort. */
export function toggleSort(sort: Sort | undefined, id: string, first: SortKey | undefined): Sort | undefined {
  const startsDescending = typeof first === "number";
  if (sort?.id !== id) return { id, isDescending: startsDescending };
  return sort.isDescending === startsDescending ? { id, isDescending: !startsDescending } : undefined;
}
