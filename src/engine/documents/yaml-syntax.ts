import { Composer, type CST, Lexer, LineCounter, type ParsedNode, Parser } from "yaml";
import { MAX_PROBLEMS } from "./document-error.ts";
import type { DocumentLimits } from "./document-limits.ts";

/** A fault in a text, placed by the offset of its first character. */
export interface SyntaxProblem {
  offset: number;
  message: string;
}

export interface YamlSyntax {
  root: ParsedNode | null;
  lines: LineCounter;
}

/** Ends the reading of a text; carries every problem found so far. */
export class UnreadableText extends Error {
  readonly problems: readonly SyntaxProblem[];
  readonly lines: LineCounter;

  constructor(problems: readonly SyntaxProblem[], lines: LineCounter) {
    super(problems[0]?.message);
    this.problems = problems;
    this.lines = lines;
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
export function parseYaml(text: string, limits: DocumentLimits): YamlSyntax {
  const lines = new LineCounter();
  const tokens = readTokens(text, limits, lines);
  return { root: compose(tokens, text, lines), lines };
}

function readTokens(text: string, limits: DocumentLimits, lines: LineCounter): CST.Token[] {
  const refuse = (offset: number, message: string): never => {
    throw new UnreadableText([{ offset, message }], lines);
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

function compose(tokens: readonly CST.Token[], text: string, lines: LineCounter): ParsedNode | null {
  const problems: SyntaxProblem[] = [];
  const composer = new Composer({
    schema: "core", // also under a %YAML 1.1 directive, whose dates and merge keys users do not expect
    resolveKnownTags: false,
    uniqueKeys: false, // its check is quadratic; ours is in check-nodes.ts
    strict: true,
    prettyErrors: false,
    logLevel: "silent",
  });
  collectErrors(composer, (offset, code, message) => {
    problems.push({ offset, message: syntaxMessage(code, message, text) });
    if (problems.length >= MAX_PROBLEMS) throw new UnreadableText(problems, lines);
  });
  let root: ParsedNode | null = null;
  for (const document of composer.compose(tokens, true, text.length)) {
    // A few errors of the stream around the document do not pass through the reporter.
    for (const error of document.errors)
      problems.push({ offset: error.pos[0], message: syntaxMessage(error.code, error.message, text) });
    if (problems.length > 0) break;
    root = document.contents as ParsedNode | null;
  }
  if (problems.length > 0) throw new UnreadableText(problems, lines);
  return root;
}

type ErrorSource = number | readonly [number, number] | { offset: number };

// The composer gathers every error of a text as an Error object, and a few megabytes can hold millions of them
// (`"\q\q\q…"`). Its reporter is a private property; replacing it is the only way to stop at the twentieth.
function collectErrors(
  composer: Composer,
  report: (offset: number, code: string, message: string) => void,
): void {
  (composer as unknown as { onError: unknown }).onError = (
    source: ErrorSource,
    code: string,
    message: string,
  ): void => {
    const offset = typeof source === "number" ? source : "offset" in source ? source.offset : source[0];
    report(offset, code, message);
  };
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
export function syntaxMessage(code: string, message: string, text: string): string {
  const json = /^\s*[{[]/.test(text);
  if (code === "MISSING_CHAR") return missing(message);
  if (code === "TAG_RESOLVE_FAILED") return `the tag ${tagIn(message)} is not understood; leave it out`;
  if (code === "BAD_SCALAR_START") return badStart(message);
  if (code === "UNEXPECTED_TOKEN") return unexpected(message, json);
  if (json && (code === "BAD_INDENT" || code === "BLOCK_IN_FLOW"))
    return "something is missing before this: a comma, a colon, or a closing brace or bracket";
  return WORDS[code] ?? lowerFirst(message);
}

function missing(message: string): string {
  if (message.includes("Missing , ")) return "a comma is missing before this entry";
  const quote = /Missing closing (["'])/.exec(message);
  if (quote !== null) return `a text that begins with ${quote[1]} is never closed`;
  if (/must end with a }|expected .*}/i.test(message)) return "a map that begins with { is never closed by }";
  if (/must end with a ]|expected .*]/i.test(message))
    return "a list that begins with [ is never closed by ]";
  if (message.includes("directives-end"))
    return "a line that begins with % is a directive and needs --- after it";
  if (message.includes("followed by map values")) return "a colon is missing after this key";
  if (message.includes("space after -")) return "a space is missing after the dash";
  if (message.includes("whitespace") || message.includes("space"))
    return `a space is missing: ${lowerFirst(message)}`;
  return lowerFirst(message);
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
