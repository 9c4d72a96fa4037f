import { isAlias, isMap, isSeq, LineCounter, type Node } from "yaml";
import { countUtf8Bytes } from "../bytes.ts";
import { clip } from "../contract/text.ts";
import { normalizeText } from "./decode-text.ts";
import {
  DocumentError,
  type DocumentPath,
  documentError,
  MAX_PROBLEMS,
  type Position,
  toPosition,
} from "./document-error.ts";
import { DEFAULT_LIMITS } from "./document-limits.ts";
import { findForeignText, findTemplateMark } from "./misread-text.ts";
import type { ReadOptions, UserDocument } from "./user-document.ts";
import {
  type AliasTargets,
  checkNodes,
  findOffset,
  getKeyName,
  parseYaml,
  type SyntaxProblem,
  toPlainValue,
  UnreadableTextError,
} from "./yaml.ts";

/**
 * Reads one YAML 1.2 or JSON document (fixtures of interfaces.md 5, scenarios of interfaces.md 6, the configuration of
 * interfaces.md 2). Dates stay texts. An empty text reads as null.
 * @throws DocumentError with a position: conflict marks of Git, comments in JSON, broken syntax, several documents, a key
 * given twice, and anything beyond the limits, which is refused before it costs time or memory. It throws nothing else.
 */
export function readDocument(text: string, options: ReadOptions): UserDocument {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { file } = options;
  if (text.length > limits.maxBytes || countUtf8Bytes(text) > limits.maxBytes)
    throw documentError(file, START, `the document is larger than ${formatBytes(limits.maxBytes)}`);
  const content = normalizeText(text);
  const lines = new LineCounter();
  const foreignText = findForeignText(content, file);
  if (foreignText !== undefined) {
    const { offset, message } = foreignText;
    throw documentError(file, toPosition(content, offset), message, { text: content });
  }
  try {
    const root = parseYaml(content, limits, lines);
    const { targets, warnings } = checkNodes(root, content, options.allowsAnyKey ?? false);
    const locateNode = (node: unknown) => toLinePosition(lines, findOffset(node));
    for (const { offset, message } of warnings)
      options.warn?.({ file, ...toLinePosition(lines, offset), field: "", message });
    return {
      file,
      text: content,
      value: toPlainValue(root, targets, limits),
      locate: (path) => locateNode(findNode(root, path, targets).node),
      locateKey: (path) => locateNode(findNode(root, path, targets).key),
    };
  } catch (error) {
    if (error instanceof UnreadableTextError) {
      const template = findTemplateMark(content, error.problems[0]!.offset);
      const problems = keepOnePerLine(template === undefined ? error.problems : [template], lines);
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

function findNode(root: Node | null, path: DocumentPath, targets: AliasTargets) {
  let node: unknown = root;
  let key: unknown = root;
  for (const step of path) {
    const target = isAlias(node) ? targets.get(node) : node;
    if (isSeq(target) && typeof step === "number" && step in target.items) {
      node = target.items[step];
      key = node;
      continue;
    }
    const pair = isMap(target)
      ? target.items.find((candidate) => getKeyName(candidate.key) === String(step))
      : undefined;
    if (pair === undefined) return { node, key: node };
    key = pair.key;
    node = pair.value ?? pair.key;
  }
  return { node, key };
}

function toLinePosition(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

// One mistake can cause several errors in a line; only the first helps.
function keepOnePerLine(problems: readonly SyntaxProblem[], lines: LineCounter) {
  const seen = new Map<number, Position & { message: string }>();
  for (const { offset, message } of problems) {
    const position = toLinePosition(lines, offset);
    if (!seen.has(position.line)) seen.set(position.line, { ...position, message });
  }
  return [...seen.values()].slice(0, MAX_PROBLEMS);
}

function formatBytes(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.floor(bytes / (1024 * 1024))} MB` : `${bytes} bytes`;
}
