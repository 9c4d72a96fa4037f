import { Random } from "../../state/random.ts";
import type { Quote } from "./passages.ts";

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
const CITING = ["According to", "As stated in", "I found this in", "The relevant passage of"];
const CLOSINGS = [
  "That should answer your question.",
  "Tell me if you need the wider context.",
  "Nothing else in it bears on your question.",
];
const LONGEST_ECHO = 80;

/**
 * G20: the same seed, model and question give the same sentence, however many requests came before. It
 * quotes the passage that was found, word for word.
 */
export function composeReply({
  seed,
  model,
  question,
  quote,
}: {
  seed: number;
  model: string;
  question: string;
  quote: Quote | undefined;
}): string {
  const random = new Random(seed, "model_responses", model, question, quote?.filename ?? "");
  if (quote) {
    return `${random.pick(CITING)} ${quote.filename}: "${quote.passage}" ${random.pick(CLOSINGS)}`;
  }
  return `${random.pick(OPENINGS)} ${echoOf(question)}: ${random.pick(ADVICE)}`;
}

function echoOf(question: string): string {
  const line = [...question.replaceAll(/\s+/g, " ").trim()];
  if (line.length === 0) return "your request";
  return `"${line.length > LONGEST_ECHO ? `${line.slice(0, LONGEST_ECHO).join("")}…` : line.join("")}"`;
}
