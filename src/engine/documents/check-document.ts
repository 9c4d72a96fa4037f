import type { ErrorObject, ValidateFunction } from "ajv";
import { diagnose } from "./diagnose.ts";
import { clip, type DocumentPath, type DocumentProblem, formatPath, MAX_PROBLEMS } from "./document-error.ts";
import { nearest } from "./nearest.ts";
import { type ProblemDetails, problemAt, type UserDocument } from "./read-document.ts";
import { explain } from "./schema-message.ts";

export interface CheckOptions {
  /**
   * Lists that a schema cannot hold, by the place whose texts must be among them: `rules[].match.event`,
   * where `[]` is any item and `*` any key. Anything but a text there is the schema's business.
   */
  knownValues?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Checks a document against a schema and says in plain words what is wrong, each problem at its line and column
 * (interfaces 2, 5 and 6): at the key for a key that is not allowed, at the map for one that is missing. At most
 * MAX_PROBLEMS, in the order of the text; empty when the document is right.
 */
export function checkDocument(
  document: UserDocument,
  validate: ValidateFunction,
  options: CheckOptions = {},
): DocumentProblem[] {
  const details: ProblemDetails[] = [];
  if (validate(document.value) !== true) {
    const errors = diagnose(document.value, validate).filter((error) => !isSummary(error));
    for (const error of errors.slice(0, MAX_ERRORS)) details.push(detailsOf(error, document.value));
  }
  for (const [place, known] of Object.entries(options.knownValues ?? {}))
    details.push(...unknownValues(document.value, place, known));
  return inOrder(details.map((detail) => problemAt(document, detail)));
}

// Finding a place costs time; a document with hundreds of errors needs no order among the last of them.
const MAX_ERRORS = 200;

// `if` only says that `then` or `else` failed; what a key's name has against it, `propertyNames` sums up.
function isSummary(error: ErrorObject): boolean {
  return error.keyword === "if" || error.propertyName !== undefined;
}

function detailsOf(error: ErrorObject, root: unknown): ProblemDetails {
  const place = pathOf(error.instancePath, root);
  const { message, hint, key } = explain(error);
  const path = key === undefined ? place : [...place, key];
  return { path, message: `${nameOf(place)} ${message}`, hint, atKey: key !== undefined };
}

function nameOf(path: DocumentPath): string {
  return path.length === 0 ? "the document" : `\`${clip(formatPath(path), 120)}\``;
}

function pathOf(instancePath: string, root: unknown): (string | number)[] {
  const path: (string | number)[] = [];
  let value: unknown = root;
  for (const part of instancePath.split("/").slice(1)) {
    const step = part.replaceAll("~1", "/").replaceAll("~0", "~");
    path.push(Array.isArray(value) ? Number(step) : step);
    value = (value as Record<string, unknown> | null | undefined)?.[step];
  }
  return path;
}

function unknownValues(root: unknown, place: string, known: readonly string[]): ProblemDetails[] {
  const allowed = new Set(known);
  const details: ProblemDetails[] = [];
  for (const { path, value } of valuesAt(root, place)) {
    if (details.length >= MAX_PROBLEMS) break;
    if (typeof value !== "string" || allowed.has(value)) continue;
    const message = `${nameOf(path)} names ${JSON.stringify(clip(value, 60))}, which is not known`;
    details.push({ path, message, hint: nearest(value, known) });
  }
  return details;
}

interface Found {
  path: (string | number)[];
  value: unknown;
}

function valuesAt(root: unknown, place: string): Found[] {
  let found: Found[] = [{ path: [], value: root }];
  for (const step of place.match(/\[\]|[^.[\]]+/g) ?? []) found = found.flatMap((from) => follow(from, step));
  return found;
}

function follow({ path, value }: Found, step: string): Found[] {
  if (Array.isArray(value))
    return step === "[]" ? value.map((item, index) => ({ path: [...path, index], value: item })) : [];
  if (typeof value !== "object" || value === null || step === "[]") return [];
  const keys = step === "*" ? Object.keys(value) : Object.hasOwn(value, step) ? [step] : [];
  return keys.map((key) => ({ path: [...path, key], value: (value as Record<string, unknown>)[key] }));
}

function inOrder(problems: readonly DocumentProblem[]): DocumentProblem[] {
  const seen = new Map<string, DocumentProblem>();
  for (const problem of problems) {
    const key = `${problem.line}:${problem.column}:${problem.message}`;
    if (!seen.has(key)) seen.set(key, problem);
  }
  return [...seen.values()].sort((a, b) => a.line - b.line || a.column - b.column).slice(0, MAX_PROBLEMS);
}
