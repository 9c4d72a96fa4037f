/** One condition of a filter: a word, or `field:value`. */
export interface Term {
  /** Undefined: the word may be anywhere. */
  field: string | undefined;
  value: string;
  /** Written with a leading `-`. */
  isExcluded: boolean;
}

const TERM = /(-?)(?:([a-z_][\w.]*):)?(?:"([^"]*)"|(\S+))/gi;

/**
 * Parses `status:403 -user:usr_dan body:"two words" op:threads.* late`. All terms must match, in upper or lower case. A
 * value is part of the text, with `*` the whole text, and with `<` or `>` a number's bound.
 */
export function parseFilter(typed: string): Term[] {
  return [...typed.matchAll(TERM)].map(([, sign, field, quoted, word]) => ({
    field: field?.toLowerCase(),
    value: (quoted ?? word!).toLowerCase(),
    isExcluded: sign === "-",
  }));
}

/** Whether a text fits the value of a term. */
function matchesValue(text: unknown, value: string): boolean {
  const bound = /^([<>])(\d+(?:\.\d+)?)$/.exec(value);
  if (bound) return bound[1] === ">" ? Number(text) > Number(bound[2]) : Number(text) < Number(bound[2]);
  const lower = toText(text);
  if (!value.includes("*")) return lower.includes(value);
  return toPattern(value).test(lower);
}

const PATTERNS = new Map<string, RegExp>();

function toPattern(value: string): RegExp {
  let pattern = PATTERNS.get(value);
  if (pattern === undefined) {
    const parts = value.split("*").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    pattern = new RegExp(`^${parts.join(".*")}$`, "s");
    PATTERNS.set(value, pattern);
  }
  return pattern;
}

export function toText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return (typeof value === "object" ? JSON.stringify(value) : String(value)).toLowerCase();
}

/** A predicate for rows. `read` returns a field's value; undefined if rows have no such field. */
export function createMatcher<Row>(
  terms: readonly Term[],
  read: (row: Row, field: string) => unknown,
  readWhole: (row: Row) => string,
): (row: Row) => boolean {
  return (row) =>
    terms.every(({ field, value, isExcluded }) => {
      const fieldValue = field === undefined ? undefined : read(row, field);
      // Also an unknown field, such as the `http` of a URL.
      const isFound =
        fieldValue === undefined
          ? readWhole(row).includes(field === undefined ? value : `${field}:${value}`)
          : [fieldValue].flat().some((one) => matchesValue(one, value));
      return isFound !== isExcluded;
    });
}
