import { isAlias, isMap, isSeq, LineCounter, type Node } from "yaml";
import { utf8Length } from "../bytes.ts";
import {
  clip,
  DocumentError,
  type DocumentPath,
  type DocumentProblem,
  documentError,
  formatPath,
  MAX_PROBLEMS,
  NO_POSITION,
  type Position,
} from "./document-error.ts";
import {
  type AliasTargets,
  checkNodes,
  DANGEROUS_KEYS,
  DEFAULT_LIMITS,
  type DocumentLimits,
  findOffset,
  keyName,
  parseYaml,
  type SyntaxProblem,
  toPlainValue,
  UnreadableText,
} from "./yaml.ts";

/** A document of a user: its plain value, and the position of each part in the text. */
export interface UserDocument {
  file: string;
  value: unknown;
  /** The text it was read from; undefined for a value that came without one. */
  text?: string;
  /** The position of the value at a path, counted from 1; for a missing value, that of its nearest ancestor. */
  locate(path: DocumentPath): Position;
  /** The position of the key at the end of a path; for an item of a list, of the item. */
  locateKey(path: DocumentPath): Position;
}

/** Called for a probable mistake in a usable document. */
export type Warn = (problem: DocumentProblem) => void;

export interface ReadOptions {
  /** The name that messages give the document. */
  file: string;
  limits?: Partial<DocumentLimits>;
  warn?: Warn | undefined;
  /** For documents in which any name is a key; `__proto__` is refused nevertheless. */
  anyKey?: boolean;
}

/**
 * Reads one YAML 1.2 or JSON document (fixtures of interfaces 5, scenarios of interfaces 6, the configuration of
 * interfaces 2). Dates stay texts. An empty text reads as null.
 * @throws DocumentError with a position: broken syntax, several documents, a key given twice, and anything
 * beyond the limits, which is refused before it costs time or memory. It throws nothing else.
 */
export function readDocument(text: string, options: ReadOptions): UserDocument {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { file } = options;
  if (text.length > limits.maxBytes || utf8Length(text) > limits.maxBytes)
    throw documentError(file, START, `the document is larger than ${formatBytes(limits.maxBytes)}`);
  // A byte order mark belongs to the file, not to its first line.
  const content = text.startsWith("\ufeff") ? text.slice(1) : text;
  const lines = new LineCounter();
  try {
    const root = parseYaml(content, limits, lines);
    const { targets, warnings } = checkNodes(root, content);
    const place = (node: unknown) => toPosition(lines, findOffset(node));
    for (const { offset, message } of warnings)
      options.warn?.({ file, ...toPosition(lines, offset), field: "", message });
    return {
      file,
      text: content,
      value: toPlainValue(root, targets, limits),
      locate: (path) => place(findNode(root, path, targets).node),
      locateKey: (path) => place(findNode(root, path, targets).key),
    };
  } catch (error) {
    if (error instanceof UnreadableText) {
      const problems = keepOnePerLine(error.problems, lines);
      throw new DocumentError(
        problems.map((problem) => ({ file, field: "", ...problem })),
        content,
      );
    }
    // Any error of the parser on a hostile text is reported as a problem of the text.
    const reason = error instanceof Error ? error.message : String(error);
    throw documentError(file, START, `the document cannot be read: ${clip(reason, 200)}`);
  }
}

const START: Position = { line: 1, column: 1 };

/**
 * Wraps a value that arrived without a text of its own (a fixture or a rule in a request's body), so that the same
 * limits and checks apply; its positions are line 0.
 * @throws DocumentError
 */
export function inlineDocument(value: unknown, options: ReadOptions): UserDocument {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { file } = options;
  const refuse = (message: string, at?: DocumentPath) =>
    documentError(file, NO_POSITION, message, at && { path: at });
  const path: (string | number)[] = [];
  let values = 0;
  const check = (part: unknown): void => {
    if (++values > limits.maxValues)
      throw refuse(`the document is too large: it has more than ${limits.maxValues} values`);
    if (typeof part !== "object" || part === null) return;
    if (path.length > limits.maxDepth)
      throw refuse(`maps and lists are nested more than ${limits.maxDepth} deep`);
    for (const key of Object.keys(part)) {
      path.push(Array.isArray(part) ? Number(key) : key);
      if (DANGEROUS_KEYS.has(key) && (key === "__proto__" || !options.anyKey))
        throw refuse(`the key \`${key}\` is not allowed`, path);
      check((part as Record<string, unknown>)[key]);
      path.pop();
    }
  };
  check(value);
  return { file, value, locate: () => NO_POSITION, locateKey: () => NO_POSITION };
}

export interface ProblemDetails {
  path: DocumentPath;
  message: string;
  hint?: string | undefined;
  /** Points at the key that ends the path instead of at its value. */
  atKey?: boolean;
}

/** A problem that no schema can express, at the position of its path. */
export function problemAt(document: UserDocument, details: ProblemDetails): DocumentProblem {
  const { path, message, hint, atKey } = details;
  const position = atKey ? document.locateKey(path) : document.locate(path);
  const problem = { file: document.file, ...position, field: formatPath(path), message };
  return hint === undefined ? problem : { ...problem, hint };
}

/** @throws DocumentError if there are problems; its frames show the document's text. */
export function throwProblems(document: UserDocument, problems: readonly DocumentProblem[]): void {
  if (problems.length > 0) throw new DocumentError(problems, document.text);
}

function findNode(root: Node | null, path: DocumentPath, targets: AliasTargets) {
  let node: unknown = root;
  let key: unknown = root;
  for (const step of path) {
    const inside = isAlias(node) ? targets.get(node) : node;
    if (isSeq(inside) && typeof step === "number" && step in inside.items) {
      node = inside.items[step];
      key = node;
      continue;
    }
    const pair = isMap(inside)
      ? inside.items.find((candidate) => keyName(candidate.key) === String(step))
      : undefined;
    if (pair === undefined) return { node, key: node };
    key = pair.key;
    node = pair.value ?? pair.key;
  }
  return { node, key };
}

function toPosition(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

// One mistake can cause several errors in a line; only the first helps.
function keepOnePerLine(problems: readonly SyntaxProblem[], lines: LineCounter) {
  const seen = new Map<number, Position & { message: string }>();
  for (const { offset, message } of problems) {
    const position = toPosition(lines, offset);
    if (!seen.has(position.line)) seen.set(position.line, { ...position, message });
  }
  return [...seen.values()].slice(0, MAX_PROBLEMS);
}

function formatBytes(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.floor(bytes / (1024 * 1024))} MB` : `${bytes} bytes`;
}
