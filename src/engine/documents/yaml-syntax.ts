import { Composer, type CST, Lexer, type LineCounter, type ParsedNode, Parser } from "yaml";
import { MAX_PROBLEMS } from "./document-error.ts";

/** The bounds of a document; one beyond them is refused early, before it takes much memory. */
export interface DocumentLimits {
  /** Size of the text in bytes of UTF-8. */
  maxBytes: number;
  /** Lexical tokens and lines; reading costs time and memory in step with them. */
  maxTokens: number;
  /** Values after every alias has been replaced by what it stands for. */
  maxValues: number;
  /** Maps and lists within one another. */
  maxDepth: number;
  /** Characters of one text, key or comment. */
  maxScalar: number;
}

/** For texts that anyone may send: the worst of them ends well within a second. */
export const DEFAULT_LIMITS: DocumentLimits = {
  maxBytes: 16 * 1024 * 1024,
  maxTokens: 300_000,
  maxValues: 200_000,
  maxDepth: 64,
  maxScalar: 1_000_000,
};

/** For files that the user names on the command line: large worlds are welcome, runaway ones still are not. */
export const OWN_FILE_LIMITS: DocumentLimits = {
  ...DEFAULT_LIMITS,
  maxBytes: 64 * 1024 * 1024,
  maxTokens: 8_000_000,
  maxValues: 4_000_000,
};

/** Keys that reach an object's prototype when a value is merged or copied; no document may carry them. */
export const DANGEROUS_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** A fault in a text, placed by the offset of its first character. */
export interface SyntaxProblem {
  offset: number;
  message: string;
}

/** Ends the reading of a text; carries every problem found so far. */
export class UnreadableText extends Error {
  readonly problems: readonly SyntaxProblem[];

  constructor(...problems: readonly SyntaxProblem[]) {
    super(problems[0]?.message);
    this.problems = problems;
  }
}

/**
 * Parses one YAML 1.2 document (JSON is one) within its limits.
 *
 * The stages of the `yaml` package are driven one by one because its composer recurses, and its one-call entry
 * points build everything before anyone can look: here depth and size are judged token by token, and the
 * composer only ever sees what passed.
 * @throws UnreadableText
 */
export function parseYaml(text: string, limits: DocumentLimits, lines: LineCounter): ParsedNode | null {
  return compose(readTokens(text, limits, lines), text);
}

function readTokens(text: string, limits: DocumentLimits, lines: LineCounter): CST.Token[] {
  const refuse = (offset: number, message: string): never => {
    throw new UnreadableText({ offset, message });
  };
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens: CST.Token[] = [];
  let documents = 0;
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const offset = parser.offset;
    if (lexeme.length > limits.maxScalar)
      refuse(offset, `one text has more than ${limits.maxScalar} characters`);
    if (++count + lines.lineStarts.length > limits.maxTokens)
      refuse(offset, `the document is too large: it has more than ${limits.maxTokens} parts and lines`);
    for (const token of parser.next(lexeme)) {
      if (token.type === "error")
        refuse(token.offset, syntaxMessage("UNEXPECTED_TOKEN", token.message, text));
      tokens.push(token);
      // A document token arrives when it has ended; what follows the first is judged by the stack below.
      if (token.type === "document") documents++;
    }
    const open = parser.stack[0];
    if (documents > 0 && open?.type === "document")
      refuse(open.offset, "a second document begins here; a file holds exactly one");
    if (openCollections(parser.stack, limits.maxDepth) > limits.maxDepth)
      refuse(offset, `maps and lists are nested more than ${limits.maxDepth} deep`);
  }
  for (const token of parser.end()) {
    if (token.type === "error") refuse(token.offset, syntaxMessage("UNEXPECTED_TOKEN", token.message, text));
    tokens.push(token);
  }
  return tokens;
}

// Each open collection holds one place of the parser's stack, beside the document and at most one scalar.
function openCollections(stack: readonly CST.Token[], interesting: number): number {
  if (stack.length <= interesting) return 0;
  return stack.filter((token) => "items" in token).length;
}

function compose(tokens: readonly CST.Token[], text: string): ParsedNode | null {
  const problems: SyntaxProblem[] = [];
  const composer = new Composer({
    schema: "core", // also under a %YAML 1.1 directive, whose dates and merge keys users do not expect
    resolveKnownTags: false,
    uniqueKeys: false, // its check is quadratic; ours is in yaml-nodes.ts
    strict: true,
    prettyErrors: false,
    logLevel: "silent",
  });
  // The composer gathers every error of a text as an Error object, and a few megabytes can hold millions of them
  // (`"\q\q\q…"`). Its reporter is a private property; replacing it is the only way to stop at the twentieth.
  (composer as unknown as { onError: unknown }).onError = (
    source: number | readonly [number, number] | { offset: number },
    code: string,
    message: string,
  ): void => {
    const offset = typeof source === "number" ? source : "offset" in source ? source.offset : source[0];
    problems.push({ offset, message: syntaxMessage(code, message, text) });
    if (problems.length >= MAX_PROBLEMS) throw new UnreadableText(...problems);
  };
  let root: ParsedNode | null = null;
  for (const document of composer.compose(tokens, true, text.length)) {
    // A few errors of the stream around the document do not pass through the reporter.
    for (const error of document.errors)
      problems.push({ offset: error.pos[0], message: syntaxMessage(error.code, error.message, text) });
    if (problems.length > 0) break;
    root = document.contents as ParsedNode | null;
  }
  if (problems.length > 0) throw new UnreadableText(...problems);
  return root;
}

const WORDS: Readonly<Record<string, string>> = {
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

/** Says in plain words what the YAML parser found wrong; its own words are kept where they are the clearest. */
function syntaxMessage(code: string, message: string, text: string): string {
  const json = /^\s*[{[]/.test(text);
  if (code === "MISSING_CHAR") return missing(message);
  if (code === "TAG_RESOLVE_FAILED") return `the tag ${tagIn(message)} is not understood; leave it out`;
  if (code === "BAD_SCALAR_START") return badStart(message);
  if (code === "UNEXPECTED_TOKEN") return unexpected(message, json);
  if (json && (code === "BAD_INDENT" || code === "BLOCK_IN_FLOW"))
    return "something is missing before this: a comma, a colon, or a closing brace or bracket";
  return WORDS[code] ?? lowerFirst(message);
}

/** By a part of the parser's message about a character that is missing. */
const MISSING: readonly (readonly [RegExp, string])[] = [
  [/Missing , /, "a comma is missing before this entry"],
  [/Missing closing "/, 'a text that begins with " is never closed'],
  [/Missing closing '/, "a text that begins with ' is never closed"],
  [/must end with a }|expected .*}/i, "a map that begins with { is never closed by }"],
  [/must end with a ]|expected .*]/i, "a list that begins with [ is never closed by ]"],
  [/directives-end/, "a line that begins with % is a directive and needs --- after it"],
  [/followed by map values/, "a colon is missing after this key"],
  [/space after -/, "a space is missing after the dash"],
];

function missing(message: string): string {
  const known = MISSING.find(([pattern]) => pattern.test(message))?.[1];
  return (
    known ?? (message.includes("space") ? `a space is missing: ${lowerFirst(message)}` : lowerFirst(message))
  );
}

function badStart(message: string): string {
  const character = /character (\S+)$/.exec(message)?.[1];
  if (character === undefined) return lowerFirst(message);
  return `a text that begins with ${character} must be quoted`;
}

function unexpected(message: string, json: boolean): string {
  if (message.includes("Unexpected ,")) return "a comma too many: there is nothing before it";
  const end = /flow-(map|seq)-end/.exec(message);
  if (end !== null) return `a ${end[1] === "map" ? "}" : "]"} too many: nothing is open that it could close`;
  if (json) return "this cannot stand here; is a comma, a colon or a quote missing before it?";
  if (message.includes("at node end"))
    return "this cannot follow a finished value; is a line break or a quote missing?";
  return lowerFirst(message);
}

function tagIn(message: string): string {
  const tag = /tag:? (\S+)$/i.exec(message)?.[1] ?? "!";
  return tag.replace("tag:yaml.org,2002:", "!!").slice(0, 60);
}

function lowerFirst(message: string): string {
  const short = message.length > 200 ? `${message.slice(0, 199)}…` : message;
  return short.charAt(0).toLowerCase() + short.slice(1);
}
