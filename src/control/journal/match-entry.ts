import { isDeepStrictEqual } from "node:util";
import Type from "typebox";
import { CATALOGUE } from "../../engine/contract/errors.ts";
import type { AnyOperation } from "../../engine/contract/operation.ts";
import { typed } from "../../engine/contract/schema.ts";
import { GlobError, glob, isGlob } from "../../engine/documents/glob.ts";
import { nearestPath } from "../../engine/faults/check-rule.ts";
import { matchingOperations } from "../../engine/faults/match.ts";
import { EVENT_NAMES } from "../../engine/resources/events.ts";
import { webhookTest } from "../../engine/resources/webhooks/schema.ts";
import type { JournalEntry } from "../../engine/sandbox/journal.ts";
import { redactJson, redactText } from "../../tools/redact.ts";
import { unknownWord, unprocessable, WHERE } from "../problem.ts";
import { requestBody } from "./render-entry.ts";

/** Events that webhooks may be sent: those of the service, and the test event (4.21). */
export const DELIVERED_EVENTS: readonly string[] = [...EVENT_NAMES, webhookTest.name];

const Status = typed(
  "StatusPattern",
  Type.Unsafe<string | number>({
    type: ["string", "integer"],
    pattern: "^[1-5](\\d\\d|xx|XX)$",
    minimum: 100,
    maximum: 599,
    title: "a status such as 404, or a class such as 4xx",
    description: "A status such as 404, or a class such as `4xx`",
  }),
);
export const Text = (description: string, type = "string") =>
  Type.Optional(typed(type, Type.String({ minLength: 1, description })));

export const conditions = {
  operation: Text("An operation id, or a glob of them", "OperationPattern"),
  status: Type.Optional(Status),
  code: Text("A code of the catalogue", "ErrorCode"),
  method: Text("In any case"),
  path: Text("A glob of paths, without sandbox prefix and query"),
};

/** Of attempts to deliver (interfaces 14). */
export const delivered = {
  event: Text("Of deliveries: an event name, or a glob of them", "EventPattern"),
  webhook: Text("Of deliveries: the id of the webhook"),
};

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
  /** An event name or a glob of them: matches attempts to deliver, as do the two below (interfaces 14). */
  event?: string | undefined;
  webhook?: string | undefined;
  /** Which attempt of its delivery. */
  attempt?: number | undefined;
}

/** What can be matched at all; a word outside it would make `count: 0` true for ever. */
export interface KnownWords {
  operations: readonly AnyOperation[];
  events: readonly string[];
  /** Users and webhooks of the present and of the journal; undefined: whatever is asked for, is looked for. */
  present:
    | { users: ReadonlySet<string>; webhooks: ReadonlySet<string>; paths: ReadonlySet<string> }
    | undefined;
}

/** One condition of a match: undefined when an entry meets it, else in words why not. */
type Condition = (entry: JournalEntry) => string | undefined;

/** Whether a match is about attempts to deliver rather than about requests. */
export function isDeliveryMatch({ event, webhook, attempt }: EntryMatch): boolean {
  return event !== undefined || webhook !== undefined || attempt !== undefined;
}

/**
 * @throws Problem 422 for a pattern that is none, and for a word that nothing can match
 */
export function conditionsOf(match: EntryMatch, known: KnownWords, prefix = ""): Condition[] {
  const { operation, status, code, method, path, principal, body } = match;
  const conditions: Condition[] = isDeliveryMatch(match) ? deliveryConditions(match, known, prefix) : [];
  const operations = known.operations.map(({ id }) => id);
  if (operation !== undefined) {
    const matches = pattern(`${prefix}operation`, operation);
    if (!operations.some(matches)) {
      const is = "matches no operation of the emulated API";
      throw unknownWord(`${prefix}operation`, operation, { is, known: operations, where: WHERE.operations });
    }
    conditions.push(({ operation: id }) => failed(id !== null && matches(id), "operation", id, operation));
  }
  if (path !== undefined) {
    const matches = pattern(`${prefix}path`, path);
    if (!isDeliveryMatch(match)) requirePossiblePath(path, known, prefix);
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
      const known = Object.keys(CATALOGUE);
      const where = `it has ${known.join(", ")}`;
      throw unknownWord(`${prefix}code`, code, { is: "is no code of the catalogue", known, where });
    }
    conditions.push((entry) => failed(entry.code === code, "code", entry.code, code));
  }
  if (principal !== undefined) {
    const users = known.present?.users;
    if (users !== undefined && !users.has(principal))
      throw unknownWord(`${prefix}principal`, principal, {
        is: "is no user of this sandbox",
        known: users,
        where: WHERE.users,
      });
    conditions.push((entry) =>
      failed(entry.principal === principal, "principal", entry.principal, principal),
    );
  }
  if (body !== undefined) conditions.push((entry) => bodyDifference(body, requestBody(entry)));
  return conditions;
}

/** @throws Problem 422 */
function deliveryConditions(match: EntryMatch, known: KnownWords, prefix: string): Condition[] {
  const { event, webhook, attempt } = match;
  for (const name of ["operation", "code", "principal"] as const) {
    if (match[name] !== undefined)
      throw unprocessable(
        `${prefix}${name}`,
        match[name],
        "is of requests, and cannot stand beside what is of deliveries",
      );
  }
  const conditions: Condition[] = [];
  if (event !== undefined) {
    const matches = pattern(`${prefix}event`, event);
    if (!known.events.some(matches))
      throw unknownWord(`${prefix}event`, event, {
        is: "matches no event of the service",
        known: known.events,
        where: `it has ${known.events.join(", ")}`,
      });
    conditions.push(({ delivery }) => {
      const name = delivery?.event;
      return failed(name !== undefined && matches(name), "event", name, event);
    });
  }
  if (webhook !== undefined) {
    const webhooks = known.present?.webhooks;
    if (webhooks !== undefined && !webhooks.has(webhook))
      throw unknownWord(`${prefix}webhook`, webhook, {
        is: "is no webhook of this sandbox",
        known: webhooks,
        where: WHERE.webhooks,
      });
    conditions.push(({ delivery }) =>
      failed(delivery?.webhook_id === webhook, "webhook", delivery?.webhook_id, webhook),
    );
  }
  if (attempt !== undefined)
    conditions.push(({ delivery }) =>
      failed(delivery?.attempt === attempt, "attempt", delivery?.attempt, attempt),
    );
  return conditions;
}

/** One without wildcards has to be an operation's, or one that was really called. @throws Problem 422 */
function requirePossiblePath(path: string, { operations, present }: KnownWords, prefix: string): void {
  if (present === undefined) return;
  const field = `${prefix}path`;
  if (/\?[\w.%-]+=/.test(path)) throw unprocessable(field, path, "stands without its query");
  if (!/^[/*?{]/.test(path) || path.startsWith("/_s/"))
    throw unprocessable(field, path, "begins with a slash, and stands without host, prefix and query");
  if (isGlob(path) || present.paths.has(path) || matchingOperations({ path }, operations).length > 0) return;
  throw unprocessable(
    field,
    path,
    "is no path of an operation, and none that was called",
    nearestPath(path, operations),
  );
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
