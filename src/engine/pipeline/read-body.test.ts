import { describe, expect, it } from "vitest";
import { toUtf8 } from "../bytes.ts";
import { parseJson, readBytes } from "./read-body.ts";

describe("a request's body", () => {
  const body = (...pieces: string[]) => ({
    headers: {},
    async *[Symbol.asyncIterator]() {
      for (const piece of pieces) yield toUtf8(piece);
    },
    get body() {
      return this;
    },
  });

  it("is read as a whole if it comes in pieces", async () => {
    expect(await readBytes(body("a", "b", "c"), 3)).toEqual(toUtf8("abc"));
    expect(await readBytes(body(), 3)).toEqual(toUtf8(""));
  });

  it("is refused over the limit, announced or not [quality 2.10]", async () => {
    const tooLarge = expect.objectContaining({ code: "PAYLOAD_TOO_LARGE", details: { limit_bytes: 3 } });
    await expect(readBytes(body("ab", "cd"), 3)).rejects.toEqual(tooLarge);
    await expect(readBytes({ ...body(), headers: { "content-length": "4" } }, 3)).rejects.toEqual(tooLarge);
  });
});

describe("a request's JSON", () => {
  const json = { headers: { "content-type": "application/json" } };
  const parseText = (text: string, maxValues?: number) =>
    parseJson(json, toUtf8(text), { ...(maxValues !== undefined && { maxValues }) }).value;
  const nestLists = (depth: number, inner = "") => "[".repeat(depth) + inner + "]".repeat(depth);

  it("may nest a hundred levels deep, and no deeper [quality 2.11]", () => {
    expect(JSON.stringify(parseText(nestLists(100)))).toBe(nestLists(100));
    expect(JSON.stringify(parseText(nestLists(100, "{}").slice(1, -1)))).toBe(nestLists(99, "{}"));
    for (const text of [nestLists(101), nestLists(100, "{}"), `${nestLists(50)}${"[".repeat(101)}`])
      expect(() => parseText(text)).toThrow(expect.objectContaining({ code: "INVALID_JSON" }));
  });

  it("may have any number of brackets inside strings [quality 2.11]", () => {
    const texts = ["[{".repeat(200), `\\"${"[".repeat(200)}`, `\u00eb\u{1f600}${"{".repeat(200)}\\`];
    for (const text of texts) expect(parseText(JSON.stringify([text]))).toEqual([text]);
  });

  it("is refused with too many keys and list entries [quality 2.11]", () => {
    const list = (count: number) => JSON.stringify(Array.from({ length: count }, () => "a,b"));
    expect(parseText(list(50), 50)).toHaveLength(50);
    expect(() => parseText(list(51), 50)).toThrow(expect.objectContaining({ code: "INVALID_JSON" }));
    const empty = (count: number) => JSON.stringify(Array.from({ length: count }, () => ({})));
    expect(parseText(empty(100), 100)).toHaveLength(100);
  });

  it("is refused with too many lists and objects of one entry [quality 2.11]", () => {
    for (const inner of [nestLists(90, "1"), `${'{"a":'.repeat(90)}1${"}".repeat(90)}`]) {
      const text = `[${inner},${inner}]`;
      expect(JSON.stringify(parseText(text, 182))).toBe(text);
      expect(() => parseText(text, 181)).toThrow(expect.objectContaining({ code: "INVALID_JSON" }));
    }
  });
});
