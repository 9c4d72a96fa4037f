import { clip, toPrintable } from "../contract/text.ts";

/** One problem of a document. `line` and `column` count from 1; `line` 0: the value was not read from a text. */
export interface DocumentProblem {
  file: string;
  line: number;
  column: number;
  /** The place as a path of keys and indexes, e.g. `rules[0].match.operation`; empty for the whole document. */
  field: string;
  message: string;
  /** The nearest known word. */
  hint?: string;
}

/** Counted from 1. */
export interface Position {
  line: number;
  column: number;
}

/** The position of a value that was not read from a text, or of a whole file. */
export const NO_POSITION: Position = { line: 0, column: 0 };

export type DocumentPath = readonly (string | number)[];

/** A broken document can have millions of problems; this many are enough for a reader. */
export const MAX_PROBLEMS = 20;

/**
 * A document that cannot be used, with every problem found (at most {@link MAX_PROBLEMS}).
 * Its own file, line, column, message and hint are those of the first problem.
 */
export class DocumentError extends Error {
  override readonly name = "DocumentError";
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly hint: string | undefined;
  readonly problems: readonly DocumentProblem[];
  /** The paths that a missing file may have. */
  readonly missingFiles: readonly string[];
  readonly #text: string | undefined;

  constructor(problems: readonly DocumentProblem[], text?: string, missingFiles: readonly string[] = []) {
    const first = problems[0];
    if (first === undefined) throw new TypeError("a DocumentError needs at least one problem");
    super(first.message);
    this.file = first.file;
    this.line = first.line;
    this.column = first.column;
    this.hint = first.hint;
    this.problems = problems.slice(0, MAX_PROBLEMS);
    this.missingFiles = missingFiles;
    this.#text = text;
  }

  /** One line per problem, which editors and CI annotations read: `file:line:column: message (did you mean "x"?)`. */
  format(): string {
    return this.problems.map(formatProblem).join("\n");
  }

  /** Like `format`, with a frame of the surrounding lines after each problem; for terminals. */
  formatWithFrames(): string {
    const lines = this.#text?.split("\n") ?? [];
    return this.problems
      .flatMap((problem) => [formatProblem(problem), ...drawCodeFrame(lines, problem)])
      .join("\n");
  }
}

export function documentError(
  file: string,
  at: Position,
  message: string,
  { path = [], hint, text }: { path?: DocumentPath; hint?: string | undefined; text?: string } = {},
): DocumentError {
  return new DocumentError([{ file, ...at, field: formatPath(path), message, ...(hint && { hint }) }], text);
}

export function toPosition(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

export function formatProblem(problem: DocumentProblem): string {
  const place = problem.line > 0 ? `${problem.file}:${problem.line}:${problem.column}` : problem.file;
  const hint = problem.hint === undefined ? "" : ` (did you mean "${problem.hint}"?)`;
  return `${place}: ${problem.message}${hint}`;
}

/** `organizations[0].rate_limit`; a key that is not a plain word is quoted, so that the path stays readable. */
export function formatPath(path: DocumentPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!/^[\w-]+$/.test(step)) text += `[${JSON.stringify(clip(step, 60))}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

const FRAME_WIDTH = 100;

/**
 * The line before, if there is one, the line with the problem, and a caret below it. Empty if the position is not in
 * the text.
 */
function drawCodeFrame(lines: readonly string[], { line, column }: DocumentProblem): string[] {
  if (lines[line - 1] === undefined) return [];
  const number = String(line);
  // A very long line is cut shortly before the problem, so that the caret stays on the screen.
  const from = column > FRAME_WIDTH ? column - FRAME_WIDTH / 2 : 0;
  const frameLines = lines.slice(Math.max(0, line - 2), line).map((text, index, { length }) => {
    const gutter = String(line - length + index + 1).padStart(number.length);
    return `${gutter} | ${replaceControls(text.slice(from, from + FRAME_WIDTH))}`;
  });
  return [...frameLines, `${" ".repeat(number.length)} | ${" ".repeat(Math.max(0, column - 1 - from))}^`];
}

/** Replaces control characters one for one, so that the caret below stays where it is. */
function replaceControls(line: string): string {
  return [...line].map((character) => (toPrintable(character) === character ? character : " ")).join("");
}
