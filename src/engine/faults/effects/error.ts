import { Type } from "typebox";
import { CATALOGUE, type ErrorCode } from "../../contract/errors.ts";
import { type AnyOperation, listErrorCodes } from "../../contract/operation.ts";
import { withLibraryType } from "../../contract/schema.ts";
import { findNearest } from "../../contract/text.ts";
import { getOrAdd } from "../../maps.ts";
import { checkHeaders, Headers, toHeaders } from "./answer.ts";
import type { AnswerPlan, Effect } from "./effect.ts";

/** A catalogue code, answered in the form of the matched operation. */
export const errorEffect: Effect = {
  keys: {
    error: withLibraryType(
      "AnyCode",
      Type.String({
        minLength: 1,
        description: "A code of the catalogue; CODE! forces one that the operation never answers",
      }),
    ),
    details: Type.Unsafe<Record<string, unknown>>({
      type: "object",
      description: "Merged over the details that the operation itself would give",
    }),
    headers: Headers,
  },
  check(effect, report) {
    if (effect.details !== undefined && effect.error === undefined)
      report(["details"], "goes with `error` only");
    checkHeaders(effect, report);
    if (effect.error === undefined) return;
    for (const key of ["status", "body"] as const) {
      if (effect[key] !== undefined)
        report([key], `cannot go with \`error\`, which has its own; remove one of them`);
    }
  },
  read({ error, details, headers }) {
    return error === undefined
      ? {}
      : { answer: toCodeAnswer(error, { details, headers: toHeaders(headers) }) };
  },
};

type CodeAnswer = Extract<AnswerPlan, { kind: "code" }>;

/** The answer with a code that was checked before, written as `CODE` or `CODE!`. */
export function toCodeAnswer(
  text: string,
  { details = {}, headers = {} }: Partial<Pick<CodeAnswer, "details" | "headers">> = {},
): CodeAnswer {
  const { code, forced } = parseCode(text);
  return { kind: "code", code: code as ErrorCode, forced, details, headers };
}

/** Reads `CODE` or `CODE!`; the second is forced: answered even if the operation never answers it. */
export function parseCode(text: string): { code: string; forced: boolean } {
  return text.endsWith("!") ? { code: text.slice(0, -1), forced: true } : { code: text, forced: false };
}

export function isCatalogueCode(code: string): code is ErrorCode {
  return Object.hasOwn(CATALOGUE, code);
}

/** Also true for `HTTP_503` and the like, with which the journal shows the bare status of a rule (interfaces.md 6). */
export function isJournalCode(code: string): boolean {
  return isCatalogueCode(code) || /^HTTP_[1-5]\d\d$/.test(code);
}

const codesByOperation = new WeakMap<AnyOperation, ReadonlySet<ErrorCode>>();

/** Every code that the operation can answer; an unexpected failure is always among them. */
export function listDocumentedCodes(operation: AnyOperation): ReadonlySet<ErrorCode> {
  const createSet = () => new Set<ErrorCode>([...listErrorCodes(operation), "INTERNAL_ERROR"]);
  return getOrAdd(codesByOperation, operation, createSet);
}

/** The first documented code with a status, for `Prefer: code=404` and for a rule's 4xx without a body. */
export function findCodeForStatus(operation: AnyOperation, status: number): ErrorCode | undefined {
  for (const code of listDocumentedCodes(operation)) if (CATALOGUE[code].status === status) return code;
  return undefined;
}

/** The catalogue's code for a mistyped one, or for envelope B's own spelling, such as `thread_not_found`. */
export function findNearestCode(text: string, operations: readonly AnyOperation[]): string | undefined {
  for (const { spellings = {} } of operations) {
    for (const [code, spelling] of Object.entries(spellings)) if (spelling === text) return code;
  }
  return findNearest(text, Object.keys(CATALOGUE));
}
