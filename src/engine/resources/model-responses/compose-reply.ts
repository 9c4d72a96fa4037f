import { Random } from "../../state/random.ts";
import type { Picture } from "../files/schema.ts";
import { instructionsOf } from "./instructions.ts";
import type { Quote } from "./passages.ts";
import type { Recalled } from "./recall.ts";
import { PHRASES, type Phrases } from "./sample-text.ts";
import { shapeReply } from "./shape-reply.ts";

const MAX_ECHO_LENGTH = 80;

/** A picture of the conversation, and what can be seen of it: nothing where its bytes are no picture. */
export interface SeenPicture {
  filename: string;
  picture: Picture | undefined;
}

export interface Asked {
  seed: number;
  model: string;
  question: string;
  /** System messages, in their order. */
  system: readonly string[];
  /** Everything before the question, as one text. */
  earlier: string;
  quotes: readonly Quote[];
  pictures: readonly SeenPicture[];
  recalled: Recalled | undefined;
}

/**
 * G20: the same seed, model and conversation give the same answer, however many requests came before. It
 * quotes what was found, word for word, and has the form that was asked for.
 */
export function composeReply(asked: Asked): string {
  const { seed, model, question, system, earlier, quotes, recalled } = asked;
  const instructions = instructionsOf([...system, question]);
  if (instructions.exact !== undefined) return instructions.exact;
  const filenames = quotes.map(({ filename }) => filename);
  const random = new Random(seed, "model_responses", model, question, earlier, ...filenames);
  const phrases = PHRASES[instructions.language ?? "en"];
  const sources = [...filenames, ...asked.pictures.map(({ filename }) => filename)];
  const facts = recalled?.text ?? quotes[0]?.passage;
  return shapeReply(sentencesFor(asked, phrases, random), { instructions, question, facts, sources, random });
}

function sentencesFor(asked: Asked, phrases: Phrases, random: Random): string[] {
  const { question, quotes, pictures, recalled } = asked;
  if (recalled) return [recalledIn(recalled, phrases)];
  const seen = pictures.map(describe);
  if (quotes.length > 0) {
    const cited = quotes.map(
      ({ filename, passage }) => `${random.pick(phrases.citing)} ${filename}: "${passage}"`,
    );
    return [...seen, ...cited, random.pick(phrases.closings)];
  }
  if (seen.length > 0) return seen;
  return [`${random.pick(phrases.openings)} ${echoOf(question, phrases)}: ${random.pick(phrases.advice)}`];
}

function recalledIn({ role, text }: Recalled, phrases: Phrases): string {
  if (text === undefined) return phrases.nothingSaid;
  return `${role === "user" ? phrases.youSaid : phrases.iSaid} "${oneLine(text)}"`;
}

/** G35: format, size and dominant colours. */
function describe({ filename, picture }: SeenPicture): string {
  if (picture === undefined) return `The bytes of ${filename} are no picture that I can make out.`;
  const { format, width, height, colours } = picture;
  const shape = width === height ? "square" : width > height ? "wide" : "tall";
  return `${filename} is a ${shape} ${format.toUpperCase()} picture of ${width} x ${height} pixels, mostly ${listed(colours)}.`;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function echoOf(question: string, phrases: Phrases): string {
  const line = [...oneLine(question)];
  if (line.length === 0) return phrases.yourRequest;
  return `"${line.length > MAX_ECHO_LENGTH ? `${line.slice(0, MAX_ECHO_LENGTH).join("")}…` : line.join("")}"`;
}
