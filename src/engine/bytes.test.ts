import { describe, expect, it } from "vitest";
import {
  areBytesEqual,
  concatBytes,
  countUtf8Bytes,
  fromBase64,
  fromBase64Url,
  fromHex,
  fromLatin1,
  fromLooseBase64,
  fromUtf8,
  toBase64,
  toBase64Url,
  toHex,
  toLatin1,
  toUtf8,
} from "./bytes.ts";

const TEXTS = [
  "",
  "plain",
  "naïve",
  "日本語",
  "👩‍🚀 and 𝒳",
  "\ud800 alone",
  "\udc00 alone",
  "end \ud83d",
  "日".repeat(9000),
];
const ALL = Uint8Array.from({ length: 256 }, (_, byte) => byte);

describe("bytes", () => {
  it.each(TEXTS)("the UTF-8 length of %j equals the length of its bytes", (text) => {
    expect(countUtf8Bytes(text)).toBe(Buffer.byteLength(text));
    expect(Buffer.from(toUtf8(text))).toEqual(Buffer.from(text));
  });

  it("every byte survives hex, and base64 with foreign characters is read as Node reads it", () => {
    expect(fromHex(toHex(ALL))).toEqual(ALL);
    for (const text of ["aGVsbG8", "aGVs bG8=", "_-8", "whsec_aGVsbG8", "a"])
      expect(Buffer.from(fromLooseBase64(text))).toEqual(Buffer.from(text, "base64"));
  });

  it("every byte survives base64, base64url and latin1", () => {
    expect(toBase64(ALL)).toBe(Buffer.from(ALL).toString("base64"));
    expect(fromBase64(toBase64(ALL))).toEqual(ALL);
    expect(toBase64Url(ALL)).toBe(Buffer.from(ALL).toString("base64url"));
    expect(fromBase64Url(toBase64Url(ALL))).toEqual(ALL);
    expect(fromLatin1(toLatin1(ALL))).toEqual(ALL);
    expect(toHex(ALL)).toBe(Buffer.from(ALL).toString("hex"));
  });

  it("malformed UTF-8 is replaced", () => {
    const malformed = Uint8Array.of(0x61, 0xff);
    expect(fromUtf8(malformed)).toBe("a\ufffd");
    expect(fromUtf8(toUtf8("\ufeffkept"))).toBe("\ufeffkept");
  });

  it("secrets are equal only if all bytes and the lengths are equal", () => {
    expect(areBytesEqual(toUtf8("abc"), toUtf8("abc"))).toBe(true);
    expect(areBytesEqual(toUtf8("abc"), toUtf8("abd"))).toBe(false);
    expect(areBytesEqual(toUtf8("abc"), toUtf8("abcd"))).toBe(false);
    expect(concatBytes([toUtf8("a"), toUtf8("bc")])).toEqual(toUtf8("abc"));
  });
});
