import { UsageError } from "./failure.ts";

/** `name=value` as often as it was given; undefined where it was not. @throws UsageError */
export function keyedValues(
  option: string,
  given: readonly string[] | undefined,
): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  return Object.fromEntries(
    given.map((text) => {
      const equals = text.indexOf("=");
      if (equals < 1)
        throw new UsageError(`${option} takes name=value, not ${JSON.stringify(text.slice(0, 80))}`);
      return [text.slice(0, equals), text.slice(equals + 1)];
    }),
  );
}
