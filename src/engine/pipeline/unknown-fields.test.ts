import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { readQuery } from "./read-query.ts";
import { findUnknownFields } from "./unknown-fields.ts";

describe("fields that no contract declares", () => {
  const schema = Type.Object({
    known: Type.Union([Type.Object({ inner: Type.String() }), Type.Null()]),
    free: Type.Unsafe<object>({ type: "object" }),
    list: Type.Array(Type.Object({ inner: Type.String() })),
  });
  const listFields = (value: unknown) => findUnknownFields(schema, value).map(({ field }) => field);

  it("are listed by their paths, except in null and free objects [G09]", () => {
    expect(
      listFields({ known: { inner: "a" }, free: { any: { thing: 1 } }, list: [{ inner: "a" }] }),
    ).toEqual([]);
    expect(listFields({ known: null, free: null, list: null })).toEqual([]);
    expect(listFields(null)).toEqual([]);
    expect(listFields({ other: null, list: [{ inner: "a" }, { more: 1 }, null] })).toEqual([
      "other",
      "list[1].more",
    ]);
  });
});

describe("numbers of a query", () => {
  const page = { type: "object", properties: { limit: { type: "integer", "x-page": true } } } as never;
  const readLimit = (text: string, outOfRange: "clamp" | "reject") =>
    readQuery(page, `limit=${text}`, { unknown: "keep", outOfRange })["limit"];

  it("beyond 2^53 are clamped for a page size, and must consist of digits [G08]", () => {
    const long = "9".repeat(20);
    expect(readLimit(long, "clamp")).toBe(Number.MAX_SAFE_INTEGER);
    expect(readLimit(`-${long}`, "clamp")).toBe(Number.MIN_SAFE_INTEGER);
    expect(readLimit(long, "reject")).toBe(long);
    for (const text of [`${long}x`, `x${long}`, `--${long}`, "1.5", "1e3"])
      expect(readLimit(text, "clamp")).toBe(text);
    expect(readLimit("12", "clamp")).toBe(12);
  });
});
