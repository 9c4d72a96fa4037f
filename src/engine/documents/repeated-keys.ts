import { clip, DocumentError } from "./document-error.ts";

/** An escape, a quote, or an end of a map or list. Whole texts would overflow the stack of regular expressions. */
const JSON_TOKEN = /\\.|["{}[\]]/g;
const COLON = /\s*:/y;

/**
 * Refuses a JSON text in which a map has a key twice: `JSON.parse` would silently drop the first value.
 * @param text a text that `JSON.parse` accepts
 * @throws DocumentError with the position of the second key
 */
export function requireUniqueKeys(text: string, file: string): void {
  const keysOfOpen: Set<string>[] = [];
  /** Where the quoted text begins that the token is in. */
  let begin: number | undefined;
  for (const { 0: token, index } of text.matchAll(JSON_TOKEN)) {
    if (begin !== undefined) {
      if (token !== '"') continue;
      COLON.lastIndex = index + 1;
      if (COLON.test(text)) {
        const key: string = JSON.parse(text.slice(begin, index + 1));
        const keys = keysOfOpen.at(-1)!;
        if (keys.has(key)) throw createError(text, file, { offset: begin, key });
        keys.add(key);
      }
      begin = undefined;
    } else if (token === '"') begin = index;
    else if (token === "{" || token === "[") keysOfOpen.push(new Set());
    else keysOfOpen.pop();
  }
}

function createError(text: string, file: string, { offset, key }: { offset: number; key: string }): Error {
  const lines = text.slice(0, offset).split("\n");
  const position = { line: lines.length, column: lines.at(-1)!.length + 1 };
  return new DocumentError([{ file, ...position, field: "", message: describeRepeatedKey(key) }], text);
}

export function describeRepeatedKey(key: string): string {
  return `the key \`${clip(key, 60)}\` is given twice`;
}
