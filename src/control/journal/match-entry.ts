import { isDeepStrictEqual } from "node:util";
import { CATALOGUE } from "../../contract/errors.ts";
import { GlobError, glob } from "../../documents/glob.ts";
import { nearest } from "../../documents/nearest.ts";
import { redactJson, redactText } from "../../exchanges/secret-redactor.ts";
import type { JournalEntry } from "../../sandbox/journal.ts";
import { unprocessable } from "../problem.ts";
import { requestBody } from "./render-entry.ts";

export interface EntryMatch {
  /** An operation id or a glob of ids. */
  operation?: string | undefined;
  /** A number, or a class such as `4xx`. */
  status?: number | string | undefined;
  code?: string | undefined;
  method?: string | undefined;
  /** A glob of paths, without sandbox prefix and query. */
  path?: string | undefined;
  principal?: string | undefined;
  /** What the request's JSON body must contain at least. */
  body?: unknown;
}

/** One condition of a match: undefined when an entry meets it, else in words why not. */
type Condition = (entry: JournalEntry) => string | undefined;

/**
 * @throws Problem 422 for a pattern that is none, for an operation that no declared one can be, and for an
 * unknown code
 */
export function conditionsOf(match: EntryMatch, operations: readonly string[], prefix = ""): Condition[] {
  const { operation, status, code, method, path, principal, body } = match;
  const conditions: Condition[] = [];
  if (operation !== undefined) {
    const matches = pattern(`${prefix}operation`, operation);
    if (!operations.some(matches)) {
      const hint = nearest(operation, operations);
      throw unprocessable(`${prefix}operation`, operation, "matches no operation of the emulated API", hint);
    }
    conditions.push(({ operation: id }) => failed(id !== null && matches(id), "operation", id, operation));
  }
  if (path !== undefined) {
    const matches = pattern(`${prefix}path`, path);
    conditions.push((entry) => failed(matches(entry.path), "path", redactText(entry.path), path));
  }
  if (method !== undefined) {
    const upper = method.toUpperCase();
    conditions.push((entry) => failed(entry.method === upper, "method", entry.method, upper));
  }
  if (status !== undefined)
    conditions.push((entry) => failed(hasStatus(entry, status), "status", entry.status, status));
  if (code !== undefined) {
    // A mistyped one would make `count: 0` true for ever.
    if (!Object.hasOwn(CATALOGUE, code) && !/^HTTP_\d{3}$/.test(code)) {
      const hint = nearest(code, Object.keys(CATALOGUE));
      throw unprocessable(`${prefix}code`, code, "is no code of the catalogue", hint);
    }
    conditions.push((entry) => failed(entry.code === code, "code", entry.code, code));
  }
  if (principal !== undefined) {
    conditions.push((entry) =>
      failed(entry.principal === principal, "principal", entry.principal, principal),
    );
  }
  if (body !== undefined) conditions.push((entry) => bodyDifference(body, requestBody(entry)));
  return conditions;
}

function pattern(field: string, text: string): (text: string) => boolean {
  try {
    return glob(text);
  } catch (error) {
    if (error instanceof GlobError) throw unprocessable(field, text, `is no pattern: ${error.message}`);
    throw error;
  }
}

function hasStatus({ status }: JournalEntry, wanted: number | string): boolean {
  const text = String(wanted).toLowerCase();
  return text.endsWith("xx") ? Math.floor(status / 100) === Number(text[0]) : status === Number(text);
}

function failed(met: boolean, what: string, found: unknown, wanted: unknown): string | undefined {
  return met ? undefined : `${what} is ${found ?? "none"}, not ${redactText(String(wanted))}`;
}

/** Where a body does not contain what it should, in words; undefined when it does. */
export function bodyDifference(wanted: unknown, found: unknown, path = "body"): string | undefined {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) {
    return isDeepStrictEqual(wanted, found)
      ? undefined
      : `${path} is ${shown(path, found)}, not ${shown(path, wanted)}`;
  }
  if (typeof found !== "object" || found === null || Array.isArray(found))
    return `${path} is ${shown(path, found)}, not an object`;
  for (const [name, value] of Object.entries(wanted)) {
    const inner = Object.hasOwn(found, name) ? (found as Record<string, unknown>)[name] : undefined;
    const difference = bodyDifference(value, inner, `${path}.${name}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function shown(path: string, value: unknown): string {
  if (value === undefined) return "missing";
  const name = path.split(".").at(-1)!;
  const masked = (redactJson({ [name]: value }) as Record<string, unknown>)[name];
  const text = JSON.stringify(masked);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
