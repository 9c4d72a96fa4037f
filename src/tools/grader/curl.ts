import type { RawRequest } from "./network.ts";

/** The command generates longer runs of one byte instead of containing them. */
const LONG_RUN = 1024;

/**
 * A command for a POSIX shell that sends the same bytes. The command generates long runs of one byte and
 * bytes that aren't text, so that the line is short and can be pasted.
 */
export function toCurlCommand(request: RawRequest, caFile?: string): string {
  const parts = ["curl -sS -i --http1.1"];
  if (caFile !== undefined) parts.push(`--cacert ${quoteForShell(caFile)}`);
  if (/[[\]{}]/.test(request.url.href)) parts.push("--globoff");
  if (request.method !== "GET") parts.push(`-X ${request.method}`);
  parts.push(quoteForShell(request.url.href));
  parts.push(...listHeaderOptions(request.headers, request.method !== "GET"));
  if (request.chunkAt) parts.push("-H 'Transfer-Encoding: chunked'");
  if (request.method === "GET") return parts.join(" ");
  const pieces = splitLongRuns(request.body);
  const plainText = pieces.length === 1 && typeof pieces[0] === "string" ? toPlainText(request.body) : null;
  // A leading @ would name a file.
  if (plainText !== null && !plainText.startsWith("@"))
    return `${parts.join(" ")} --data-binary ${quoteForShell(plainText)}`;
  const producers = pieces.map((piece) =>
    typeof piece === "string" ? toPrintfCommand(piece) : toRepeatCommand(piece),
  );
  const body = producers.length === 1 ? producers[0] : `{ ${producers.join("; ")}; }`;
  return `${body} | ${parts.join(" ")} --data-binary @-`;
}

/** The options for exactly these headers: curl would drop an empty value, and add a content type to a body without one. */
export function listHeaderOptions(
  headers: readonly (readonly [name: string, value: string])[],
  hasBody: boolean,
): string[] {
  const lines = headers.map(([name, value]) => (value === "" ? `${name};` : `${name}: ${value}`));
  if (hasBody && !headers.some(([name]) => /^content-type$/i.test(name))) lines.push("Content-Type:");
  return lines.map((line) => `-H ${quoteForShell(line)}`);
}

/** Quotes one argument for a POSIX shell; the value must not contain NUL. */
export function quoteForShell(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

interface Run {
  byte: number;
  length: number;
}

/** Splits the bytes into text (latin1, one character per byte) and long runs, in order. */
function splitLongRuns(body: Buffer): (string | Run)[] {
  const pieces: (string | Run)[] = [];
  let pending = 0;
  for (let start = 0; start < body.length; ) {
    let end = start + 1;
    while (end < body.length && body[end] === body[start]) end += 1;
    if (end - start >= LONG_RUN) {
      if (start > pending) pieces.push(body.toString("latin1", pending, start));
      pieces.push({ byte: body[start]!, length: end - start });
      pending = end;
    }
    start = end;
  }
  if (pending < body.length || pieces.length === 0) pieces.push(body.toString("latin1", pending));
  return pieces;
}

/** The body as text if it is valid UTF-8 that can be pasted into a terminal, else null. */
function toPlainText(body: Buffer): string | null {
  const text = body.toString("utf8");
  return Buffer.from(text).equals(body) && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text) ? text : null;
}

function toPrintfCommand(latin1: string): string {
  // A leading hyphen is escaped too: printf would read it as an option.
  const format = latin1.replace(/^-|[^ -~]|['%\\]/g, (character) => {
    return character === "%" ? "%%" : `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`;
  });
  return `printf '${format}'`;
}

function toRepeatCommand({ byte, length }: Run): string {
  return `head -c ${length} /dev/zero | tr '\\000' '\\${byte.toString(8).padStart(3, "0")}'`;
}
