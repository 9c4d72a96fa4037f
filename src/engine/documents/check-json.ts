import { clip } from "../contract/text.ts";
import { documentError, toPosition } from "./document-error.ts";

/** An escape, a quote, a bracket, or a long integer. A pattern for whole quoted texts would overflow the stack. */
const JSON_TOKEN = /\\.|["{}[\]]|(?<![\d.])-?\d{16,}(?![\d.eE])/g;
const COLON = /\s*:/y;

/**
 * Refuses a JSON text that `JSON.parse` accepts and misreads: it drops the first value of a key that a map has twice,
 * and rounds large integers.
 * @param exactNumbers whether large integers are refused
 * @throws DocumentError with the position of the key or number
 */
export function checkJsonText(
  text: string,
  { file, exactNumbers }: { file: string; exactNumbers: boolean },
): void {
  const refuse = (offset: number, message: string): never => {
    throw documentError(file, toPosition(text, offset), message, { text });
  };
  const keysOfOpenBrackets: Set<string>[] = [];
  /** Where the current quoted text begins; undefined outside of one. */
  let quoteStart: number | undefined;
  for (const { 0: token, index } of text.matchAll(JSON_TOKEN)) {
    if (quoteStart !== undefined) {
      if (token !== '"') continue;
      COLON.lastIndex = index + 1;
      if (COLON.test(text)) {
        const key: string = JSON.parse(text.slice(quoteStart, index + 1));
        const keys = keysOfOpenBrackets.at(-1)!;
        if (keys.has(key)) refuse(quoteStart, describeRepeatedKey(key));
        keys.add(key);
      }
      quoteStart = undefined;
    } else if (token === '"') quoteStart = index;
    else if (token === "{" || token === "[") keysOfOpenBrackets.push(new Set());
    else if (token === "}" || token === "]") keysOfOpenBrackets.pop();
    else if (exactNumbers && !Number.isSafeInteger(Number(token)))
      refuse(index, describeInexactNumber(token));
  }
}

export function describeRepeatedKey(key: string): string {
  return `the key \`${clip(key, 60)}\` is given twice`;
}

export function describeInexactNumber(source: string): string {
  return `the number ${clip(source, 30)} is too large to be exact; quote it if it is a text`;
}
