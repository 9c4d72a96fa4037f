import { joinWords } from "../../contract/text.ts";
import { Random } from "../../state/random.ts";
import type { Transaction } from "../../state/transaction.ts";
import { type Passage, quoteFile } from "../files/passages.ts";
import { findPicture, isPicture } from "../files/pictures.ts";
import { files, type Picture } from "../files/schema.ts";
import type { Conversation, Turn } from "./rules.ts";

/** The maximum number of quoted files. Of more, a reply quotes the last attached ones: a longer one would look like an index. */
const MAX_QUOTED_FILES = 10;

/** Characters of a message that a reply repeats. */
const MAX_ECHO_LENGTH = 80;

const OPENINGS = [
  "Here is what I can say about",
  "In short, on",
  "This is how I understand",
  "Let me take this in order, starting with",
];
const ADVICE = [
  "the usual way is to begin with the smallest step that can be checked.",
  "it depends on who has to act on it, so name that person first.",
  "the answer is the same for every team, with one exception to agree beforehand.",
  "three things matter: the goal, the deadline and who decides.",
];
const CITATIONS = ["According to", "As stated in", "I found this in", "The relevant passage of"];
const CLOSINGS = [
  "That should answer your question.",
  "Tell me if you need the wider context.",
  "Nothing else in it bears on your question.",
];

interface AttachedPicture {
  filename: string;
  /** Undefined if the bytes cannot be decoded. */
  picture: Picture | undefined;
}

/** Searches the attached files for their best passages, in order. */
export async function findQuotes(
  world: Transaction,
  file_ids: readonly string[],
  question: string,
): Promise<Passage[]> {
  const quotes: Passage[] = [];
  for (const file_id of file_ids.slice(-MAX_QUOTED_FILES)) {
    const quote = await quoteFile(world, file_id, question);
    if (quote) quotes.push(quote);
  }
  return quotes;
}

/** The pictures among the attached files, in order. */
export function findPictures(world: Transaction, file_ids: readonly string[]): AttachedPicture[] {
  return file_ids.flatMap((id) => {
    const file = world.get(files, id);
    return file && isPicture(file) ? [{ filename: file.filename, picture: findPicture(file, world) }] : [];
  });
}

/**
 * Writes the reply of a model without a reply rule (G20). The same seed, model, conversation and files give the
 * same text. It quotes the files word for word, describes the pictures, and repeats the beginning of an earlier message.
 */
export function composeReply(
  { seed, model }: { seed: number; model: string },
  { question, earlier }: Conversation,
  { quotes, pictures }: { quotes: readonly Passage[]; pictures: readonly AttachedPicture[] },
): string {
  const earlierText = earlier.map(({ text }) => text).join("\n");
  const filenames = quotes.map(({ filename }) => filename);
  const random = new Random(seed, "model_responses", model, question, earlierText, ...filenames);
  const sentences = pictures.map(describePicture);
  for (const { filename, passage } of quotes)
    sentences.push(`${random.pick(CITATIONS)} ${filename}: "${passage}"`);
  if (quotes.length > 0) sentences.push(random.pick(CLOSINGS));
  else if (pictures.length === 0)
    sentences.push(
      `${random.pick(OPENINGS)} ${quoteText(question) ?? "your request"}: ${random.pick(ADVICE)}`,
    );
  return [...sentences, ...repeatEarlierTurn(earlier)].join(" ");
}

/** Repeats the last earlier message of the user that has text, else the last message, if it has text. */
function repeatEarlierTurn(earlier: readonly Turn[]): string[] {
  const turn = earlier.findLast(({ role, text }) => role === "user" && text.trim() !== "") ?? earlier.at(-1);
  const words = turn && quoteText(turn.text);
  if (words === undefined) return [];
  return [`${turn!.role === "user" ? "You said before" : "I said before"}: ${words}.`];
}

/** Format, size and dominant colours (G35). */
function describePicture({ filename, picture }: AttachedPicture): string {
  if (picture === undefined) return `The bytes of ${filename} are no picture that I can make out.`;
  const { format, width, height, colours } = picture;
  const oblong = width > height ? "wide" : "tall";
  const shape = width === height ? "square" : oblong;
  return `${filename} is a ${shape} ${format.toUpperCase()} picture of ${width} x ${height} pixels, mostly ${joinWords(colours, "and")}.`;
}

/** A text in quotes on one line, cut after `MAX_ECHO_LENGTH` characters, not within one; undefined for a blank text. */
function quoteText(text: string): string | undefined {
  const line = [...text.replaceAll(/\s+/g, " ").trim()];
  if (line.length === 0) return undefined;
  return `"${line.slice(0, MAX_ECHO_LENGTH).join("")}${line.length > MAX_ECHO_LENGTH ? "…" : ""}"`;
}
