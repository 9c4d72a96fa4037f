import { LosslessNumber, parse } from "lossless-json";
import { appendStep, getValue, isInexact, toFieldName } from "../contract/invalid-field.ts";

/** A number of a JSON text, with its place and its exact spelling. */
interface WrittenNumber {
  field: string;
  value: LosslessNumber;
}

/** Matches all texts with a number that may be too large; most bodies have none, and are not parsed again. */
const MAYBE_INEXACT = /\d{16}|\d[eE]/;
const STRING_OR_NUMBER = /-?\d[\d.eE+-]*|"/g;

/**
 * The first number of a valid JSON document that is an integer beyond 2^53, or infinite in JavaScript (G08).
 * @param isAccepted whether a field may have such a number
 */
export function findInexactNumber(
  text: string,
  isAccepted: (field: string) => boolean = () => false,
): WrittenNumber | undefined {
  if (!MAYBE_INEXACT.test(text) || !hasInexactNumber(text)) return undefined;
  const document = parseWithNumbers(text, (token) =>
    isInexact(Number(token)) ? new LosslessNumber(token) : 0,
  );
  return findNumber(document, isAccepted);
}

/** Larger bodies are not read a second time for the spelling of a number. */
const MAX_REPARSED_LENGTH = 64 * 1024;

/** The number at a JSON pointer as it was written, such as `1.50`. */
export function findWrittenNumber(text: string, pointer: string): LosslessNumber | undefined {
  if (text.length > MAX_REPARSED_LENGTH) return undefined;
  const value = getValue(
    parseWithNumbers(text, (token) => new LosslessNumber(token)),
    pointer,
  );
  return value instanceof LosslessNumber ? value : undefined;
}

function hasInexactNumber(text: string): boolean {
  STRING_OR_NUMBER.lastIndex = 0;
  for (let token = STRING_OR_NUMBER.exec(text); token !== null; token = STRING_OR_NUMBER.exec(text)) {
    if (token[0] === '"') STRING_OR_NUMBER.lastIndex = findEndOfString(text, token.index);
    else if (isInexact(Number(token[0]))) return true;
  }
  return false;
}

/** Returns the position after the closing quote. */
function findEndOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(text: string, position: number): boolean {
  let before = position;
  while (text[before - 1] === "\\") before--;
  return (position - before) % 2 === 1;
}

/** Parses JSON with another parser for numbers. If a key occurs twice, the last one counts, as with `JSON.parse`. */
function parseWithNumbers(text: string, parseNumber: (token: string) => unknown): unknown {
  return parse(text, null, { parseNumber, onDuplicateKey: ({ newValue }) => newValue });
}

function findNumber(
  value: unknown,
  isAccepted: (field: string) => boolean,
  pointer = "",
): WrittenNumber | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (value instanceof LosslessNumber) {
    const field = toFieldName(pointer);
    return isAccepted(field) ? undefined : { field, value };
  }
  for (const [key, inner] of Object.entries(value)) {
    const found = findNumber(inner, isAccepted, appendStep(pointer, key));
    if (found !== undefined) return found;
  }
  return undefined;
}
