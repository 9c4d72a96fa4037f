/** Characters of one file that are kept: about a hundred pages. */
export const MAX_TEXT_LENGTH = 200_000;
const MAX_PASSAGE_LENGTH = 300;

/**
 * Cuts a text into what can be quoted: its sentences, and the lines of lists, tables and headings. A
 * sentence that is too long to quote is cut between words.
 */
export function cutIntoPassages(text: string): string[] {
  return text
    .slice(0, MAX_TEXT_LENGTH)
    .replaceAll("\u0000", "")
    .split(/\r\n|\r|\n/)
    .map(withoutMarkup)
    .flatMap(sentencesOf)
    .flatMap(cutBetweenWords)
    .filter(hasWords);
}

/** The rows of a table stay whole: a full stop in a cell ends no sentence. */
export function passagesOfRows(rows: readonly string[]): string[] {
  const passages: string[] = [];
  let length = 0;
  for (const row of rows) {
    if (length > MAX_TEXT_LENGTH) break;
    const kept = row.slice(0, MAX_TEXT_LENGTH).replaceAll("\u0000", "").replaceAll(/\s+/g, " ");
    // Its line end counts: four megabytes may be as many empty rows.
    length += row.length + 1;
    passages.push(...cutBetweenWords(kept).filter(hasWords));
  }
  return passages;
}

function hasWords(passage: string): boolean {
  return /[\p{L}\p{N}]/u.test(passage);
}

/** Scripts that put no space between words, nor after a full stop. */
export const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const segmenters = new Map<"sentence" | "word", Intl.Segmenter>();

function sentencesOf(line: string): string[] {
  if (!UNSPACED.test(line)) return line.split(/(?<=[.!?])\s+/);
  return segmentsOf(line, "sentence").map((sentence) => sentence.trim());
}

/** Words of a text that puts no spaces between them. */
export function wordsOf(text: string): string[] {
  return segmentsOf(text, "word");
}

/** With the first of its kind Node reads its tables of languages, some 6 MB that an idle server does without. */
function segmentsOf(text: string, granularity: "sentence" | "word"): string[] {
  const segmenter = segmenters.get(granularity) ?? new Intl.Segmenter("und", { granularity });
  segmenters.set(granularity, segmenter);
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** What Markdown puts before a line: heading, quotation, list item. */
function withoutMarkup(line: string): string {
  return line.replace(/^\s*(?:#{1,6}\s+|>\s*|[-*+]\s+|\d+[.)]\s+)?/, "").trimEnd();
}

function cutBetweenWords(sentence: string): string[] {
  if (sentence.length <= MAX_PASSAGE_LENGTH) return [sentence];
  const isSpaced = !UNSPACED.test(sentence);
  const gap = isSpaced ? " " : "";
  const pieces: string[] = [];
  let piece = "";
  for (const word of isSpaced ? sentence.split(/\s+/) : wordsOf(sentence)) {
    if (piece !== "" && piece.length + word.length >= MAX_PASSAGE_LENGTH) {
      pieces.push(piece);
      piece = "";
    }
    // By characters, so that no surrogate pair is cut in half.
    piece = piece === "" ? [...word].slice(0, MAX_PASSAGE_LENGTH).join("") : `${piece}${gap}${word}`;
  }
  return [...pieces, piece];
}

/** What nests deeper is left out; a document may nest deeper than the stack. */
const MAX_DEPTH = 50;

/**
 * A line per value, after the names that lead to it. Undefined for what is no JSON; the first part of a
 * document that is longer cannot be told, and stays as it is.
 */
export function textOfJson(text: string, isWhole = true): string | undefined {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return isWhole ? undefined : text;
  }
  const lines: string[] = [];
  let length = 0;
  const visit = (value: unknown, names: readonly string[], depth: number): void => {
    if (length > MAX_TEXT_LENGTH || depth > MAX_DEPTH) return;
    if (Array.isArray(value)) {
      for (const inner of value) visit(inner, names, depth + 1);
    } else if (typeof value === "object" && value !== null) {
      for (const [name, inner] of Object.entries(value)) visit(inner, [...names, name], depth + 1);
    } else if (value !== null && value !== "") {
      const line = names.length === 0 ? String(value) : `${names.join(" ")}: ${value}`;
      length += line.length;
      lines.push(line);
    }
  };
  visit(document, [], 0);
  return lines.join("\n");
}
