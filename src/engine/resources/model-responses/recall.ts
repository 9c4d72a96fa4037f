import { cutIntoPassages } from "../files/passages.ts";
import { bestPassage } from "./passages.ts";

export interface Turn {
  role: string;
  text: string;
}

/** Something that was said before, and by whom; `undefined` as text where there was nothing. */
export interface Recalled {
  role: "user" | "assistant";
  text: string | undefined;
}

/** Questions about the conversation itself. */
const ABOUT_BEFORE =
  /\b(?:did|have|had) (?:i|you|we) (?:just |already |ever )?(?:say|said|ask|asked|tell|told|mention|mentioned|write|written|answer|answered)\b|\b(?:i|you|we) (?:just |already )?(?:said|told|asked|mentioned|wrote|answered)\b|\b(?:earlier|before|previous(?:ly)?|remember|recall|again)\b|\bmy (?:first|last|previous) (?:question|message|request)\b|\byour (?:first|last|previous) (?:answer|message|reply)\b/i;

/** Questions about the one who asks: what they told of themselves is the only source. */
const ABOUT_ASKER =
  /\b(?:what|which|who|where|when|how (?:old|many|much))\b[^.!?\n]{0,40}\b(?:am i|do i|did i|was i|my|i)\b/i;

const FIRST = /\bmy first (?:question|message|request)\b|\bdid i (?:say|ask|tell you|write) first\b/i;
const OWN_LAST =
  /\bmy (?:last|previous) (?:question|message|request)\b|\bdid i (?:just )?(?:say|ask|write)\b/i;
const ANSWERED =
  /\byour (?:first|last|previous) (?:answer|message|reply)\b|\bdid you (?:just )?(?:say|answer|tell me|write)\b/i;

/**
 * What an earlier turn says to this question, where it asks for what was said before (G20): the turn that it
 * names, else the passage that fits best. Undefined for a question about anything else.
 */
export async function recall(question: string, earlier: readonly Turn[]): Promise<Recalled | undefined> {
  const asksBefore = ABOUT_BEFORE.test(question);
  if (!asksBefore && !ABOUT_ASKER.test(question)) return undefined;
  const users = earlier.filter(({ role }) => role === "user");
  if (FIRST.test(question)) return { role: "user", text: users[0]?.text };
  const isOfModel = ANSWERED.test(question);
  const found = await bestTurn(question, isOfModel ? earlier.filter(({ role }) => role !== "user") : earlier);
  if (found !== undefined) return found;
  if (isOfModel) return { role: "assistant", text: earlier.findLast(({ role }) => role !== "user")?.text };
  if (OWN_LAST.test(question)) return { role: "user", text: users.at(-1)?.text };
  return undefined;
}

/** Words that stand in every question and say nothing of what it is about. */
const EMPTY_WORDS =
  /\b(?:what|which|who|where|when|why|how|is|are|was|were|do|does|did|have|has|had|i|me|my|you|your|we|our|the|a|an|of|to|in|on|for|it|that|this|say|said|ask|asked|tell|told|mention|mentioned|just|earlier|before|previous|previously|again|remember|recall|question|message|please|can|could|and)\b/gi;

async function bestTurn(question: string, earlier: readonly Turn[]): Promise<Recalled | undefined> {
  const gist = question.replaceAll(EMPTY_WORDS, " ");
  let best: (Recalled & { score: number }) | undefined;
  for (const role of ["user", "assistant"] as const) {
    const passages = earlier.flatMap((turn) =>
      // A question that was asked before is no answer to it.
      turn.role === role ? cutIntoPassages(turn.text).filter((passage) => !passage.endsWith("?")) : [],
    );
    const found = await bestPassage(passages, gist);
    if (found && found.score > (best?.score ?? 0)) best = { role, text: found.passage, score: found.score };
  }
  return best && { role: best.role, text: best.text };
}
