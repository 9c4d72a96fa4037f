import type { TimedText } from "./schema.ts";

/** A timed text; times in seconds. */
export interface Cue {
  start: number;
  end: number;
  text: string;
}

/** Writes numbered cues with one line of text each (4.1, G17). */
export function toSrt(cues: Iterable<Cue>): string {
  let text = "";
  let number = 0;
  for (const cue of cues) {
    number += 1;
    text += `${number}\n${cueTime(cue.start, ",")} --> ${cueTime(cue.end, ",")}\n${srtText(cue.text)}\n\n`;
  }
  return text;
}

export function toVtt(cues: Iterable<Cue>): string {
  let text = "WEBVTT\n\n";
  let number = 0;
  for (const cue of cues) {
    number += 1;
    text += `${number}\n${cueTime(cue.start, ".")} --> ${cueTime(cue.end, ".")}\n${vttText(cue.text)}\n\n`;
  }
  return text;
}

/** HH:MM:SS, rounded down (G28). */
export function clockTime(seconds: number): string {
  return clock(Math.floor(seconds));
}

// Line ends of all kinds and the other control characters.
const LINE_BREAKS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** Puts a text on one line: a blank line would end a cue, and a new line could begin one. */
export function oneLine(text: string): string {
  return text.replaceAll(LINE_BREAKS, " ").trim();
}

/** SRT has no escapes, so an arrow in the text is split, which a reader would take for a time line. */
function srtText(text: string): string {
  return oneLine(text).replaceAll("-->", "-- >") || "-";
}

function vttText(text: string): string {
  return oneLine(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;") || "-";
}

function cueTime(seconds: number, point: "," | "."): string {
  // Rounded once, in milliseconds: 1.005 s is 1,004.9999 ms in floating point.
  const milliseconds = Math.round(seconds * 1000);
  return `${clock(Math.floor(milliseconds / 1000))}${point}${String(milliseconds % 1000).padStart(3, "0")}`;
}

function clock(seconds: number): string {
  const part = (value: number) => String(value).padStart(2, "0");
  return `${part(Math.floor(seconds / 3600))}:${part(Math.floor(seconds / 60) % 60)}:${part(seconds % 60)}`;
}

const MAX_SENTENCES = 6;
const PAUSE_SECONDS = 1.2;

/** A paragraph ends at a pause or after six sentences (G17). */
export function toParagraphs(sentences: Iterable<TimedText>): TimedText[] {
  const paragraphs: TimedText[] = [];
  let current: TimedText[] = [];
  const close = () => {
    if (current.length > 0) paragraphs.push(joinSentences(current));
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

function joinSentences(sentences: readonly TimedText[]): TimedText {
  return {
    text: sentences.map(({ text }) => text).join(" "),
    start: sentences[0]!.start,
    end: Math.max(...sentences.map(({ end }) => end)),
  };
}
