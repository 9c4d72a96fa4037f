import { isUtf8 } from "node:buffer";
import { repairWestern } from "../../engine/contract/text.ts";
import { findBoundary, toFileName } from "../../engine/pipeline/form-parts.ts";
import type { PlainRequest } from "../../engine/pipeline/plain-http.ts";

/** The type that a part's headers name. busboy assumes text/plain for a part without one. */
export function findContentType(head: string): string | undefined {
  return /^content-type:[ \t]*(\S.*?)[ \t]*$/im.exec(head)?.[1];
}

/** The name of a file in a form. If it is not UTF-8, it is read as Windows-1252; busboy has replaced its letters. */
export function readFileName(filename: string | undefined, head: string): string | undefined {
  const sent = filename?.includes("\ufffd") ? /filename="([^"]*)"/i.exec(head)?.[1] : undefined;
  if (sent === undefined || isUtf8(Buffer.from(sent, "latin1"))) return filename && toFileName(filename);
  return toFileName(repairWestern(sent));
}

const MAX_HEAD_BYTES = 16 * 1024;

/**
 * Passes on a multipart body, cut after the headers of each part. A piece that completes the headers of a part has
 * their text in `head`, since busboy, which parses the pieces, does not report all headers.
 */
export async function* cutAfterHeads({
  headers,
  body,
}: Pick<PlainRequest, "headers" | "body">): AsyncGenerator<{ bytes: Uint8Array; head?: string }> {
  const delimiter = Buffer.from(`\r\n--${findBoundary(String(headers["content-type"]))}`);
  const lineEnd = Buffer.from("\r\n");
  // The last bytes of earlier chunks, since a delimiter or an empty line may begin there and end in the next. The first
  // delimiter has no line end before it.
  let earlier: Buffer = lineEnd;
  let isInHead = false;
  let hasEnded = false;
  for await (const chunk of body) {
    for (let rest = chunk; rest.length > 0; ) {
      const searched = Buffer.concat([earlier, rest]);
      const mark = isInHead ? "\r\n\r\n" : delimiter;
      const position = searched.indexOf(mark);
      const end = position < 0 ? rest.length : position + mark.length - earlier.length;
      const bytes = rest.subarray(0, end);
      const head = isInHead && position >= 0 ? searched.toString("latin1", 0, position) : undefined;
      // Two hyphens after a delimiter end the form; text after them is ignored.
      hasEnded ||= head?.startsWith("--") === true;
      yield head === undefined || hasEnded ? { bytes } : { bytes, head };
      rest = rest.subarray(end);
      if (position < 0) earlier = searched.subarray(isInHead ? -MAX_HEAD_BYTES : 1 - delimiter.length);
      else {
        isInHead = !isInHead;
        earlier = isInHead ? Buffer.alloc(0) : lineEnd;
      }
    }
  }
}
