import type { Fields } from "../../api/form-fields.ts";

const TEXTS = new WeakMap<Fields, string>();

/**
 * Whether a record has each word somewhere; `status:running` asks one field. Texts are kept by record, so that the
 * next letter typed costs little.
 */
export function matcherOf(typed: string): (record: Fields) => boolean {
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => [word, ...split(word)] as const);
  return (record) =>
    words.every(([word, field, value]) =>
      field !== undefined && field in record
        ? textOf(record[field]).includes(value)
        : wholeText(record).includes(word),
    );
}

function split(word: string): [string | undefined, string] {
  const colon = word.indexOf(":");
  return colon < 1 ? [undefined, word] : [word.slice(0, colon), word.slice(colon + 1)];
}

function wholeText(record: Fields): string {
  let text = TEXTS.get(record);
  if (text === undefined) {
    text = Object.values(record).map(textOf).join("\n");
    TEXTS.set(record, text);
  }
  return text;
}

function textOf(value: unknown): string {
  return (typeof value === "object" ? JSON.stringify(value) : String(value)).toLowerCase();
}
