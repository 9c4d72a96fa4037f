import { LosslessNumber, parse } from "lossless-json";
import { getValue, pointerTo, toFieldName } from "../contract/invalid-field.ts";

/** A number that `JSON.parse` changes, with its place; lossless-json keeps its spelling. */
export interface WrittenNumber {
  field: string;
  value: LosslessNumber;
}

/** Matches all texts with a number that may be too large; most bodies have none, and are not parsed again. */
const SUSPICIOUS = /\d{16}|\d[eE]/;
const STRING_OR_NUMBER = /-?\d[\d.eE+-]*|"/g;

/** The first number of a valid JSON document that is an integer beyond 2^53, or infinite in JavaScript (G08). */
export function findInexactNumber(text: string): WrittenNumber | undefined {
  if (!SUSPICIOUS.test(text) || !hasInexact(text)) return undefined;
  let found: LosslessNumber | undefined;
  const document = read(text, (token) => {
    if (found !== undefined || !isInexact(token)) return 0;
    found = new LosslessNumber(token);
    return found;
  });
  return { field: toFieldName(findPointer(document, found!) ?? ""), value: found! };
}

/** Larger bodies are not read a second time for the spelling of a number. */
const MAX_READ_AGAIN = 64 * 1024;

/** The number at a JSON pointer as it was written, such as `1.50`. */
export function findWrittenNumber(text: string, pointer: string): LosslessNumber | undefined {
  if (text.length > MAX_READ_AGAIN) return undefined;
  const value = getValue(
    read(text, (token) => new LosslessNumber(token)),
    pointer,
  );
  return value instanceof LosslessNumber ? value : undefined;
}

function isInexact(token: string): boolean {
  const value = Number(token);
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

function hasInexact(text: string): boolean {
  STRING_OR_NUMBER.lastIndex = 0;
  for (let token = STRING_OR_NUMBER.exec(text); token !== null; token = STRING_OR_NUMBER.exec(text)) {
    if (token[0] === '"') STRING_OR_NUMBER.lastIndex = findEndOfString(text, token.index);
    else if (isInexact(token[0])) return true;
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

/** If a key occurs twice, the last one counts, as with `JSON.parse`. */
function read(text: string, parseNumber: (token: string) => unknown): unknown {
  return parse(text, null, { parseNumber, onDuplicateKey: ({ newValue }) => newValue });
}

function findPointer(value: unknown, wanted: object, pointer = ""): string | undefined {
  if (value === wanted) return pointer;
  if (typeof value !== "object" || value === null || value instanceof LosslessNumber) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = findPointer(inner, wanted, pointerTo(pointer, key));
    if (found !== undefined) return found;
  }
  return undefined;
}
