import { clip } from "../contract/text.ts";

const MESSAGES: Readonly<Record<string, string>> = {
  BAD_ALIAS: "an alias (*name) or anchor (&name) needs a plain name",
  BAD_DQ_ESCAPE: "an unknown escape in a quoted text; write \\\\ for a backslash",
  BAD_INDENT: "the indentation does not fit the lines around it",
  BLOCK_AS_IMPLICIT_KEY:
    "a second `key:` on one line; put the inner map on lines of its own, or quote the text",
  KEY_OVER_1024_CHARS: "a key may have at most 1,024 characters",
  MULTILINE_IMPLICIT_KEY: "a key must end on the line it begins on; is a colon or a closing quote missing?",
  MULTIPLE_DOCS: "a second document begins here; a file holds exactly one",
  TAB_AS_INDENT: "a tab indents here; YAML is indented with spaces",
  BAD_DIRECTIVE: "directives such as %TAG are not understood here",
};

/** A value that begins with `#` is a comment, which hides the end of its map or list in braces. */
const HIDDEN_END = /[{[][^\n}\]#]{0,200}[ \t]#\S/;
/** Maximum number of characters that are searched, since a hostile text must not take long. */
const MAX_SEARCHED = 65_536;

/**
 * Translates an error of the YAML parser to plain words.
 * @param text the whole document
 */
export function toSyntaxMessage(code: string, message: string, text: string): string {
  const words = translateMessage(code, message, text);
  const isHidden =
    ["MISSING_CHAR", "BAD_INDENT"].includes(code) && HIDDEN_END.test(text.slice(0, MAX_SEARCHED));
  return isHidden ? `${words}; quote a value that begins with #` : words;
}

/** Uses the parser's own words if they are clear. */
function translateMessage(code: string, message: string, text: string): string {
  // JSON, or YAML that is written in braces or brackets.
  const isJson = /^\s*[{[]/.test(text);
  if (code === "MISSING_CHAR") return describeMissing(message);
  if (code === "TAG_RESOLVE_FAILED") return `the tag ${findTag(message)} is not understood; leave it out`;
  if (code === "BAD_SCALAR_START") return describeBadStart(message);
  if (code === "UNEXPECTED_TOKEN") return describeUnexpected(message, isJson);
  if (isJson && (code === "BAD_INDENT" || code === "BLOCK_IN_FLOW"))
    return "something is missing before this: a comma, a colon, or a closing brace or bracket";
  const end = /in block collection .* end with a ([\]}])/.exec(message)?.[1];
  if (end !== undefined) {
    const start = end === "]" ? "a list that begins with [" : "a map that begins with {";
    return `${start} is not closed by ${end} before this line; close it, or indent the line`;
  }
  return MESSAGES[code] ?? shortenMessage(message);
}

/** Advice by a part of the parser's message about a missing character. */
const MISSING_CHARACTER_ADVICE: readonly (readonly [RegExp, string])[] = [
  [/Missing , /, "a comma is missing before this entry"],
  [/Missing closing "/, 'a text that begins with " is never closed'],
  [/Missing closing '/, "a text that begins with ' is never closed"],
  [/must end with a }|expected .*}/i, "a map that begins with { is never closed by }"],
  [/must end with a ]|expected .*]/i, "a list that begins with [ is never closed by ]"],
  [/directives-end/, "a line that begins with % is a directive and needs --- after it"],
  [/followed by map values/, "a colon is missing after this key"],
  [/space after -/, "a space is missing after the dash"],
  [/without - indicator/, MESSAGES["BAD_INDENT"]!],
];

function describeMissing(message: string): string {
  const advice = MISSING_CHARACTER_ADVICE.find(([pattern]) => pattern.test(message))?.[1];
  return (
    advice ??
    (message.includes("space") ? `a space is missing: ${shortenMessage(message)}` : shortenMessage(message))
  );
}

function describeBadStart(message: string): string {
  const character = /character (\S+)$/.exec(message)?.[1];
  if (character === undefined) return shortenMessage(message);
  return `a text that begins with ${character} must be quoted`;
}

function describeUnexpected(message: string, isJson: boolean): string {
  if (message.includes("Unexpected ,")) return "a comma too many: there is nothing before it";
  const end = /flow-(map|seq)-end/.exec(message);
  if (end !== null) return `a ${end[1] === "map" ? "}" : "]"} too many: nothing is open that it could close`;
  if (message.includes("block-seq-ind on same line"))
    return "a list begins on the line of its key; put each item on a line of its own, or quote the text";
  if (/Block scalar header|Not a YAML token/.test(message))
    return "the text after | or > begins on the next line; quote a text that begins with | or >";
  if (isJson) return "this is not allowed here; is a comma, a colon or a quote missing before it?";
  if (message.includes("at node end"))
    return "this cannot follow a finished value; is a line break or a quote missing?";
  return shortenMessage(message);
}

function findTag(message: string): string {
  const tag = /tag:? (\S+)$/i.exec(message)?.[1] ?? "!";
  return tag.replace("tag:yaml.org,2002:", "!!").slice(0, 60);
}

/** Shortens the parser's message, and lets it begin with a small letter as ours do. */
function shortenMessage(message: string): string {
  const short = clip(message, 200);
  return short.charAt(0).toLowerCase() + short.slice(1);
}
