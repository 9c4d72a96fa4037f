import { type Static, Type } from "typebox";
import { countUtf8Bytes } from "../../engine/bytes.ts";
import { ClosedObject, Nullable } from "../../engine/contract/schema.ts";
import type { JournalEntry } from "../../engine/sandbox/journal-entry.ts";
import { type ArchivedBody, decodeBody, HAR_ENTRY, toHarEntry } from "../../tools/har/har-entry.ts";
import { OptionalText } from "../operation.ts";

const JournalHarEntry = ClosedObject({
  ...HAR_ENTRY,
  _id: Type.String(),
  _operation: Nullable(Type.String()),
  _decision: Type.String(),
  _delivery: OptionalText("For an attempt to deliver: the delivery's id"),
});

/** HTTP Archive 1.2, for any viewer; names that begin with `_` are ours. */
export const HarBody = ClosedObject(
  {
    log: ClosedObject({
      version: Type.Literal("1.2"),
      creator: ClosedObject({ name: Type.String(), version: Type.String() }),
      pages: Type.Array(Type.Object({}), { maxItems: 0 }),
      entries: Type.Array(JournalHarEntry),
    }),
  },
  {
    $id: "HttpArchive",
    examples: [
      { log: { version: "1.2", creator: { name: "Understudy", version: "0.1.0" }, pages: [], entries: [] } },
    ],
  },
);

/** The journal as an HTTP Archive; `toHarEntry` masks the secrets. @param entries oldest first, as archives have them */
export function toHar(
  entries: readonly JournalEntry[],
  { base_url, version }: { base_url: string; version: string },
): Static<typeof HarBody> {
  return {
    log: {
      version: "1.2",
      creator: { name: "Understudy", version },
      pages: [],
      entries: entries.map((entry) => toJournalHarEntry(entry, base_url)),
    },
  };
}

function toJournalHarEntry(entry: JournalEntry, base_url: string): Static<typeof JournalHarEntry> {
  const { id, at, method, path, query, status, duration_ms, operation, decision } = entry;
  const { request_body, response_body, streamed } = entry;
  const origin = entry.delivery?.origin ?? base_url;
  const streamedBytes = typeof streamed === "object" ? streamed.bytes : undefined;
  return {
    ...toHarEntry({
      startedAt: at,
      send: 0,
      wait: duration_ms,
      receive: 0,
      method,
      url: origin + path,
      query,
      status,
      requestHeaders: entry.request_headers,
      requestBody: toArchivedBody(entry.request_headers, request_body, entry.request_bytes),
      responseHeaders: entry.response_headers,
      responseBody: toArchivedBody(entry.response_headers, response_body, streamedBytes),
    }),
    _id: id,
    _operation: operation,
    _decision: decision,
    ...(entry.delivery && { _delivery: entry.delivery.delivery_id }),
  };
}

/** @param sentBytes the size of the whole body as it was sent; undefined for one that is always stored whole */
function toArchivedBody(
  headers: readonly string[],
  body: ArchivedBody["bytes"],
  sentBytes: number | undefined,
): ArchivedBody {
  const bytes = decodeBody(headers, body);
  const storedBytes = typeof body === "string" ? countUtf8Bytes(body) : (body?.length ?? 0);
  if (bytes === body) return { bytes, size: sentBytes ?? storedBytes };
  // The size of the decoded body is unknown if only a part is stored; one byte more than that part marks it as incomplete.
  return { bytes, size: bytes!.length + (storedBytes < (sentBytes ?? 0) ? 1 : 0) };
}
