import { createHash } from "node:crypto";
import { Reply } from "../../contract/reply.ts";
import type { WorldReader } from "../../state/transaction.ts";
import type { Transcription } from "./schema.ts";

/** Section 4.11's validators for one representation; `content` is what the client is really after. */
export function validators(
  { updated_at, pii_redaction }: Transcription,
  content: string,
  world: WorldReader,
): Record<string, string> {
  return {
    ETag: `"${createHash("sha256").update(content).digest("hex").slice(0, 32)}"`,
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
