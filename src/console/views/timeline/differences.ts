import type { JournalEntry } from "../../../../types/control-api.ts";

export interface EntryDifference {
  /** Such as `request body.name` or `response header etag`. */
  what: string;
  before: string;
  after: string;
}

/** Every value of two entries that differs, bodies field by field. */
export function listDifferences(first: JournalEntry, second: JournalEntry): EntryDifference[] {
  const [before, after] = [flatten(first), flatten(second)];
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names
    .filter((name) => before.get(name) !== after.get(name))
    .map((what) => ({ what, before: before.get(what) ?? "", after: after.get(what) ?? "" }));
}

function flatten(entry: JournalEntry): Map<string, string> {
  const { method, path, operation, principal, status, code, decision, request, response } = entry;
  const found = new Map<string, string>();
  add(found, "", { method, path, query: request.query, operation, principal, status, code, decision });
  for (const [side, { headers, body }] of Object.entries({ request, response })) {
    for (const { name, value } of headers) add(found, `${side} header ${name.toLowerCase()}`, value);
    add(found, `${side} body`, body);
  }
  return found;
}

function add(found: Map<string, string>, name: string, value: unknown): void {
  if (value === null || value === undefined || value === "") return;
  if (typeof value !== "object") return void found.set(name, String(value));
  for (const [key, one] of Object.entries(value)) {
    const below = Array.isArray(value) ? `${name}[${key}]` : name === "" ? key : `${name}.${key}`;
    add(found, below, one);
  }
}
