import {
  type Alias,
  Composer,
  type CST,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type LineCounter,
  type Node,
  type ParsedNode,
  Parser,
  type Scalar,
} from "yaml";
import { clip } from "../contract/text.ts";
import { describeInexactNumber, describeRepeatedKey } from "./check-json.ts";
import { MAX_PROBLEMS } from "./document-error.ts";
import { type DocumentLimits, isDangerousKey } from "./document-limits.ts";
import { describeTypographicQuotes, findUnusualIndentation, findUnusualSpace } from "./misread-text.ts";
import { toSyntaxMessage } from "./yaml-messages.ts";

/** A syntax problem, with the offset of its first character. */
export interface SyntaxProblem {
  offset: number;
  message: string;
}

/** Ends the reading of a text; carries every problem found so far. */
export class UnreadableTextError extends Error {
  readonly problems: readonly SyntaxProblem[];

  constructor(...problems: readonly SyntaxProblem[]) {
    super(problems[0]?.message);
    this.problems = problems;
  }
}

/**
 * Parses one YAML 1.2 document (JSON is one) within its limits.
 *
 * The stages of the `yaml` package are driven one by one because its composer recurses, and its high-level functions
 * build everything before any check. Here depth and size are checked token by token, and the composer only gets
 * accepted tokens.
 * @throws UnreadableTextError
 */
export function parseYaml(text: string, limits: DocumentLimits, lines: LineCounter): ParsedNode | null {
  return compose(readTokens(text, limits, lines), text);
}

function readTokens(text: string, limits: DocumentLimits, lines: LineCounter): CST.Token[] {
  const refuse = (offset: number, message: string): never => {
    throw new UnreadableTextError({ offset, message });
  };
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens: CST.Token[] = [];
  let documents = 0;
  const accept = (token: CST.Token) => {
    if (token.type === "error")
      throw new UnreadableTextError(
        toSyntaxProblem(token.offset, { code: "UNEXPECTED_TOKEN", message: token.message, text }),
      );
    tokens.push(token);
    // The parser emits the token of a document at the document's end; a second one is found below, when it begins.
    if (token.type === "document") documents++;
  };
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const offset = parser.offset;
    if (lexeme.length > limits.maxScalar)
      refuse(offset, `one text has more than ${limits.maxScalar} characters`);
    if (++count + lines.lineStarts.length > limits.maxTokens)
      refuse(offset, `the document is too large: it has more than ${limits.maxTokens} parts and lines`);
    for (const token of parser.next(lexeme)) accept(token);
    const openDocument = parser.stack[0];
    if (documents > 0 && openDocument?.type === "document")
      refuse(openDocument.offset, "a second document begins here; a file holds exactly one");
    if (countOpenCollections(parser.stack, limits.maxDepth) > limits.maxDepth)
      refuse(offset, `maps and lists are nested more than ${limits.maxDepth} deep`);
  }
  for (const token of parser.end()) accept(token);
  return tokens;
}

// The stack contains the document, each open collection and at most one scalar.
function countOpenCollections(stack: readonly CST.Token[], maxDepth: number): number {
  if (stack.length <= maxDepth) return 0;
  return stack.filter((token) => "items" in token).length;
}

function compose(tokens: readonly CST.Token[], text: string): ParsedNode | null {
  const problems: SyntaxProblem[] = [];
  const composer = new Composer({
    schema: "core", // also under a %YAML 1.1 directive, whose dates and merge keys users do not expect
    resolveKnownTags: false,
    uniqueKeys: false, // its check is quadratic; ours is `checkNodes`
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
    problems.push(toSyntaxProblem(offset, { code, message, text }));
    if (problems.length >= MAX_PROBLEMS) throw new UnreadableTextError(...problems);
  };
  let root: ParsedNode | null = null;
  for (const document of composer.compose(tokens, true, text.length)) {
    // A few errors of the stream around the document do not pass through the reporter.
    for (const { pos, code, message } of document.errors)
      problems.push(toSyntaxProblem(pos[0], { code, message, text }));
    if (problems.length > 0) break;
    root = document.contents as ParsedNode | null;
  }
  if (problems.length > 0) throw new UnreadableTextError(...problems);
  return root;
}

function toSyntaxProblem(
  offset: number,
  { code, message, text }: { code: string; message: string; text: string },
): SyntaxProblem {
  return findUnusualIndentation(text, offset) ?? { offset, message: toSyntaxMessage(code, message, text) };
}

/** The target of each alias: the nearest anchor of its name before it. */
export type AliasTargets = ReadonlyMap<Alias, Node>;

interface Walk {
  text: string;
  allowsAnyKey: boolean;
  problems: SyntaxProblem[];
  warnings: SyntaxProblem[];
  targets: Map<Alias, Node>;
  anchors: Map<string, Node>;
  openNodes: Set<Node>;
}

/**
 * Walks a parsed document once, in its order. Finds alias targets, and comments and anchors that were probably meant as values.
 * @throws UnreadableTextError for what YAML allows and our documents do not, such as dangerous keys, merge keys,
 * integers that lose digits, and aliases without a target
 */
export function checkNodes(
  root: Node | null,
  text: string,
  allowsAnyKey: boolean,
): { targets: AliasTargets; warnings: readonly SyntaxProblem[] } {
  const walk: Walk = {
    text,
    allowsAnyKey,
    problems: [],
    warnings: [],
    targets: new Map(),
    anchors: new Map(),
    openNodes: new Set(),
  };
  checkNode(root, walk);
  if (walk.problems.length > 0) throw new UnreadableTextError(...walk.problems);
  checkAnchors(walk);
  return walk;
}

function checkNode(node: unknown, walk: Walk): void {
  if (walk.problems.length >= MAX_PROBLEMS) return;
  if (isAlias(node)) checkAlias(node, walk);
  if (!isScalar(node) && !isCollection(node)) return;
  if (node.anchor !== undefined) walk.anchors.set(node.anchor, node);
  if (isScalar(node)) {
    checkNumber(node, walk);
    checkComment(node, walk);
    checkQuotes(node, walk);
    checkSpaces(node, walk, false);
  }
  if (!isCollection(node)) return;
  walk.openNodes.add(node);
  if (isSeq(node)) for (const item of node.items) checkNode(item, walk);
  if (isMap(node)) checkKeys(node.items, walk);
  walk.openNodes.delete(node);
}

function checkKeys(items: readonly { key: unknown; value: unknown }[], walk: Walk): void {
  const seen = new Set<string>();
  for (const { key, value } of items) {
    if (walk.problems.length >= MAX_PROBLEMS) return;
    const name = getKeyName(key);
    if (name === undefined) addProblem(walk, key, "a key must be a plain text");
    else if (name === "" && (key as Scalar).type === "PLAIN")
      addProblem(walk, key, "a key is missing before the colon");
    else if (isDangerousKey(name, walk.allowsAnyKey))
      addProblem(walk, key, `the key \`${name}\` is not allowed`);
    else if (name === "<<")
      addProblem(walk, key, "merge keys (<<) are not supported; write the fields out here");
    else if (seen.has(name)) addProblem(walk, key, describeRepeatedKey(name));
    else seen.add(name);
    if (isScalar(key)) {
      if (key.anchor !== undefined) walk.anchors.set(key.anchor, key);
      checkSpaces(key, walk, true);
    }
    checkNode(value, walk);
  }
}

function checkAlias(alias: Alias, walk: Walk): void {
  const target = walk.anchors.get(alias.source);
  const name = clip(alias.source, 60);
  if (target === undefined) addProblem(walk, alias, `no anchor &${name} comes before this alias`);
  else if (walk.openNodes.has(target))
    addProblem(walk, alias, `*${name} is inside the value that it refers to`);
  else walk.targets.set(alias, target);
}

/** A text that begins with `&`, such as `&Co KG`, has an anchor unless it is quoted, which leaves `KG`. */
function checkAnchors({ anchors, targets, warnings }: Walk): void {
  const used = new Set(targets.values());
  for (const [name, node] of anchors) {
    if (used.has(node) || !isScalar(node) || node.type !== "PLAIN" || !node.range) continue;
    if (typeof node.value === "number" || typeof node.value === "boolean") continue;
    if (warnings.length >= MAX_PROBLEMS) return;
    const fullValue = clip(`&${name} ${node.source ?? ""}`.trim(), 60);
    const message = `\`&${clip(name, 60)}\` is an anchor that no alias names, and was probably meant as part of the value; quote it: "${fullValue}"`;
    warnings.push({ offset: node.range[0], message });
  }
}

// An integer that changes when it is read must be an error; `.inf` and `.nan` have no form in JSON.
function checkNumber(node: Scalar, walk: Walk): void {
  const { value, source = "" } = node;
  // Schemas have numbers such as bounds, which need not be exact.
  if (walk.allowsAnyKey) return;
  if (typeof value !== "number" || Number.isSafeInteger(value)) return;
  if (!Number.isFinite(value)) addProblem(walk, node, "a number must be finite; quote it if it is a text");
  else if (Number.isInteger(value) && /^[-+]?(\d+|0x[\da-f]+|0o[0-7]+)$/i.test(source))
    addProblem(walk, node, describeInexactNumber(source));
}

/** A value that begins with `#`, such as a colour, is a comment unless it is quoted, and so is what follows ` #`. */
function checkComment({ value, source, range }: Scalar, { text, warnings }: Walk): void {
  if (!range || warnings.length >= MAX_PROBLEMS) return;
  COMMENT.lastIndex = range[1];
  const comment = COMMENT.exec(text)?.[1];
  if (comment === undefined) return;
  const isEmpty = value === null && !source;
  const isLost = isEmpty ? /^[^\s#]/.test(comment) : typeof value === "string" && LIKELY_VALUE.test(comment);
  if (!isLost) return;
  const fullValue = clip(`${isEmpty ? "" : `${source} `}#${comment}`, 60);
  const message = `\`#${clip(comment, 60)}\` is a comment, and was probably meant as ${isEmpty ? "a value" : "part of the value"}; quote it: "${fullValue}"`;
  warnings.push({ offset: range[0], message });
}

/** Matches a comment on the line of the value. */
const COMMENT = /[ \t]*#([^\r\n]*)/y;

/** A number or a colour in hexadecimal digits. */
const LIKELY_VALUE = /^(\d+|[\da-f]{3,8})$/i;

function checkQuotes({ value, type, range }: Scalar, { warnings }: Walk): void {
  if (type !== "PLAIN" || !range || typeof value !== "string" || warnings.length >= MAX_PROBLEMS) return;
  const message = describeTypographicQuotes(value);
  if (message !== undefined) warnings.push({ offset: range[0], message });
}

function checkSpaces({ source, type, range }: Scalar, { text, problems }: Walk, isKey: boolean): void {
  if (type !== "PLAIN" || !range || source === undefined) return;
  const problem = findUnusualSpace(text, { offset: range[0], source, isKey });
  if (problem !== undefined) problems.push(problem);
}

function addProblem(walk: Walk, node: unknown, message: string): void {
  walk.problems.push({ offset: findOffset(node), message });
}

/** The name of a key as it was written: `1.10`, `true` and `null` are names too. Undefined for a map, list or alias. */
export function getKeyName(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  return typeof key.value === "string" ? key.value : (key.source ?? "");
}

export function findOffset(node: unknown): number {
  return isScalar(node) || isCollection(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0;
}

/**
 * The plain value of checked nodes. Each use of an alias gets its own copy, so that changing one record never changes
 * another. Copies are counted, which stops a "billion laughs" attack.
 * @throws UnreadableTextError beyond the limits
 */
export function toPlainValue(root: Node | null, targets: AliasTargets, limits: DocumentLimits): unknown {
  let values = 0;
  const convert = (node: unknown, depth: number): unknown => {
    const refuse = (message: string): never => {
      throw new UnreadableTextError({ offset: findOffset(node), message });
    };
    if (++values > limits.maxValues)
      refuse(`the document is too large: it expands to more than ${limits.maxValues} values`);
    if (depth > limits.maxDepth) refuse(`maps and lists are nested more than ${limits.maxDepth} deep`);
    if (isAlias(node)) return convert(targets.get(node), depth);
    if (isScalar(node)) return Object.is(node.value, -0) ? 0 : node.value;
    if (isSeq(node)) return node.items.map((item) => convert(item, depth + 1));
    if (!isMap(node)) return null;
    const fields: Record<string, unknown> = {};
    for (const pair of node.items) fields[getKeyName(pair.key) ?? ""] = convert(pair.value, depth + 1);
    return fields;
  };
  return convert(root, 0);
}
