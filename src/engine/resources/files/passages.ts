import type MiniSearch from "minisearch";
import { foldCase } from "../../contract/text.ts";
import { getOrAdd } from "../../maps.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { findEffectiveType, getSampleTexts } from "./fixtures.ts";
import { type FileObject, files, fileTexts } from "./schema.ts";

/** The most characters of one file that are stored: about a hundred pages. */
export const MAX_TEXT_LENGTH = 200_000;
const MAX_PASSAGE_LENGTH = 300;

/**
 * Cuts a text into passages to quote: its sentences, and the lines of lists, tables and headings. A sentence that
 * is too long is cut between words.
 */
export function splitIntoPassages(text: string): string[] {
  return text
    .slice(0, MAX_TEXT_LENGTH)
    .replaceAll("\u0000", "")
    .split(/\r\n|\r|\n/)
    .map(removeMarkup)
    .flatMap(splitSentences)
    .flatMap(splitBetweenWords)
    .filter(hasWords);
}

/** Makes a passage of each row of a table, since a full stop in a cell ends no sentence; a long row is cut. */
export function splitRows(rows: readonly string[]): string[] {
  const passages: string[] = [];
  let length = 0;
  for (const row of rows) {
    if (length > MAX_TEXT_LENGTH) break;
    const text = row.slice(0, MAX_TEXT_LENGTH).replaceAll("\u0000", "").replaceAll(/\s+/g, " ");
    // The line end counts too, since a table may consist of empty rows.
    length += row.length + 1;
    passages.push(...splitBetweenWords(text).filter(hasWords));
  }
  return passages;
}

function hasWords(passage: string): boolean {
  return /[\p{L}\p{N}]/u.test(passage);
}

/** Scripts without spaces between words and sentences. */
const UNSPACED_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const segmenters = new Map<"sentence" | "word", Intl.Segmenter>();

function splitSentences(line: string): string[] {
  if (!UNSPACED_SCRIPT.test(line)) return line.split(/(?<=[.!?])\s+/);
  return segment(line, "sentence").map((sentence) => sentence.trim());
}

/** Each segmenter is created when it is needed, since the first one loads tables of some 6 MB. */
function segment(text: string, granularity: "sentence" | "word"): string[] {
  const segmenter = getOrAdd(segmenters, granularity, () => new Intl.Segmenter("und", { granularity }));
  return Array.from(segmenter.segment(text), (part) => part.segment);
}

/** Removes the marks of Markdown for headings, quotations and list items. */
function removeMarkup(line: string): string {
  return line.replace(/^\s*(?:#{1,6}\s+|>\s*|[-*+]\s+|\d+[.)]\s+)?/, "").trimEnd();
}

function splitBetweenWords(sentence: string): string[] {
  if (sentence.length <= MAX_PASSAGE_LENGTH) return [sentence];
  const isSpaced = !UNSPACED_SCRIPT.test(sentence);
  const separator = isSpaced ? " " : "";
  const pieces: string[] = [];
  let piece = "";
  for (const word of isSpaced ? sentence.split(/\s+/) : segment(sentence, "word")) {
    if (piece !== "" && piece.length + word.length >= MAX_PASSAGE_LENGTH) {
      pieces.push(piece);
      piece = "";
    }
    // By characters, so that no surrogate pair is cut in half.
    piece = piece === "" ? [...word].slice(0, MAX_PASSAGE_LENGTH).join("") : `${piece}${separator}${word}`;
  }
  return [...pieces, piece];
}

/** A passage of a file, and its score in the search for a question. */
export interface Passage {
  filename: string;
  passage: string;
  score: number;
}

/** Media types of documents; a file that has such a type and no bytes has a sample text. */
const DOCUMENT_TYPE = /^(text\/|application\/(pdf|json|yaml|toml|xml))/;

/** Finds the passage of a file that fits a question best (G20); undefined for a file without text. */
export async function quoteFile(
  world: WorldReader,
  file_id: string,
  question: string,
): Promise<Passage | undefined> {
  const file = world.get(files, file_id);
  const best = file && (await findPassage(listPassages(file, world), question));
  return best && { filename: file.filename, ...best };
}

/** The passages of the uploaded text, or of a sample text that fits the name if there were no bytes. */
function listPassages(file: FileObject, world: WorldReader): readonly string[] {
  const uploaded = world.get(fileTexts, file.id)?.passages;
  return uploaded ?? (DOCUMENT_TYPE.test(findEffectiveType(file)) ? getSampleTexts(file.filename) : []);
}

/**
 * Searches for the passage that fits a question best, by BM25: a rare word counts more than several common ones.
 * Without a match, returns the first passage with the score 0.
 */
export async function findPassage(
  passages: readonly string[],
  question: string,
): Promise<{ passage: string; score: number } | undefined> {
  if (passages.length === 0) return undefined;
  const index = await getOrAdd(indexes, passages, () => createIndex(passages));
  const [hit] = index.search(shorten(question), { prefix: (term) => term.length > 3 });
  const passage = passages[hit?.id ?? 0]!;
  // By characters, so that no surrogate pair is cut in half.
  return { passage: [...passage].slice(0, MAX_PASSAGE_LENGTH).join(""), score: hit?.score ?? 0 };
}

const MAX_QUESTION_LENGTH = 4000;

/** Shortens a very long question to its beginning and end, since each word takes time to search. */
function shorten(question: string): string {
  if (question.length <= MAX_QUESTION_LENGTH) return question;
  return `${question.slice(0, MAX_QUESTION_LENGTH / 2)} ${question.slice(-MAX_QUESTION_LENGTH / 2)}`;
}

type Index = MiniSearch<{ id: number; text: string }>;

/** The passages of a file never change, so all sandboxes that have the file share its index. */
const indexes = new WeakMap<readonly string[], Promise<Index>>();

async function createIndex(passages: readonly string[]): Promise<Index> {
  const { default: Search } = await import("minisearch");
  const tokenize = Search.getDefault("tokenize") as (text: string) => string[];
  const index: Index = new Search({
    fields: ["text"],
    processTerm: foldCase,
    tokenize: (text) =>
      tokenize(text).flatMap((token) => (UNSPACED_SCRIPT.test(token) ? segment(token, "word") : [token])),
  });
  index.addAll(passages.map((text, id) => ({ id, text })));
  return index;
}
