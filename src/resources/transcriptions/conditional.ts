import { createHash } from "node:crypto";
import { Reply } from "../../contract/operation.ts";
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
  if_none_match: string | undefined,
  headers: Record<string, string>,
  answer: () => { body: unknown; headers?: Record<string, string> },
): Reply {
  if (if_none_match !== undefined && matches(if_none_match, headers["ETag"]!)) {
    return new Reply(304, undefined, headers);
  }
  const { body, headers: more } = answer();
  return new Reply(200, body, { ...headers, ...more });
}

const ENTITY_TAG = /(?:W\/)?("[^"]*")/g;

/** RFC 9110, 13.1.2: `*`, or a list compared weakly; a comma may stand inside a tag. */
function matches(header: string, etag: string): boolean {
  if (header.trim() === "*") return true;
  for (const [, tag] of header.matchAll(ENTITY_TAG)) if (tag === etag) return true;
  return false;
}
