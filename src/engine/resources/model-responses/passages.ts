import type MiniSearch from "minisearch";
import type { Services } from "../../contract/services.ts";
import type { Transaction } from "../../state/transaction.ts";
import { UNSPACED, wordsOf } from "../files/passages.ts";

/** A passage of an attached file, as an answer cites it. */
export interface Quote {
  filename: string;
  passage: string;
  /** How well it fits the question. */
  score: number;
}

export interface PassageRequest {
  world: Transaction;
  services: Services;
  file_id: string;
  question: string;
}

/** Finds the passage of one file that fits a question best; undefined for a file without text. */
export type PassageFor = (request: PassageRequest) => Promise<Quote | undefined>;

/** An answer that cites more reads like an index; the files attached last are those asked about. */
const MAX_QUOTED = 10;

/** The best passage of each attached file that has one, in their order. */
export async function quotesOf(
  passageFor: PassageFor,
  { file_ids, ...request }: Omit<PassageRequest, "file_id"> & { file_ids: readonly string[] },
): Promise<Quote[]> {
  const quotes: Quote[] = [];
  for (const file_id of file_ids.slice(-MAX_QUOTED)) {
    const quote = await passageFor({ ...request, file_id });
    if (quote) quotes.push(quote);
  }
  return quotes;
}

const MAX_PASSAGE_LENGTH = 300;

/**
 * The passage that fits a question best, the first one where none has a word of it. Words that few passages
 * have count more than those that many have (BM25).
 */
export async function bestPassage(
  passages: readonly string[],
  question: string,
): Promise<{ passage: string; score: number } | undefined> {
  if (passages.length === 0) return undefined;
  const search = await indexOf(passages);
  const [hit] = search.search(gistOf(question), { prefix: (term) => term.length > 3 });
  const passage = passages[hit?.id ?? 0]!;
  // By characters, so that no surrogate pair is cut in half.
  return { passage: [...passage].slice(0, MAX_PASSAGE_LENGTH).join(""), score: hit?.score ?? 0 };
}

const MAX_GIST_LENGTH = 4000;

/** Searching takes time for each word: of a question of megabytes both ends count, where people ask. */
function gistOf(question: string): string {
  if (question.length <= MAX_GIST_LENGTH) return question;
  return `${question.slice(0, MAX_GIST_LENGTH / 2)} ${question.slice(-MAX_GIST_LENGTH / 2)}`;
}

type Index = MiniSearch<{ id: number; text: string }>;

/** Passages of a file never change: their index lives as long as they do, in whichever sandboxes. */
const indexes = new WeakMap<readonly string[], Promise<Index>>();

function indexOf(passages: readonly string[]): Promise<Index> {
  let index = indexes.get(passages);
  if (index === undefined) {
    index = indexed(passages);
    indexes.set(passages, index);
  }
  return index;
}

async function indexed(passages: readonly string[]): Promise<Index> {
  // Not at the top: a server that is never asked about a file should not start slower for it.
  const { default: Search } = await import("minisearch");
  const tokenize = Search.getDefault("tokenize") as (text: string) => string[];
  const index: Index = new Search({
    fields: ["text"],
    tokenize: (text) => tokenize(text).flatMap((token) => (UNSPACED.test(token) ? wordsOf(token) : [token])),
  });
  index.addAll(passages.map((text, id) => ({ id, text })));
  return index;
}
