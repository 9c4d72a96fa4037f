import type { AnyOperation } from "../../contract/operation.ts";
import { GlobError, glob, isGlob } from "../../documents/glob.ts";
import { nearest } from "../../documents/nearest.ts";
import type { ProblemDetails } from "../../documents/read-document.ts";
import { operationsOf, type Serves } from "./match.ts";
import type { MatchDocument } from "./rule-schema.ts";

type Said = Pick<ProblemDetails, "message" | "hint">;

/** The operations that a rule's match can hit, or what is wrong with the match; `at` is the rule's place. */
export function matchedOperations(
  match: MatchDocument,
  at: readonly (string | number)[],
  { operations, serves }: { operations: readonly AnyOperation[]; serves: Serves },
): AnyOperation[] | ProblemDetails {
  const { operation, path } = match;
  const ids = operations.map(({ id }) => id);
  const ofOperation = operation === undefined ? undefined : patternProblem(operation, "operation", ids);
  if (ofOperation !== undefined) return { path: [...at, "match", "operation"], ...ofOperation };
  const ofPath = path === undefined ? undefined : pathProblem(path, { operations, serves });
  if (ofPath !== undefined) return { path: [...at, "match", "path"], ...ofPath };
  const matched = operationsOf(match, operations);
  if (matched.length > 0 || serves !== undefined) return matched;
  return { path: [...at, "match"], message: "no operation fits all of operation, method and path" };
}

/** What is wrong with a name, or a glob of names, of which all are known; undefined when nothing is. */
export function patternProblem(pattern: string, kind: string, names: readonly string[]): Said | undefined {
  const unusable = globProblem(pattern);
  if (unusable !== undefined) return unusable;
  if (names.some(glob(pattern))) return undefined;
  const shown = JSON.stringify(pattern.slice(0, 80));
  if (!isGlob(pattern)) return said(`${shown} is no ${kind}`, nearest(pattern, names));
  return said(`${shown} matches no ${kind}`, nearest(pattern, globsOf(names)));
}

/** What keeps a text from being a pattern. */
export function globProblem(pattern: string): Said | undefined {
  try {
    glob(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof GlobError) return { message: `the pattern cannot be used: ${error.message}` };
    throw error;
  }
}

/** @param serves it may be no operation's */
function pathProblem(
  path: string,
  { operations, serves }: { operations: readonly AnyOperation[]; serves: Serves },
): Said | undefined {
  const unusable = globProblem(path);
  if (unusable !== undefined) return unusable;
  // `?` is also a wildcard, but nobody means one that a name and an equals sign follow.
  if (/\?[\w.%-]+=/.test(path))
    return { message: "a path stands without its query; ask for parameters with `match.query`" };
  // Paths that begin so are Understudy's own, and never reach a rule.
  if (!/^[/*?{]/.test(path) || path.startsWith("/_"))
    return { message: "a path begins with a slash, and stands without host, prefix and query" };
  const meant = nearestPath(path, operations);
  // What only fails, and lies next to a path that there is, was meant for that one.
  const isServed = serves === "content" || (serves === "failure" && meant === undefined);
  if (isGlob(path) || isServed || operationsOf({ path }, operations).length > 0) return undefined;
  const what = `${JSON.stringify(path.slice(0, 80))} is no path of an operation, where only a rule with a \`status\` or \`body\` of its own answers`;
  return said(what, meant);
}

/** The operation's path that a mistyped one most likely meant. */
export function nearestPath(path: string, operations: readonly AnyOperation[]): string | undefined {
  return nearest(
    path,
    operations.map(({ path: template }) => filledIn(template, path)),
  );
}

/** A template with the parts of a path where it has parameters, so that only what is fixed can differ. */
function filledIn(template: string, path: string): string {
  const parts = path.split("/");
  return template
    .split("/")
    .map((part, index) => (part.startsWith("{") ? (parts[index] ?? part) : part))
    .join("/");
}

/** `files.*` and the like: what somebody meant whose glob matches nothing. */
function globsOf(names: readonly string[]): Set<string> {
  const globs = names.flatMap((name) => {
    const [group, ...rest] = name.split(".");
    return [`${group}.*`, `*.${rest.join(".")}`];
  });
  return new Set(globs);
}

function said(message: string, hint: string | undefined): Said {
  return hint === undefined ? { message } : { message, hint };
}
