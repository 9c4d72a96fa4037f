import { RawBody } from "../../contract/reply.ts";
import { clockTime, oneLine, toSrt } from "../transcriptions/subtitles.ts";
import { presentTranscript, type TranscriptEntry } from "./schema.ts";

export const EXPORT_FORMATS = ["txt", "srt", "json"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

// Speakers and texts may be of any script; without a charset text/plain would mean ASCII (RFC 2046).
const PLAIN_TEXT = "text/plain; charset=utf-8";

/** Section 4.1: one way of writing a transcript per format. */
export const WRITERS: Record<ExportFormat, (entries: Iterable<TranscriptEntry>) => unknown> = {
  txt: (entries) => new RawBody(PLAIN_TEXT, toText(entries)),
  srt: (entries) => new RawBody(PLAIN_TEXT, toSrt(cuesOf(entries))),
  json: (entries) => Array.from(entries, presentTranscript),
};

function toText(entries: Iterable<TranscriptEntry>): string {
  let text = "";
  for (const entry of entries) text += `[${clockTime(entry.start_time)}] ${spoken(entry)}\n`;
  return text;
}

function* cuesOf(entries: Iterable<TranscriptEntry>) {
  for (const entry of entries) yield { start: entry.start_time, end: entry.end_time, text: spoken(entry) };
}

/** G28: `speaker: text`; a line break in either must not begin a line that looks like another entry. */
function spoken({ speaker, text }: TranscriptEntry): string {
  return `${oneLine(speaker)}: ${oneLine(text)}`;
}
