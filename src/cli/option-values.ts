import { UsageError } from "./failure.ts";

/** Speed relative to the wall clock: `x60`, `60`. @throws UsageError */
export function readRate(text: string): number {
  const rate = Number(/^x?(\d+(?:\.\d+)?)$/.exec(text)?.[1] ?? Number.NaN);
  if (!(rate > 0)) throw new UsageError(`"${text}" is not a rate; write for example x1, x60 or x0.5`);
  return rate;
}

/** A value from the command line: parsed as JSON if possible, otherwise the text itself. */
export function typedValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Options of the form `name=value`; undefined if none was given. @throws UsageError */
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
