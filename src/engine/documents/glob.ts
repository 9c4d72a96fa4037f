import { encodePath, normalizePath } from "../contract/http-url.ts";

/** A pattern that is not a usable glob; the message says why. */
export class GlobError extends Error {
  override readonly name = "GlobError";
}

const MAX_PATTERN_LENGTH = 256;
/** Longer texts match no pattern that has special characters. */
const MAX_TEXT_LENGTH = 4_096;
/** Characters of all alternatives together. */
const MAX_EXPANDED_LENGTH = 512;

/** `*`, `?` and, as a whole part, `**`; anything else is a literal character. */
const STAR = Symbol("*");
const ANY = Symbol("?");
const GLOBSTAR = Symbol("**");

type Part = readonly (string | typeof STAR | typeof ANY)[] | typeof GLOBSTAR;

/**
 * A matcher for the globs of scenarios (interfaces.md 6): `*` and `?` stay within one part of a path, `**` as a whole part
 * crosses any number of them, `{a,b}` offers alternatives, `{name}` stands for one part as in a path template, a
 * backslash escapes the next character. The whole text must match, case counts, dots are ordinary.
 *
 * Only the latest wildcard is retried, never those before it, so that no pattern takes exponential time as a regular
 * expression can (picomatch compiles to one): the cost is at most the length of the pattern times that of the text.
 * @throws GlobError for an empty, long or unsupported pattern.
 */
export function compileGlob(pattern: string): (text: string) => boolean {
  const alternatives = readAlternatives(pattern);
  if (!isGlob(pattern)) return (text) => text === pattern;
  return (text) => {
    if (text.length > MAX_TEXT_LENGTH) return false;
    const parts = text.split("/");
    return alternatives.some((alternative) =>
      matches(alternative, parts, (part) => part === GLOBSTAR, matchesPart),
    );
  };
}

/** Describes why a text is not a glob; undefined if it is one. */
export function findGlobProblem(pattern: string): { message: string } | undefined {
  try {
    compileGlob(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof GlobError) return { message: `the pattern cannot be used: ${error.message}` };
    throw error;
  }
}

/**
 * A glob of request paths: escapes that a character does not need make no difference, so `/v1/org%5Facme` is
 * `/v1/org_acme`. @throws GlobError
 */
export function compilePathGlob(pattern: string): (path: string) => boolean {
  const matchesPath = compileGlob(normalizePattern(pattern));
  return (path) => matchesPath(normalizePath(path));
}

/**
 * Whether a glob of request paths can match a path of a template such as `/v1/threads/{thread_id}`. A part of the
 * template that mixes text and parameters is taken for any part. @throws GlobError
 */
export function compileTemplateGlob(pattern: string): (template: string) => boolean {
  const alternatives = readAlternatives(normalizePattern(pattern));
  const fits = (part: Part, text: string) =>
    text.includes("{") ? part !== GLOBSTAR && part.length > 0 : matchesPart(part, text);
  return (template) => {
    const parts = template.split("/");
    return alternatives.some((alternative) => matches(alternative, parts, (part) => part === GLOBSTAR, fits));
  };
}

/** An encoded star, comma or parenthesis is decoded, and means itself; other special characters stay encoded in a path. */
function normalizePattern(pattern: string): string {
  return normalizePath(encodePath(pattern.replace(/%2[89ac]/gi, "\\$&")));
}

function readAlternatives(pattern: string): Part[][] {
  if (pattern === "") throw new GlobError("a pattern must not be empty");
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw new GlobError(`a pattern may have at most ${MAX_PATTERN_LENGTH} characters, not ${pattern.length}`);
  const alternatives = expandBraces(pattern).map(toParts);
  if (alternatives.flat(2).length > MAX_EXPANDED_LENGTH)
    throw new GlobError("the pattern has too many alternatives");
  return alternatives;
}

export function isGlob(text: string): boolean {
  return /[*?{\\]/.test(text);
}

function matchesPart(part: Part, text: string): boolean {
  const isStar = (element: unknown) => element === STAR;
  const fits = (element: unknown, character: string) => element === ANY || element === character;
  return part !== GLOBSTAR && matches(part, text, isStar, fits);
}

/** Whether a list matches a pattern in which a star matches any number of items. */
function matches<P, T>(
  pattern: readonly P[],
  items: ArrayLike<T>,
  isStar: (wanted: P) => boolean,
  fits: (wanted: P, item: T) => boolean,
): boolean {
  let patternIndex = 0;
  let starIndex = -1;
  let retryIndex = 0;
  for (let itemIndex = 0; itemIndex < items.length; ) {
    if (patternIndex < pattern.length && isStar(pattern[patternIndex]!)) {
      starIndex = patternIndex++;
      retryIndex = itemIndex;
    } else if (patternIndex < pattern.length && fits(pattern[patternIndex]!, items[itemIndex]!)) {
      patternIndex++;
      itemIndex++;
    } else if (starIndex >= 0) {
      patternIndex = starIndex + 1;
      itemIndex = ++retryIndex;
    } else return false;
  }
  return pattern.slice(patternIndex).every(isStar);
}

function expandBraces(pattern: string): string[] {
  const match = /^((?:[^\\{]|\\.)*)\{((?:[^\\}]|\\.)*)(\}?)(.*)$/s.exec(pattern);
  if (match === null) return [pattern];
  const [, before = "", inside = "", close, rest = ""] = match;
  if (close === "") throw new GlobError("a { is never closed");
  if (/^(?:[^\\{]|\\.)*\{/.test(inside)) throw new GlobError("braces cannot be nested");
  const choices = splitChoices(inside);
  const expanded = expandBraces(rest).flatMap((after) => choices.map((choice) => before + choice + after));
  if (expanded.length > MAX_EXPANDED_LENGTH) throw new GlobError("the pattern has too many alternatives");
  return expanded;
}

// `{thread_id}`, copied from a path template, means any one part; `{a,b}` means a or b.
function splitChoices(inside: string): string[] {
  const choices = inside.match(/(?<=^|,)(?:[^\\,]|\\.)*/g) ?? [];
  if (choices.length > 1) return choices;
  if (!/^\w+$/.test(inside)) throw new GlobError(`{${inside}} is neither a name nor a list of alternatives`);
  return ["*"];
}

function toParts(pattern: string): Part[] {
  return pattern.split("/").map((part) => {
    if (part === "**") return GLOBSTAR;
    return (part.match(/\\.?|\*+|./gs) ?? []).map((token) => {
      if (token === "\\") throw new GlobError("a pattern cannot end in a backslash");
      if (token.startsWith("\\")) return token.slice(1);
      if (token.startsWith("*")) return STAR;
      if (token === "?") return ANY;
      if ("[]()}".includes(token))
        throw new GlobError(
          `${token} has no meaning in a pattern; write \\${token} for the character itself`,
        );
      return token;
    });
  });
}
