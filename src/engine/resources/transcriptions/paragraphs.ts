import type { TimedText } from "./schema.ts";

const MAX_SENTENCES = 6;
const PAUSE_SECONDS = 1.2;

/** G17: sentences run on until somebody pauses, or six of them are together. */
export function toParagraphs(sentences: Iterable<TimedText>): TimedText[] {
  const paragraphs: TimedText[] = [];
  let current: TimedText[] = [];
  const close = () => {
    if (current.length > 0) paragraphs.push(joined(current));
    current = [];
  };
  for (const sentence of sentences) {
    const last = current.at(-1);
    if (last && (current.length === MAX_SENTENCES || sentence.start - last.end > PAUSE_SECONDS)) close();
    current.push(sentence);
  }
  close();
  return paragraphs;
}

function joined(sentences: readonly TimedText[]): TimedText {
  return {
    text: sentences.map(({ text }) => text).join(" "),
    start: sentences[0]!.start,
    end: Math.max(...sentences.map(({ end }) => end)),
  };
}
