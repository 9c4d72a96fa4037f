import Type from "typebox";
import { toHex } from "../../bytes.ts";
import { Reply } from "../../contract/reply.ts";
import { digest } from "../../platform.ts";
import type { WorldReader } from "../../state/transaction.ts";
import type { Transcription } from "./schema.ts";

/** Section 4.11's validators for one representation; `content` is what the client is really after. */
export function validators(
  { updated_at, pii_redaction }: Transcription,
  content: string,
  world: WorldReader,
): Record<string, string> {
  return {
    ETag: `"${toHex(digest("sha256", content)).slice(0, 32)}"`,
    "Last-Modified": new Date(world.absolute(updated_at)).toUTCString(),
    "Cache-Control": "public, max-age=86400",
    ...(pii_redaction === null
      ? {}
      : { "X-PII-Redacted": "true", "X-PII-Policies": pii_redaction.join(",") }),
  };
}

/** 304 where the client holds this representation already, else the answer; both with the validators. */
export function unlessHeld(
  asked: Readonly<Record<string, string | undefined>>,
  headers: Record<string, string>,
  answer: () => { body: unknown; headers?: Record<string, string> },
): Reply {
  if (isHeld(asked, headers)) return new Reply(304, undefined, headers);
  const { body, headers: more } = answer();
  return new Reply(200, body, { ...headers, ...more });
}

/** G39: a tag says more than a date, so where both are asked for the date counts for nothing (RFC 9110, 13.2.2). */
function isHeld(asked: Readonly<Record<string, string | undefined>>, held: Record<string, string>): boolean {
  const tags = asked["if-none-match"];
  if (tags !== undefined) return matches(tags, held["ETag"]!);
  const since = httpDate(asked["if-modified-since"]);
  return since !== undefined && Date.parse(held["Last-Modified"]!) <= since;
}

const HTTP_DATE =
  /^[A-Z][a-z]{2,8}(?:, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} | [A-Z][a-z]{2} [ \d]\d )\d{2}:\d{2}:\d{2} (?:GMT|\d{4})$/;

/** Milliseconds since 1970; undefined for what is no date of HTTP, which counts as not sent (RFC 9110, 13.1.3). */
function httpDate(text: string | undefined): number | undefined {
  if (text === undefined || !HTTP_DATE.test(text)) return undefined;
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : date;
}

const ENTITY_TAG = /(?:W\/)?("[^"]*")/g;

/** RFC 9110, 13.1.2: `*`, or a list compared weakly; a comma may stand inside a tag. */
function matches(header: string, etag: string): boolean {
  if (header.trim() === "*") return true;
  for (const [, tag] of header.matchAll(ENTITY_TAG)) if (tag === etag) return true;
  return false;
}

const Action = Type.Object({ href: Type.String({ format: "uri" }), method: Type.Literal("GET") });
type Action = { href: string; method: "GET" };

/** Section 4.11 and G17: the formats of one transcription link to each other. */
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

interface Place {
  base_url: string;
  transcription_id: string;
}

export interface Page {
  offset: number;
  /** Absent: everything from the offset on. */
  limit: number | undefined;
  total: number;
}

export function siblingLinks(place: Place) {
  return {
    get_sentences: link(place, "sentences"),
    get_paragraphs: link(place, "paragraphs"),
    get_subtitles_srt: link(place, "subtitles/srt"),
    get_subtitles_vtt: link(place, "subtitles/vtt"),
  };
}

/** The largest page (section 8). */
const MAX_PAGE = 1000;

/** `next` and `previous` where there is such a page; whoever follows them meets each sentence once. */
export function pageLinks(place: Place, { offset, limit, total }: Page) {
  const end = limit === undefined ? total : offset + limit;
  const links: { next?: Action; previous?: Action } = {};
  if (end < total) links.next = link(place, `sentences?limit=${limit}&offset=${end}`);
  // From beyond the end, the page before is the last one that holds anything.
  const start = Math.min(offset, total);
  if (start > 0) {
    const size = Math.min(limit ?? MAX_PAGE, start);
    // A shorter first page rather than one that repeats sentences of this one.
    links.previous = link(place, `sentences?limit=${size}&offset=${start - size}`);
  }
  return links;
}

function link({ base_url, transcription_id }: Place, rest: string): Action {
  return { href: `${base_url}/v1/audio/transcribe/${transcription_id}/${rest}`, method: "GET" };
}
