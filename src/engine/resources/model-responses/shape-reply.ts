import type { Random } from "../../state/random.ts";
import type { Instructions } from "./instructions.ts";
import { PHRASES } from "./sample-text.ts";

interface Shape {
  instructions: Instructions;
  question: string;
  /** What the answer rests on, where it rests on something. */
  facts: string | undefined;
  sources: readonly string[];
  random: Random;
}

/** The sentences of an answer in the form that was asked for: JSON, a word, a list, so many words (G20). */
export function shapeReply(sentences: readonly string[], shape: Shape): string {
  const { instructions, sources } = shape;
  const kept = sentences.slice(0, instructions.maxSentences);
  let text = instructions.isList ? kept.map((sentence) => `- ${sentence}`).join("\n") : kept.join(" ");
  if (instructions.maxWords === 1) text = wordFor(shape);
  else if (instructions.maxWords !== undefined) text = firstWords(text, instructions.maxWords);
  if (instructions.isUpperCase) text = text.toUpperCase();
  if (instructions.json === undefined) return text;
  const { keys } = instructions.json;
  if (keys.length === 0) return JSON.stringify({ answer: text, ...(sources.length > 0 ? { sources } : {}) });
  return JSON.stringify(
    Object.fromEntries(keys.map((key, n) => [key, n === 0 ? text : valueFor(key, shape)])),
  );
}

/** A question for yes or no has one of them, one for a number the number that is known, others a word of theirs. */
function wordFor({ instructions, question, facts, random }: Shape): string {
  const { yes, no } = PHRASES[instructions.language ?? "en"];
  const asked = question.replace(/^.*?[:;]\s*/s, "");
  if (/^\s*(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|may)\b/i.test(asked))
    return random.pick([yes, no]);
  const isNumber = /\bhow (?:many|much|old|long|often)\b/i.test(question);
  const number = isNumber ? /\d[\d.,']*\d|\d/.exec(facts ?? "")?.[0] : undefined;
  if (number !== undefined) return number;
  const words = (facts ?? question).match(/[\p{L}\p{N}][\p{L}\p{N}'-]*/gu) ?? [];
  // What a question and its answer share is not what was asked for.
  const known = new Set((question.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.toLowerCase()));
  const news = facts === undefined ? words : words.filter((word) => !known.has(word.toLowerCase()));
  const candidates = news.length > 0 ? news : words;
  return candidates.reduce((longest, word) => (word.length > longest.length ? word : longest), "") || yes;
}

function firstWords(text: string, most: number): string {
  return text.split(/\s+/).slice(0, most).join(" ");
}

/** What a key is called says of which kind its value is. */
function valueFor(key: string, { sources, random }: Shape): unknown {
  if (/^(?:sources?|files?|citations?|references?)$/i.test(key)) return sources;
  if (/(?:^is_|^has_|_flag$|^(?:ok|valid|success|found)$)/i.test(key)) return random.chance(0.5);
  if (/(?:count|number|score|total|amount|age|rating|confidence|percent)$/i.test(key))
    return random.int(1, 100);
  if (/(?:s|list|items)$/i.test(key) && !/(?:ss|status|us)$/i.test(key)) return [];
  return random.pick(["none", "open", "unknown"]);
}
