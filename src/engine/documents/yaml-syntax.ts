import type { Composer, CST, LineCounter, ParsedNode } from "yaml";
import { MAX_PROBLEMS } from "./document-error.ts";
import type { DocumentLimits } from "./document-limits.ts";
import { syntaxMessage } from "./syntax-message.ts";
import { yaml } from "./yaml-package.ts";

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
  const lines = new (yaml().LineCounter)();
  const tokens = readTokens(text, limits, lines);
  return { root: compose(tokens, text, lines), lines };
}

function readTokens(text: string, limits: DocumentLimits, lines: LineCounter): CST.Token[] {
  const refuse = (offset: number, message: string): never => {
    throw new UnreadableText([{ offset, message }], lines);
  };
  const { Lexer, Parser } = yaml();
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
  const composer = new (yaml().Composer)({
    schema: "core", // also under a %YAML 1.1 directive, whose dates and merge keys nobody expects
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
