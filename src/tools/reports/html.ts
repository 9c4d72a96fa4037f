import { htmlEscape } from "escape-goat";

/** Markup that may stand in a page as it is; only `html` and `trusted` make it. */
export class Html {
  private readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }

  toString(): string {
    return this.markup;
  }
}

export type Interpolated = Html | string | number | readonly (Html | string)[];

/**
 * A template whose interpolations are escaped unless they are markup themselves, so that a page shows hostile
 * names as text without anybody having to think of it. Attributes need their quotes: without them a space in a
 * value would begin another attribute.
 * @throws TypeError where an attribute's value has none
 */
export function html(strings: TemplateStringsArray, ...values: readonly Interpolated[]): Html {
  let markup = strings[0]!;
  for (const [i, value] of values.entries()) {
    if (strings[i]!.endsWith("=")) throw new TypeError(`an attribute without quotes: ${strings[i]}`);
    markup += escaped(value) + strings[i + 1]!;
  }
  return new Html(markup);
}

/** Text of ours, such as a style sheet, that is to stand as it is. */
export function trusted(markup: string): Html {
  return new Html(markup);
}

function escaped(value: Interpolated): string {
  if (value instanceof Html) return value.toString();
  return typeof value === "object" ? value.map(escaped).join("") : htmlEscape(String(value));
}
