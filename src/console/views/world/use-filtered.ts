import { useEffect, useState } from "react";
import type { Fields } from "../../api/form-fields.ts";
import { matcherOf } from "./filter-records.ts";

/** After so long the page draws what was typed meanwhile, and the search goes on behind it. */
const SLICE_MS = 8;
/** So many are looked at before the clock is asked. */
const STRIDE = 128;

/**
 * The records that have what is typed, found in slices: a hundred thousand keep no key waiting. Until they are found
 * those of the search before are shown; undefined where there was none.
 */
export function useFiltered(records: readonly Fields[], typed: string): readonly Fields[] | undefined {
  const [found, setFound] = useState<readonly Fields[]>();
  const all = typed.trim() === "";
  useEffect(() => {
    if (all) return setFound(undefined);
    const matches = matcherOf(typed);
    const matching: Fields[] = [];
    let at = 0;
    let next: ReturnType<typeof setTimeout>;
    const search = () => {
      const until = performance.now() + SLICE_MS;
      while (at < records.length) {
        const end = Math.min(records.length, at + STRIDE);
        for (; at < end; at += 1) if (matches(records[at]!)) matching.push(records[at]!);
        if (performance.now() > until) {
          next = setTimeout(search);
          return;
        }
      }
      setFound(matching);
    };
    search();
    return () => clearTimeout(next);
  }, [records, typed, all]);
  return all ? records : found;
}
