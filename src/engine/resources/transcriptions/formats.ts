import { type Static, Type } from "typebox";
import { toHex } from "../../bytes.ts";
import { Reply } from "../../contract/reply.ts";
import { digest } from "../../platform.ts";
import type { WorldReader } from "../../state/transaction.ts";
import type { TimedText, Transcription } from "./schema.ts";

/** Writes numbered cues with one line of text each (section 4.1, G17). */
export function toSrt(cues: Iterable<TimedText>): string {
  return toCueText(cues, ",", escapeForSrt);
}

export function toVtt(cues: Iterable<TimedText>): string {
  return `WEBVTT\n\n${toCueText(cues, ".", escapeForVtt)}`;
}

function toCueText(
  cues: Iterable<TimedText>,
  separator: "," | ".",
  toLine: (text: string) => string,
): string {
  let text = "";
  let number = 0;
  for (const { start, end, text: cueText } of cues)
    text += `${++number}\n${formatCueTime(start, separator)} --> ${formatCueTime(end, separator)}\n${toLine(cueText)}\n\n`;
  return text;
}

/** HH:MM:SS, rounded down (G28). */
export function formatClockTime(seconds: number): string {
  return formatHoursMinutesSeconds(Math.floor(seconds));
}

// U+2028 and U+2029 are not control characters, but end lines too.
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** Puts a text on one line: a blank line would end a cue, and a new line could begin one. */
export function toOneLine(text: string): string {
  return text.replaceAll(CONTROL_CHARACTERS, " ").trim();
}

/** SRT has no escapes, so an arrow in the text is split: a reader would take its line for a time line. */
function escapeForSrt(text: string): string {
  return toOneLine(text).replaceAll("-->", "-- >") || "-";
}

function escapeForVtt(text: string): string {
  return toOneLine(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;") || "-";
}

function formatCueTime(seconds: number, separator: "," | "."): string {
  // Rounded once, in milliseconds: 1.005 s is 1,004.9999 ms in floating point.
  const milliseconds = Math.round(seconds * 1000);
  return `${formatHoursMinutesSeconds(Math.floor(milliseconds / 1000))}${separator}${String(milliseconds % 1000).padStart(3, "0")}`;
}

function formatHoursMinutesSeconds(seconds: number): string {
  const pad = (value: number) => String(value).padStart(2, "0");
  return `${pad(Math.floor(seconds / 3600))}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
}

const MAX_SENTENCES = 6;
const PAUSE_SECONDS = 1.2;

/** A paragraph ends at a pause or after six sentences (G17). */
export function toParagraphs(sentences: Iterable<TimedText>): TimedText[] {
  const paragraphs: TimedText[] = [];
  let current: TimedText[] = [];
  const endParagraph = () => {
    if (current.length > 0) paragraphs.push(joinSentences(current));
    current = [];
  };
  for (const sentence of sentences) {
    const last = current.at(-1);
    if (last && (current.length === MAX_SENTENCES || sentence.start - last.end > PAUSE_SECONDS))
      endParagraph();
    current.push(sentence);
  }
  endParagraph();
  return paragraphs;
}

function joinSentences(sentences: readonly TimedText[]): TimedText {
  return {
    text: sentences.map(({ text }) => text).join(" "),
    start: sentences[0]!.start,
    end: Math.max(...sentences.map(({ end }) => end)),
  };
}

/**
 * The headers of a representation for caches and conditional requests (section 4.11). `isWhole`: whether the content is the whole
 * answer.
 */
export function createCacheHeaders(
  { updated_at, pii_redaction }: Transcription,
  { content, isWhole }: { content: string; isWhole: boolean },
  world: WorldReader,
): Record<string, string> {
  // A strong tag must identify every byte of the answer (RFC 9110, 8.8.1).
  const etag = `"${toHex(digest("sha256", content)).slice(0, 32)}"`;
  return {
    ETag: isWhole ? etag : `W/${etag}`,
    "Last-Modified": new Date(world.toEpoch(updated_at)).toUTCString(),
    "Cache-Control": "public, max-age=86400",
    ...(pii_redaction === null
      ? {}
      : { "X-PII-Redacted": "true", "X-PII-Policies": pii_redaction.join(",") }),
  };
}

/** Answers 304 if the client has this representation, with the same `headers` as the full answer. */
export function replyConditionally(
  conditions: Readonly<Record<string, string | undefined>>,
  headers: Record<string, string>,
  body: unknown,
  otherHeaders: Record<string, string> = {},
): Reply {
  if (isCurrent(conditions, headers)) return new Reply(304, undefined, headers);
  return new Reply(200, body, { ...headers, ...otherHeaders });
}

/** With both conditions only the entity tag counts (G39; RFC 9110, 13.2.2). */
function isCurrent(
  conditions: Readonly<Record<string, string | undefined>>,
  validators: Record<string, string>,
): boolean {
  const tags = conditions["if-none-match"];
  if (tags !== undefined) return matches(tags, validators["ETag"]!.replace("W/", ""));
  const modifiedSince = parseHttpDate(conditions["if-modified-since"]);
  return modifiedSince !== undefined && Date.parse(validators["Last-Modified"]!) <= modifiedSince;
}

const HTTP_DATE =
  /^[A-Z][a-z]{2,8}(?:, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} | [A-Z][a-z]{2} [ \d]\d )\d{2}:\d{2}:\d{2} (?:GMT|\d{4})$/;

/** Milliseconds since 1970; undefined for an invalid HTTP date, which is ignored (RFC 9110, 13.1.3). */
function parseHttpDate(text: string | undefined): number | undefined {
  if (text === undefined || !HTTP_DATE.test(text)) return undefined;
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : date;
}

const ENTITY_TAG = /(?:W\/)?("[^"]*")/g;

/** Compares weakly with `*` or a list; a tag may contain a comma (RFC 9110, 13.1.2). */
function matches(header: string, etag: string): boolean {
  if (header.trim() === "*") return true;
  for (const [, tag] of header.matchAll(ENTITY_TAG)) if (tag === etag) return true;
  return false;
}

const Action = Type.Object({ href: Type.String({ format: "uri" }), method: Type.Literal("GET") });
type Action = Static<typeof Action>;

/** The formats of a transcription link to each other (section 4.11, G17). */
export const Actions = Type.Object(
  {
    get_sentences: Action,
    get_paragraphs: Action,
    get_subtitles_srt: Action,
    get_subtitles_vtt: Action,
    next: Type.Optional(Action),
    previous: Type.Optional(Action),
  },
  { $id: "TranscriptionActions" },
);

export function listSiblingLinks(base: string) {
  return {
    get_sentences: toLink(`${base}/sentences`),
    get_paragraphs: toLink(`${base}/paragraphs`),
    get_subtitles_srt: toLink(`${base}/subtitles/srt`),
    get_subtitles_vtt: toLink(`${base}/subtitles/vtt`),
  };
}

export interface Page {
  offset: number;
  /** Undefined: everything from the offset on. */
  limit: number | undefined;
  total: number;
}

/** The largest page (section 8). */
export const MAX_PAGE_SIZE = 1000;

/** Links to the next and the previous page, if there are any; all pages together have each sentence once. */
export function buildPageLinks(base: string, { offset, limit, total }: Page) {
  const end = limit === undefined ? total : offset + limit;
  const links: { next?: Action; previous?: Action } = {};
  if (end < total) links.next = toLink(`${base}/sentences?limit=${limit}&offset=${end}`);
  // Beyond the end, the previous page is the last one with a sentence.
  const start = Math.min(offset, total);
  if (start > 0) {
    const size = Math.min(limit ?? MAX_PAGE_SIZE, start);
    // The first page is shorter, so that it does not repeat sentences of this one.
    links.previous = toLink(`${base}/sentences?limit=${size}&offset=${start - size}`);
  }
  return links;
}

function toLink(href: string): Action {
  return { href, method: "GET" };
}
