/* Conversions between bytes and texts that run in Node, in a browser and in a worker. */

const encoder = new TextEncoder();
/** `ignoreBOM` keeps a byte order mark as U+FEFF. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export const EMPTY_BYTES = new Uint8Array(0);

export function toUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Malformed sequences become U+FFFD; a byte order mark stays. */
export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

const scratch = new Uint8Array(16 * 1024);

export function countUtf8Bytes(text: string): number {
  // A unit of UTF-16 takes at most three bytes in UTF-8. `encodeInto` is ten times as fast as a loop.
  if (text.length * 3 <= scratch.length) return encoder.encodeInto(text, scratch).written;
  return encoder.encode(text).length;
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

/** The text must consist of pairs of hex digits. */
export function fromHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) =>
    Number.parseInt(text.slice(2 * i, 2 * i + 2), 16),
  );
}

/** Each byte as the character of that code, as in ISO 8859-1. */
export function toLatin1(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += 8192)
    text += String.fromCharCode(...bytes.subarray(start, start + 8192));
  return text;
}

/** Characters above U+00FF lose their upper bits. */
export function fromLatin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(toLatin1(bytes));
}

/** Padding may be missing; white space is ignored. @throws DOMException for anything else that is not base64. */
export function fromBase64(text: string): Uint8Array {
  return fromLatin1(atob(text));
}

/** Reads both alphabets; ignores other characters, and a last one that is too few for a byte, as lenient decoders do. */
export function fromLooseBase64(text: string): Uint8Array {
  const digits = text
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replaceAll(/[^A-Za-z0-9+/]/g, "");
  return fromBase64(digits.length % 4 === 1 ? digits.slice(0, -1) : digits);
}

/** RFC 4648 section 5, without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Like `fromBase64`, for both alphabets. @throws DOMException for any other text. */
export function fromBase64Url(text: string): Uint8Array {
  return fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
}

/** Takes a time that depends on the lengths only, not on how much is equal, so that it can compare secrets. */
export function areBytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index++) difference |= a[index]! ^ b[index]!;
  return difference === 0;
}
