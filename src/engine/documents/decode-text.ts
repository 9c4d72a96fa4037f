import { repairWestern } from "../contract/text.ts";
import { type DocumentError, documentError, toPosition } from "./document-error.ts";

export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be" | "utf-32le" | "utf-32be";

/** Number of bytes that are examined to guess an encoding: at the start, or on each side of an invalid byte. */
const SAMPLE_BYTES = 4096;

/** Detects the encoding of a text by its byte order mark, else by the positions of its zero bytes. */
export function detectEncoding(bytes: Uint8Array): TextEncoding {
  const [a, b, c, d] = bytes;
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? "utf-32le" : "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return "utf-32be";
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  if (!sample.includes(0)) return "utf-8";
  const zeros = [0, 0, 0, 0];
  for (const [position, byte] of sample.entries()) if (byte === 0) zeros[position % 4]! += 1;
  const [first, second, third, fourth] = zeros as [number, number, number, number];
  const zeroCount = first + second + third + fourth;
  // UTF-16 text has many zero bytes in every language, since each digit and each mark of markup has one. A text with few
  // zero bytes, or a short one with a single zero byte, is therefore UTF-8.
  if (zeroCount * 10 < sample.length) return "utf-8";
  if ((zeroCount === 1 || zeroCount * 3 <= sample.length) && isPlainUtf8(sample)) return "utf-8";
  const characters = Math.ceil(sample.length / 4);
  if (first === 0 && second > 0 && third > 0 && fourth === characters) return "utf-32le";
  if (first === characters && second > 0 && third > 0 && fourth === 0) return "utf-32be";
  return first + third > second + fourth ? "utf-16be" : "utf-16le";
}

/**
 * Whether bytes are UTF-8 whose only control characters are zero and white space. Other control characters are probably
 * halves of UTF-16 characters, such as Greek letters.
 */
function isPlainUtf8(bytes: Uint8Array): boolean {
  if (bytes.some((byte) => (byte > 0 && byte < 9) || (byte > 13 && byte < 32))) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** The first characters of files in other formats than text, what such a file is, and how its name ends. */
const SIGNATURES: readonly (readonly [start: string, what: string, ending?: string])[] = [
  ["\x1f\x8b", "an exported sandbox; open it with `understudy open`", ".understudy"],
  ["\x1f\x8b", "compressed with gzip; unpack it first"],
  ["\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first"],
  ["\xfd7zXZ\0", "compressed with xz; unpack it first"],
  ["PK\x03\x04", "a ZIP archive or an Office document, not a text"],
  ["%PDF-", "a PDF, not a text"],
  ["\x89PNG", "an image, not a text"],
  ["\xff\xd8\xff", "an image, not a text"],
  ["SQLite format 3\0", "an SQLite database, not a text"],
];

/** @throws DocumentError for a file whose first bytes are those of another format than text */
export function requireTextFormat(bytes: Uint8Array, file: string): void {
  const start = String.fromCharCode(...bytes.subarray(0, 16));
  const what = SIGNATURES.find(
    ([signature, , ending = ""]) => start.startsWith(signature) && file.endsWith(ending),
  )?.[1];
  if (what !== undefined) throw documentError(file, { line: 1, column: 1 }, `the file is ${what}`);
}

/**
 * Decodes the text of a user's file: UTF-8 or UTF-16, with or without a byte order mark, which is left out.
 * @throws DocumentError for a file in a format of SIGNATURES, for UTF-32, and at the first byte that is invalid in the detected
 * encoding
 */
export function decodeText(bytes: Uint8Array, file: string): string {
  requireTextFormat(bytes, file);
  const encoding = detectEncoding(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    // Invalid bytes, or UTF-32, which TextDecoder does not know.
    throw createEncodingError(bytes, encoding, file);
  }
}

/** The error for a file in UTF-32, or for bytes that are invalid in the detected encoding; it reports the first of them. */
export function createEncodingError(bytes: Uint8Array, encoding: TextEncoding, file: string): DocumentError {
  const advice = "save it as UTF-8";
  if (encoding.startsWith("utf-32")) {
    return documentError(file, { line: 1, column: 1 }, `the file is in ${encoding.toUpperCase()}; ${advice}`);
  }
  const validBytes = countValid(bytes, encoding);
  const before = new TextDecoder(encoding).decode(bytes.subarray(0, validBytes));
  const place = toPosition(before, before.length);
  if (encoding !== "utf-8")
    return documentError(file, place, `the file is broken ${encoding.toUpperCase()}; ${advice}`);
  const byte = bytes[validBytes]!;
  const code = `0x${byte.toString(16).toUpperCase()}`;
  const message = isWestern(bytes.subarray(Math.max(0, validBytes - SAMPLE_BYTES), validBytes + SAMPLE_BYTES))
    ? `the file is not UTF-8 but probably Windows-1252, in which ${code} is "${repairWestern(String.fromCharCode(byte))}"; ${advice}`
    : `the file is not UTF-8 but in another encoding, such as Windows-1251, Shift JIS or GBK (${code} is here); ${advice}`;
  return documentError(file, place, message);
}

/** The number of bytes before the first invalid one. */
function countValid(bytes: Uint8Array, encoding: TextEncoding): number {
  let [valid, invalid] = [0, bytes.length + 1];
  while (invalid - valid > 1) {
    const middle = Math.floor((valid + invalid) / 2);
    try {
      new TextDecoder(encoding, { fatal: true }).decode(bytes.subarray(0, middle), { stream: true });
      valid = middle;
    } catch {
      invalid = middle;
    }
  }
  return excludeCutCharacter(bytes, valid, encoding);
}

/** A decoder accepts an incomplete character at the end; its first byte then counts as the invalid one. */
function excludeCutCharacter(bytes: Uint8Array, end: number, encoding: TextEncoding): number {
  if (encoding !== "utf-8") return end - (end % 2);
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, end), {
    stream: true,
  });
  return new TextEncoder().encode(text).length;
}

/** In Western European text, most non-ASCII letters are between ASCII ones. */
function isWestern(bytes: Uint8Array): boolean {
  let [alone, nonAscii] = [0, 0];
  for (const [position, byte] of bytes.entries()) {
    if (byte < 0x80) continue;
    nonAscii += 1;
    if ((bytes[position - 1] ?? 0) < 0x80 && (bytes[position + 1] ?? 0) < 0x80) alone += 1;
  }
  return alone * 2 >= nonAscii;
}

/**
 * Removes the byte order mark, which belongs to the file and not to its first line. Replaces each carriage return without a
 * line feed by a line feed: it ends a line of YAML, but parsers of YAML do not know that.
 */
export function normalizeText(text: string): string {
  return text.replace(/^\ufeff/, "").replace(/\r(?!\n)/g, "\n");
}
