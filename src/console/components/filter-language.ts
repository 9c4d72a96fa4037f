import { escapeRegExp } from "../../engine/contract/text.ts";

/** One condition of a filter: a word, or `field:value`. */
interface Term {
  /** Undefined: the word may be anywhere. */
  field: string | undefined;
  value: string;
  /** Written with a leading `-`. */
  isExcluded: boolean;
}

const TERM = /(-?)(?:([a-z_][\w.]*):)?(?:"([^"]*)"|(\S+))/gi;

/**
 * Parses `status:403 -user:usr_dan body:"two words" op:threads.* late`. All terms must match, in upper or lower case. A
 * word or value must be a part of the text; a field's value with `*` is a pattern of the whole text; `ms:>500` compares
 * numbers.
 */
export function parseFilter(typed: string): Term[] {
  return [...typed.matchAll(TERM)].map(([, sign, field, quoted, word]) => ({
    field: field?.toLowerCase(),
    value: (quoted ?? word!).toLowerCase(),
    isExcluded: sign === "-",
  }));
}

/** A test whether a field's value fits the value of a term. */
function createValueTest(value: string): (fieldValue: unknown) => boolean {
  const [, sign, bound] = /^([<>])(\d+(?:\.\d+)?)$/.exec(value) ?? [];
  if (sign === ">") return (fieldValue) => Number(fieldValue) > Number(bound);
  // A value that is missing is not 0.
  if (sign === "<")
    return (fieldValue) => toSearchText(fieldValue) !== "" && Number(fieldValue) < Number(bound);
  if (!value.includes("*")) return (fieldValue) => toSearchText(fieldValue).includes(value);
  const parts = value.split("*").map((part) => escapeRegExp(part));
  const pattern = new RegExp(`^${parts.join(".*")}$`, "s");
  return (fieldValue) => pattern.test(toSearchText(fieldValue));
}

/** In lower case. */
export function toSearchText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return (typeof value === "object" ? JSON.stringify(value) : String(value)).toLowerCase();
}

/** A predicate for rows. `read` returns a field's value; undefined if rows have no such field. */
export function createMatcher<Row>(
  terms: readonly Term[],
  read: (row: Row, field: string) => unknown,
  readWhole: (row: Row) => string,
): (row: Row) => boolean {
  const tests = terms.map((term) => ({ ...term, matchesValue: createValueTest(term.value) }));
  return (row) =>
    tests.every(({ field, value, isExcluded, matchesValue }) => {
      const fieldValue = field === undefined ? undefined : read(row, field);
      // With an unknown field, such as the `http` of a URL, the whole term is a word.
      const isFound =
        fieldValue === undefined
          ? readWhole(row).includes(field === undefined ? value : `${field}:${value}`)
          : [fieldValue].flat().some(matchesValue);
      return isFound !== isExcluded;
    });
}
