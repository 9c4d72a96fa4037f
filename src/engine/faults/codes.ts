import { CATALOGUE, type ErrorCode } from "../contract/errors.ts";
import { type AnyOperation, listErrorCodes } from "../contract/operation.ts";
import { nearest } from "../contract/text.ts";

export interface ParsedCode {
  code: string;
  /** Written as `CODE!`. */
  forced: boolean;
}

export function parseCode(text: string): ParsedCode {
  return text.endsWith("!") ? { code: text.slice(0, -1), forced: true } : { code: text, forced: false };
}

export function isCatalogueCode(code: string): code is ErrorCode {
  return Object.hasOwn(CATALOGUE, code);
}

const answered = new WeakMap<AnyOperation, ReadonlySet<ErrorCode>>();

/** Every code that the operation can answer; an unexpected failure is always among them. */
export function documentedCodes(operation: AnyOperation): ReadonlySet<ErrorCode> {
  let codes = answered.get(operation);
  if (codes === undefined) {
    codes = new Set([...listErrorCodes(operation), "INTERNAL_ERROR"]);
    answered.set(operation, codes);
  }
  return codes;
}

/** `Prefer: code=404` and a bare 404 in a sequence: the first documented code with that status. */
export function codeForStatus(operation: AnyOperation, status: number): ErrorCode | undefined {
  for (const code of documentedCodes(operation)) if (CATALOGUE[code].status === status) return code;
  return undefined;
}

/** The catalogue's code for what was written: mistyped, or in the spelling of another envelope. */
export function nearestCode(text: string, operations: readonly AnyOperation[]): string | undefined {
  for (const { spellings = {} } of operations) {
    for (const [code, spelled] of Object.entries(spellings)) if (spelled === text) return code;
  }
  return nearest(text, Object.keys(CATALOGUE));
}
