import { clip } from "../contract/text.ts";

/*
 * Parts of a text that YAML reads otherwise than their author: marks of Git and of templates, comments in JSON, and
 * characters that look like spaces and quotes.
 */

interface MisreadText {
  offset: number;
  message: string;
}

const CONFLICT_MARK = /^(?:<{7}|>{7})(?: .*)?$/m;

/** An escape, a quote, a line end, or the beginning of a comment. The `//` of a URL without quotes is none. */
const COMMENT_TOKEN = /\\.|["\n]|(?<!\S)#|(?<![^\s"{}[\],])\/[/*]/g;

/** Finds a conflict mark of Git, or a comment in a .json file, before a parser gives it another meaning. */
export function findForeignText(text: string, file: string): MisreadText | undefined {
  const conflict = text.search(CONFLICT_MARK);
  if (conflict >= 0) {
    const message =
      "a merge conflict of Git is not resolved here; keep what is right, and delete the lines with <<<<<<<, ======= and >>>>>>>";
    return { offset: conflict, message };
  }
  if (!/\.json[c5]?$/i.test(file)) return undefined;
  return findJsonComment(text);
}

function findJsonComment(text: string): MisreadText | undefined {
  let [isInQuotes, isInYamlComment] = [false, false];
  for (const { 0: token, index } of text.matchAll(COMMENT_TOKEN)) {
    if (token === "\n") [isInQuotes, isInYamlComment] = [false, false];
    else if (isInYamlComment) continue;
    else if (token === '"') isInQuotes = !isInQuotes;
    else if (isInQuotes || token.startsWith("\\")) continue;
    else if (token === "#") isInYamlComment = true;
    else {
      const message = `JSON has no comments such as ${token}; delete it, or write YAML, whose comments begin with #`;
      return { offset: index, message };
    }
  }
  return undefined;
}

/** A placeholder or a statement of Jinja, Helm, Mustache and the like. */
const TEMPLATE_MARK = /\{\{[^{}\n]{0,200}\}\}|\{%[^\n]{0,200}?%\}/;
const QUOTED = /"[^"\n]*"|'[^'\n]*'/g;

/** Finds a mark of a template, outside of quotes, in the line that YAML cannot read, or in the line before. */
export function findTemplateMark(text: string, offset: number): MisreadText | undefined {
  const before = text
    .slice(Math.max(0, offset - 1000), offset)
    .split("\n")
    .slice(-2)
    .join("\n");
  const after = text.slice(offset, offset + 1000).split("\n", 1)[0]!;
  const unquoted = (before + after).replace(QUOTED, (quoted) => " ".repeat(quoted.length));
  const found = TEMPLATE_MARK.exec(unquoted);
  if (found === null) return undefined;
  const message = `${clip(found[0], 60)} belongs to a template that is not filled in yet; fill it in first, or quote it if it is a text`;
  return { offset: offset - before.length + found.index, message };
}

/** Characters that look like a space or like nothing, and that YAML takes for letters. */
const UNUSUAL_SPACE = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff]/;

const SPACE_NAMES: Readonly<Record<string, string>> = {
  "\u00a0": "a no-break space",
  "\u200b": "a zero-width space",
  "\u202f": "a narrow no-break space",
  "\u3000": "an ideographic space",
};

const toPattern = (before: string) => new RegExp(`^${before}${UNUSUAL_SPACE.source}`);
/** An unusual space in a key as parsed. With `␣` for the space: `␣key`, `key:␣value`, `-␣item`. */
const IN_KEY = toPattern("(?:-|[\\w-]+:)?");
/** An unusual space in a value as parsed: `-␣item`, `key:␣value`, `␣- item`. A value may begin with one otherwise. */
const IN_VALUE = toPattern(`(?:-|[\\w-]+:|(?=${UNUSUAL_SPACE.source}+- ))`);
/** An unusual space in the indentation of a line, or after its dash or the colon of its key. */
const IN_LINE = toPattern(" *(?:- +)*(?:-|[\\w-]+:)?");

/**
 * Finds an unusual space that was meant to indent or separate, in a key or value without quotes.
 * @param scalar its position, and its text as written
 */
export function findUnusualSpace(
  text: string,
  { offset, source, isKey }: { offset: number; source: string; isKey: boolean },
): MisreadText | undefined {
  if (!UNUSUAL_SPACE.test(source)) return undefined;
  const beginsLine = /(?:^|\n) *$/.test(text.slice(Math.max(0, offset - 200), offset));
  if (!isKey && !beginsLine) return undefined;
  return describeSpace((isKey ? IN_KEY : IN_VALUE).exec(source)?.[0], offset);
}

/** A quick test of a parsed value: false if `findUnusualSpace`, which needs the slow parser, can find nothing in its text. */
export function mayMisreadSpaces(text: string, value: unknown): boolean {
  const isMisread = (part: unknown): boolean => {
    if (typeof part === "string") return IN_VALUE.test(part);
    if (typeof part !== "object" || part === null) return false;
    return Object.entries(part).some(([key, inner]) => IN_KEY.test(key) || isMisread(inner));
  };
  return UNUSUAL_SPACE.test(text) && isMisread(value);
}

/** Finds an unusual space in the indentation of a line that YAML cannot read, or of the next line. */
export function findUnusualIndentation(text: string, offset: number): MisreadText | undefined {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const next = text.indexOf("\n", offset) + 1;
  for (const at of next > 0 ? [start, next] : [start]) {
    const problem = describeSpace(IN_LINE.exec(text.slice(at, at + 200))?.[0], at);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** @param match ends with the space */
function describeSpace(match: string | undefined, offset: number): MisreadText | undefined {
  if (match === undefined) return undefined;
  const space = match.at(-1)!;
  const code = space.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  const name = SPACE_NAMES[space] ?? "an unusual space";
  const message = `${name} (U+${code}) is here, which YAML does not take for a space; type an ordinary space, or quote the text`;
  return { offset: offset + match.length - 1, message };
}

const TYPOGRAPHIC_QUOTES = /^(?:[“„]([^“”„]*)[”“]|[‘‚]([^‘’‚]*)[’‘])$/;

/** The warning about a value in quotes that YAML takes for letters; undefined for any other value. */
export function describeTypographicQuotes(value: string): string | undefined {
  const [whole, double, single] = TYPOGRAPHIC_QUOTES.exec(value) ?? [];
  if (whole === undefined) return undefined;
  const text = clip(double ?? single ?? "", 40);
  return `the typographic quotes in ${clip(whole, 42)} are part of the text; write "${text}" if they only enclose it`;
}
