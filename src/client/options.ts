/**
 * Refuses unknown options and values that are not an object, for callers without a compiler.
 * @param owner whose options they are, as messages name it
 * @throws TypeError
 */
export function requireKnownOptions(owner: string, options: object, known: readonly string[]): void {
  const list = known.length > 2 ? known.join(", ") : known.join(" and ");
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new TypeError(
      `${owner} takes its options as an object of ${list}; it was given ${showValue(options)}`,
    );
  const wrong = Object.keys(options).find((key) => !known.includes(key));
  if (wrong === undefined) return;
  throw new TypeError(
    `${owner} has no option ${JSON.stringify(wrong)}; its ${known.length === 1 ? "option is" : "options are"} ${list}`,
  );
}

/** The text for a value of the wrong kind in messages. */
export function showValue(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80);
}
