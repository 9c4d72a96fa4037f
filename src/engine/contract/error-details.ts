/**
 * Where one detail of an error comes from (section 7.1). A refusal fills it from what it judges, a fault
 * that stands in for one from the request.
 */
export type DetailSource =
  /** What the request carries under the detail's name, in its path, body or query. */
  | "sent"
  /** The first of these names under which the request carries something. */
  | { sent: readonly string[] }
  /** A JSON pointer into the body. */
  | { body: string }
  | { always: string | number }
  /** G32: the organization that the request is about. */
  | "organization"
  /** The field at fault and what was sent there (G08). */
  | "input"
  /** The caller's rate window (section 8). */
  | "rate"
  /** The caller's monthly limits (4.17). */
  | "spending"
  /** The present, as a timestamp. */
  | "now";

/** By name. A list names what the request carries; `parameter` is the last of its path (G27). */
export type Details = readonly string[] | Readonly<Record<string, DetailSource>> | "parameter";

/** The same, with the source of each spelled out. */
export type DetailSources = Readonly<Record<string, DetailSource>>;

const NONE: DetailSources = {};

/** What details of an operation with this path are called and where they come from. */
export function detailSources(details: Details | undefined, path: string): DetailSources {
  if (details === undefined) return NONE;
  if (details === "parameter")
    return sent([...path.matchAll(/\{(\w+)\}/g)].slice(-1).map(([, name]) => name!));
  return Array.isArray(details) ? sent(details) : (details as DetailSources);
}

function sent(names: readonly string[]): DetailSources {
  return Object.fromEntries(names.map((name) => [name, "sent"]));
}
