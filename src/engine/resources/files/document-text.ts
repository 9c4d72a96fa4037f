import { repairWestern } from "../../contract/text.ts";
import { platform } from "../../platform.ts";
import { MAX_TEXT_LENGTH } from "./passages.ts";

/** Elements whose text a page does not show. */
const HIDDEN_ELEMENTS = new Set("script style template noscript svg math iframe object select".split(" "));

/** Elements within a line; all others begin a new line. */
const INLINE_ELEMENTS = new Set(
  `a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q rp rt ruby s samp small span strike
  strong sub sup time tt u var wbr`.split(/\s+/),
);

/** The cells of a row stay on one line. */
const CELL_ELEMENTS = new Set(["td", "th"]);

/** The limit of browsers. The time that an element takes grows with its depth. */
const MAX_DEPTH = 512;

/**
 * Reads the text of HTML or XML, a line for each block or row, without scripts and comments. Reading stops after
 * MAX_TEXT_LENGTH characters and at elements that nest too deep. @throws the signal's reason
 */
export async function readMarkup(
  markup: string,
  { signal, xml = false }: { signal: AbortSignal; xml?: boolean },
): Promise<string> {
  const { Parser } = await import("htmlparser2");
  let text = "";
  let hiddenDepth = 0;
  let depth = 0;
  const addSeparator = (name: string) => {
    if (INLINE_ELEMENTS.has(name) && !xml) return;
    text += CELL_ELEMENTS.has(name) ? " " : "\n";
  };
  const parser = new Parser(
    {
      onopentagname(name) {
        depth += 1;
        if (HIDDEN_ELEMENTS.has(name) && !xml) hiddenDepth += 1;
        addSeparator(name);
      },
      onclosetag(name) {
        depth -= 1;
        if (HIDDEN_ELEMENTS.has(name) && !xml) hiddenDepth -= 1;
        addSeparator(name);
      },
      ontext(words) {
        // A line break within a block is a space.
        if (hiddenDepth === 0 && text.length < MAX_TEXT_LENGTH) text += words.replaceAll(/\s+/g, " ");
      },
    },
    { xmlMode: xml, decodeEntities: true, recognizeSelfClosing: true },
  );
  for await (const piece of cutIntoPieces(markup, signal)) {
    parser.write(piece);
    if (text.length >= MAX_TEXT_LENGTH || depth > MAX_DEPTH) break;
  }
  parser.end();
  return text.replaceAll(/ {2,}/g, " ");
}

/**
 * Reads the rows of CSV as they are written; line ends within quotes do not end a row. Reading stops after
 * MAX_TEXT_LENGTH characters. @throws the signal's reason
 */
export async function readRows(csv: string, signal: AbortSignal): Promise<string[]> {
  const { parse } = await import("csv-parse/browser/esm");
  const rows: string[] = [];
  let length = 0;
  let lengthSinceRow = 0;
  const parser = parse({
    delimiter: detectDelimiter(csv),
    bom: true,
    raw: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  });
  let isBroken = false;
  const ended = new Promise<void>((resolve) => {
    parser.on("end", resolve).on("error", () => {
      isBroken = true;
      resolve();
    });
  });
  parser.on("data", ({ raw }: { raw: string }) => {
    length += raw.length;
    lengthSinceRow = 0;
    rows.push(raw.trim());
  });
  for await (const piece of cutIntoPieces(csv, signal)) {
    lengthSinceRow += piece.length;
    // No row has ended for this long: a quote is probably never closed.
    if (lengthSinceRow > MAX_TEXT_LENGTH) isBroken = true;
    if (length > MAX_TEXT_LENGTH || isBroken) break;
    parser.write(piece);
  }
  // A long table is cut, perhaps within a quoted cell, which `end` would report as an error.
  if (!isBroken && length <= MAX_TEXT_LENGTH) {
    parser.end();
    await ended;
  }
  // If a quote is never closed, or too late, the lines are used instead of rows.
  return isBroken ? csv.split(/\r\n|\r|\n/) : rows;
}

/** Many spreadsheets and databases separate cells by another character than a comma. */
function detectDelimiter(csv: string): string {
  const [heading = ""] = csv.split(/[\r\n]/, 1);
  const counts = [",", ";", "\t", "|"].map(
    (delimiter) => [delimiter, heading.split(delimiter).length] as const,
  );
  return counts.toSorted(([, a], [, b]) => b - a)[0]![0];
}

/** As many characters as a parser reads in a few milliseconds. */
const PIECE_LENGTH = 16 * 1024;

/** Cuts a long text into pieces and serves other requests between them. @throws the signal's reason */
async function* cutIntoPieces(text: string, signal: AbortSignal): AsyncGenerator<string, void, void> {
  for (let offset = 0; offset < text.length; offset += PIECE_LENGTH) {
    if (offset > 0) await platform().nextTurn();
    signal.throwIfAborted();
    yield text.slice(offset, offset + PIECE_LENGTH);
  }
}

/** Deeper values are left out, since a document may nest deeper than the stack. */
const MAX_JSON_DEPTH = 50;

/**
 * Finds every text with a number that JavaScript would write in another way, and some others: with many digits, an exponent, a
 * zero at the end (`1.50`), a tiny value, or -0.
 */
const MAYBE_REWRITTEN = /[\d.]{16}|\d[eE]|\.\d*0(?!\d)|\.0{6}|-0/;
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** Turns the numbers of valid JSON into strings, which stay as they are written. */
function quoteNumbers(text: string): string {
  return text.replaceAll(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`));
}

/**
 * Writes a line for each value, after the names that lead to it; numbers stay as they are written. Undefined for invalid
 * JSON. Without `isWhole`, the text is the first part of a document, which cannot be parsed: it is returned as it is.
 */
export function readJson(text: string, { isWhole }: { isWhole: boolean }): string | undefined {
  let document: unknown;
  try {
    document = JSON.parse(text);
    if (MAYBE_REWRITTEN.test(text)) document = JSON.parse(quoteNumbers(text));
  } catch {
    return isWhole ? undefined : text;
  }
  const lines: string[] = [];
  let length = 0;
  const visit = (value: unknown, names: readonly string[], depth: number): void => {
    if (length > MAX_TEXT_LENGTH || depth > MAX_JSON_DEPTH) return;
    if (Array.isArray(value)) {
      for (const item of value) visit(item, names, depth + 1);
    } else if (typeof value === "object" && value !== null) {
      for (const [name, item] of Object.entries(value)) visit(item, [...names, name], depth + 1);
    } else if (value !== null && value !== "") {
      const line = names.length === 0 ? String(value) : `${names.join(" ")}: ${value}`;
      length += line.length;
      lines.push(line);
    }
  };
  visit(document, [], 0);
  return lines.join("\n");
}

/**
 * Decodes UTF-8, or the encoding of a byte order mark or of the type's `charset` (G34). Undefined for bytes that
 * are not valid.
 */
export function decodeText(
  bytes: Uint8Array,
  { mime_type, isWhole }: { mime_type: string; isWhole: boolean },
): string | undefined {
  try {
    // The text may be cut within a character.
    const decoder = new TextDecoder(detectEncoding(bytes, mime_type), { fatal: true });
    const text = decoder.decode(bytes, { stream: !isWhole });
    return decoder.encoding === "windows-1252" ? repairWestern(text) : text;
  } catch {
    return undefined;
  }
}

/** Why `decodeText` cannot decode a text, and what to do. */
export function explainUnreadableText(bytes: Uint8Array, mime_type: string): string {
  const encoding = detectEncoding(bytes, mime_type);
  const advice =
    "save it as UTF-8, or name its encoding in the Content-Type, as in text/plain; charset=windows-1252";
  if (encoding === "utf-8") return `the text is not valid UTF-8; ${advice}`;
  const source = readByteOrderMark(bytes) === undefined ? "its Content-Type" : "its byte order mark";
  return `the text is not valid ${encoding.slice(0, 40)}, the encoding that ${source} names; ${advice}`;
}

function detectEncoding(bytes: Uint8Array, mime_type: string): string {
  return readByteOrderMark(bytes) ?? /;\s*charset="?([\w.:-]+)"?/i.exec(mime_type)?.[1] ?? "utf-8";
}

function readByteOrderMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return undefined;
}
