/** A pattern that is no usable glob; the message says why. */
export class GlobError extends Error {
  override readonly name = "GlobError";
}

const MAX_PATTERN_LENGTH = 256;
const MAX_TEXT_LENGTH = 4_096;
const MAX_TOKENS = 512;

// A token either takes one character or may be passed without one; `maybe` may skip the `skip` tokens after it.
type Token =
  | { kind: "literal"; character: string }
  | { kind: "one" }
  | { kind: "star" }
  | { kind: "globstar" }
  | { kind: "maybe"; skip: number };

/**
 * A matcher for the globs of scenarios (interfaces 6): `*` and `?` stay within one part of a path, `**` as a whole
 * part crosses any number of them, `{a,b}` offers alternatives, `{name}` stands for one part as in a path template,
 * a backslash takes the next character literally. The whole text must match, case counts, dots are ordinary.
 *
 * Wildcards are followed all at once instead of by backtracking as in a regular expression (picomatch compiles to
 * one), so that no pattern can run away: the cost is at most the length of the pattern times that of the text.
 * @throws GlobError for an empty or over-long pattern and for what globs here do not have.
 */
export function glob(pattern: string): (text: string) => boolean {
  if (pattern === "") throw new GlobError("a pattern must not be empty");
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw new GlobError(`a pattern may have at most ${MAX_PATTERN_LENGTH} characters, not ${pattern.length}`);
  const alternatives = expandBraces(pattern).map(tokenize);
  const size = alternatives.reduce((sum, tokens) => sum + tokens.length, 0);
  if (size > MAX_TOKENS) throw new GlobError("the alternatives of the pattern are too many");
  const matchers = alternatives.map(matcher);
  return (text) => text.length <= MAX_TEXT_LENGTH && matchers.some((matches) => matches(text));
}

/** Whether a text uses anything that a glob gives a meaning. */
export function isGlob(text: string): boolean {
  return /[*?{\\]/.test(text);
}

function expandBraces(pattern: string): string[] {
  const open = unescapedIndex(pattern, "{", 0);
  if (open === -1) return [pattern];
  const close = unescapedIndex(pattern, "}", open);
  if (close === -1) throw new GlobError("a { is never closed");
  const inside = pattern.slice(open + 1, close);
  if (unescapedIndex(inside, "{", 0) !== -1) throw new GlobError("braces cannot stand within braces");
  const before = pattern.slice(0, open);
  const choices = splitChoices(inside);
  const expanded: string[] = [];
  for (const after of expandBraces(pattern.slice(close + 1))) {
    for (const choice of choices) expanded.push(before + choice + after);
    if (expanded.length > MAX_TOKENS) throw new GlobError("the alternatives of the pattern are too many");
  }
  return expanded;
}

// `{thread_id}`, copied from a path template, means any one part; `{a,b}` means a or b.
function splitChoices(inside: string): string[] {
  const comma = unescapedIndex(inside, ",", 0);
  if (comma === -1) {
    if (!/^\w+$/.test(inside))
      throw new GlobError(`{${inside}} is neither a name nor a list of alternatives`);
    return ["*"];
  }
  const choices: string[] = [];
  let start = 0;
  for (let end = comma; end !== -1; end = unescapedIndex(inside, ",", start)) {
    choices.push(inside.slice(start, end));
    start = end + 1;
  }
  return [...choices, inside.slice(start)];
}

function unescapedIndex(text: string, character: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === character) return at;
  }
  return -1;
}

function tokenize(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]!;
    if (character === "\\") {
      at++;
      if (at === pattern.length) throw new GlobError("a pattern cannot end in a backslash");
      tokens.push({ kind: "literal", character: pattern[at]! });
    } else if (character === "*") {
      const end = endOfStars(pattern, at);
      const whole = (at === 0 || pattern[at - 1] === "/") && (end === pattern.length || pattern[end] === "/");
      at = end - at === 2 && whole ? addGlobstar(tokens, pattern, at) : addStar(tokens, end);
    } else if (character === "?") tokens.push({ kind: "one" });
    else if ("[]()}".includes(character))
      throw new GlobError(
        `${character} has no meaning in a pattern; write \\${character} for the character itself`,
      );
    else tokens.push({ kind: "literal", character });
  }
  return tokens;
}

function endOfStars(pattern: string, from: number): number {
  let end = from;
  while (pattern[end] === "*") end++;
  return end;
}

function addStar(tokens: Token[], end: number): number {
  tokens.push({ kind: "star" });
  return end - 1;
}

// `a/**/b` also matches `a/b`, and `a/**` also `a`: the slash goes where the parts go. Returns the last place taken.
function addGlobstar(tokens: Token[], pattern: string, at: number): number {
  if (pattern[at + 2] === "/") {
    tokens.push({ kind: "maybe", skip: 2 }, { kind: "globstar" }, { kind: "literal", character: "/" });
    return at + 2;
  }
  const slash = tokens.at(-1);
  if (slash?.kind === "literal" && tokens.length > 1) {
    tokens.pop();
    tokens.push({ kind: "maybe", skip: 2 }, slash);
  }
  tokens.push({ kind: "globstar" });
  return at + 1;
}

function matcher(tokens: readonly Token[]): (text: string) => boolean {
  const wild = tokens.findIndex((token) => token.kind !== "literal");
  const prefix = tokens
    .slice(0, wild === -1 ? undefined : wild)
    .map((token) => (token.kind === "literal" ? token.character : ""))
    .join("");
  if (wild === -1) return (text) => text === prefix;
  const rest = tokens.slice(wild);
  return (text) => text.startsWith(prefix) && follow(rest, text, prefix.length);
}

// `now` holds every token that could take the next character; each character moves all of them on at once.
function follow(tokens: readonly Token[], text: string, from: number): boolean {
  let now = new Set<number>();
  reach(tokens, now, 0);
  for (let at = from; at < text.length; at++) {
    const character = text[at]!;
    const next = new Set<number>();
    for (const place of now) {
      const token = tokens[place];
      if (token === undefined || token.kind === "maybe") continue;
      if (token.kind === "literal" ? token.character === character : takes(token.kind, character))
        reach(tokens, next, token.kind === "star" || token.kind === "globstar" ? place : place + 1);
    }
    if (next.size === 0) return false;
    now = next;
  }
  return now.has(tokens.length);
}

function takes(kind: "one" | "star" | "globstar", character: string): boolean {
  return kind === "globstar" || character !== "/";
}

function reach(tokens: readonly Token[], places: Set<number>, start: number): void {
  const open = [start];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (places.has(place)) continue;
    places.add(place);
    const token = tokens[place];
    if (token?.kind === "maybe") open.push(place + 1, place + 1 + token.skip);
    else if (token?.kind === "star" || token?.kind === "globstar") open.push(place + 1);
  }
}
