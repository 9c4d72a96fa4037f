import {
  DocumentError,
  type DocumentPath,
  type DocumentProblem,
  documentError,
  formatPath,
  NO_POSITION,
  type Position,
} from "./document-error.ts";
import { DEFAULT_LIMITS, type DocumentLimits, isDangerousKey } from "./document-limits.ts";

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
  /** For documents in which any name is a key, except `__proto__`, and numbers need not be exact. */
  allowsAnyKey?: boolean;
}

/**
 * Wraps a value that arrived without a text of its own (a fixture or a rule in a request's body), and checks the number
 * of its values, its depth and its keys, as for a text; all positions are line 0.
 * @throws DocumentError
 */
export function createInlineDocument(value: unknown, options: ReadOptions): UserDocument {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { file } = options;
  const createError = (message: string, problemPath?: DocumentPath) =>
    documentError(file, NO_POSITION, message, problemPath && { path: problemPath });
  const path: (string | number)[] = [];
  let values = 0;
  const check = (part: unknown): void => {
    if (++values > limits.maxValues)
      throw createError(`the document is too large: it has more than ${limits.maxValues} values`);
    if (typeof part !== "object" || part === null) return;
    if (path.length > limits.maxDepth)
      throw createError(`maps and lists are nested more than ${limits.maxDepth} deep`);
    for (const key of Object.keys(part)) {
      path.push(Array.isArray(part) ? Number(key) : key);
      if (isDangerousKey(key, options.allowsAnyKey))
        throw createError(`the key \`${key}\` is not allowed`, path);
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
  pointsAtKey?: boolean;
}

export function locateProblem(document: UserDocument, details: ProblemDetails): DocumentProblem {
  const { path, message, hint, pointsAtKey } = details;
  const position = pointsAtKey ? document.locateKey(path) : document.locate(path);
  const problem = { file: document.file, ...position, field: formatPath(path), message };
  return hint === undefined ? problem : { ...problem, hint };
}

/**
 * @param documents those that the problems are in; frames are shown if all problems are in one
 * @throws DocumentError if there are problems
 */
export function throwProblems(
  problems: readonly DocumentProblem[],
  ...documents: readonly (UserDocument | undefined)[]
): void {
  if (problems.length === 0) return;
  const document = documents.find((one) => problems.every(({ file }) => file === one?.file));
  throw new DocumentError(problems, document?.text);
}
