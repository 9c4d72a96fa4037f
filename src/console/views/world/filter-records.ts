import { useEffect, useState } from "react";
import type { Fields } from "../../api/form-fields.ts";
import { createMatcher, parseFilter, toText } from "../../components/filter-language.ts";

/** The search pauses after this time, so that the page stays responsive. */
const MAX_SLICE_MS = 8;
/** Records between two checks of the time. */
const STRIDE = 128;

/**
 * Filters records in slices. Returns the previous result until the new one is complete; undefined before the first.
 */
export function useFilteredRecords(records: readonly Fields[], typed: string): readonly Fields[] | undefined {
  const [filtered, setFiltered] = useState<readonly Fields[]>();
  const isUnfiltered = typed.trim() === "";
  useEffect(() => {
    if (isUnfiltered) return setFiltered(undefined);
    const matches = createMatcher<Fields>(parseFilter(typed), (record, field) => record[field], joinText);
    const matching: Fields[] = [];
    let at = 0;
    let next: ReturnType<typeof setTimeout>;
    const search = () => {
      const until = performance.now() + MAX_SLICE_MS;
      while (at < records.length) {
        const end = Math.min(records.length, at + STRIDE);
        for (; at < end; at += 1) if (matches(records[at]!)) matching.push(records[at]!);
        if (performance.now() > until) {
          next = setTimeout(search);
          return;
        }
      }
      setFiltered(matching);
    };
    search();
    return () => clearTimeout(next);
  }, [records, typed, isUnfiltered]);
  return isUnfiltered ? records : filtered;
}

const TEXT_CACHE = new WeakMap<Fields, string>();

/** Caches the text of each record. */
function joinText(record: Fields): string {
  let text = TEXT_CACHE.get(record);
  if (text === undefined) {
    text = Object.values(record).map(toText).join("\n");
    TEXT_CACHE.set(record, text);
  }
  return text;
}
