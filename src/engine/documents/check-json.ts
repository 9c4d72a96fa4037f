import { clip } from "../contract/text.ts";
import { documentError, toPosition } from "./document-error.ts";

/** An escape, a quote, a bracket, or a long integer. A pattern for whole quoted texts would overflow its stack. */
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
        if (keys.has(key)) refuse(begin, describeRepeatedKey(key));
        keys.add(key);
      }
      begin = undefined;
    } else if (token === '"') begin = index;
    else if (token === "{" || token === "[") keysOfOpen.push(new Set());
    else if (token === "}" || token === "]") keysOfOpen.pop();
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
