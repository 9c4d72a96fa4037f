import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { decodeText, explainUnreadableText, readJson, readMarkup, readRows } from "./document-text.ts";
import { MAX_TEXT_LENGTH, splitRows } from "./passages.ts";

const MB = 1024 * 1024;
const { signal } = new AbortController();

/** The number of turns of the event loop during the work. */
async function countTurns(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let goesOn = true;
  const ended = work.finally(() => {
    goesOn = false;
  });
  while (goesOn) {
    await nextTurn();
    turns += 1;
  }
  await ended;
  return turns;
}

describe("the text of a document", () => {
  it.each([
    ["HTML without a word", (of: AbortSignal) => readMarkup("<b></b>".repeat(MB / 7), { signal: of })],
    [
      "XML without a word",
      (of: AbortSignal) => readMarkup("<!---->".repeat(MB / 7), { signal: of, xml: true }),
    ],
    ["a table of one row", (of: AbortSignal) => readRows(",".repeat(MB / 4), of)],
    ["a table of empty rows", (of: AbortSignal) => readRows("\n".repeat(MB), of)],
  ])(
    "is read from %s in turns with other requests, and reading ends with its client [interfaces 7]",
    async (_what, read) => {
      expect(await countTurns(read(signal))).toBeGreaterThan(10);
      const client = new AbortController();
      const reading = read(client.signal);
      client.abort(new Error("the client left"));
      await expect(reading).rejects.toThrow("the client left");
    },
  );

  it("stops at the depth at which browsers stop [interfaces 7]", async () => {
    // The parser's time for an element grows with its depth: four megabytes took minutes.
    const page = `<p>first<b>second</b>${"<b>".repeat(10_000)}far below`;
    const text = await readMarkup(page, { signal });
    expect(text).toContain("second");
    expect(text).not.toContain("far below");
    const flat = await readMarkup(`${"<div><br><p>a<p>b</div>".repeat(5000)}at the end`, { signal });
    expect(flat).toContain("at the end");
  });

  it("is cut at the longest stored text in a page or a table [interfaces 7]", async () => {
    const words = "<p>word</p>".repeat(MB / 11);
    expect((await readMarkup(words, { signal })).length).toBeLessThan(MAX_TEXT_LENGTH + 20_000);
    const rows = await readRows("a,b\n".repeat(MB / 4), signal);
    expect(rows.join("\n").length).toBeGreaterThan(MAX_TEXT_LENGTH);
    expect(rows.join("\n").length).toBeLessThan(MAX_TEXT_LENGTH + 20_000);
  });

  it("is cut within a row at the longest stored text, and empty rows count [interfaces 7]", () => {
    const kept = splitRows([`a,${"b ".repeat(MB)}`, "c"]);
    expect(kept.join(" ").length).toBeLessThanOrEqual(MAX_TEXT_LENGTH);
    expect(splitRows([...Array.from({ length: MAX_TEXT_LENGTH + 1 }, () => ""), "too late"])).toEqual([]);
  });

  it("of a table with a quote that is not closed, or too late, is its lines [G34]", async () => {
    expect(await readRows('a,b\n"c,d\ne,f', signal)).toEqual(["a,b", '"c,d', "e,f"]);
    const late = `a,b\n"c\n${"d".repeat(2 * MAX_TEXT_LENGTH)}",e\nf,g`;
    expect((await readRows(late, signal)).length).toBe(4);
    expect(await readRows('a;b\r\n\r\n"c\nd";e', signal)).toEqual(["a;b", '"c\nd";e']);
  });

  it("of XHTML goes on after an element that closes itself [G34]", async () => {
    const page = '<body><script src="a.js"/><p>one</p><iframe src="b"/><p>two</p></body>';
    expect((await readMarkup(page, { signal })).split(/\s+/)).toEqual(["", "one", "two", ""]);
  });

  it("of a long table with line ends in its cells is its first rows [G34]", async () => {
    const row = `1,"c\n${"d ".repeat(400)}"`;
    const rows = await readRows(`a,b\n${`${row}\n`.repeat(2000)}`, signal);
    expect([rows[0], ...new Set(rows.slice(1))]).toEqual(["a,b", row]);
  });

  it("has a line for each value of JSON, and truncated JSON stays text [G20]", () => {
    const whole = { isWhole: true };
    expect(readJson('{"a": {"b": [1, {"c": "two"}]}, "d": null, "e": true}', whole)).toBe(
      "a b: 1\na b c: two\ne: true",
    );
    expect(readJson("{broken", { isWhole: false })).toBe("{broken");
    expect(readJson("{broken", whole)).toBeUndefined();
    expect(readJson("5", whole)).toBe("5");
    const deep = `${"[".repeat(5000)}1${"]".repeat(5000)}`;
    expect(readJson(`{"a": ${deep}, "b": 2}`, whole)).toBe("b: 2");
  });

  it("has the numbers of JSON as they are written, since a reply quotes them word for word [G20]", () => {
    const text = String.raw`{"id": 9007199254740993, "sums": [1.50, -0, 1e400], "note": "\"\\ 7.50 \u0041"}`;
    expect(readJson(text, { isWhole: true })).toBe(
      String.raw`id: 9007199254740993|sums: 1.50|sums: -0|sums: 1e400|note: "\ 7.50 A`.replaceAll("|", "\n"),
    );
    for (const number of ["0.0000001", "123456789.123456789"])
      expect(readJson(`{"a": ${number}}`, { isWhole: true })).toBe(`a: ${number}`);
  });
});

const decode = (bytes: Buffer, { mime_type = "text/plain", isWhole = true } = {}) =>
  decodeText(bytes, { mime_type, isWhole });

it("text is decoded as UTF-8, or by its byte order mark or charset [G34]", () => {
  expect(decode(Buffer.from("Grüezi"))).toBe("Grüezi");
  expect(decode(Buffer.from("\ufeffGrüezi", "utf16le"))).toBe("Grüezi");
  const latin = Buffer.from("Grüezi", "latin1");
  expect(decode(latin)).toBeUndefined();
  expect(decode(latin, { mime_type: 'text/plain; charset="ISO-8859-1"' })).toBe("Grüezi");
  const quoted = Buffer.from([0x93, 0x35, 0x20, 0x80, 0x94]);
  for (const charset of ["windows-1252", "CP1252", "iso-8859-1"])
    expect(decode(quoted, { mime_type: `text/plain; charset=${charset}` })).toBe("“5 €”");
  expect(decode(Buffer.from("\ufeffGrüezi"), { mime_type: "text/csv; charset=windows-1252" })).toBe("Grüezi");
  expect(decode(latin, { mime_type: "text/plain; charset=none-such" })).toBeUndefined();
});

it("a part of a text may end within a character, a whole text may not [G34]", () => {
  const cut = Buffer.from("Grü").subarray(0, 3);
  expect(decode(cut, { isWhole: false })).toBe("Gr");
  expect(decode(cut)).toBeUndefined();
});

it("a text that its charset cannot decode is explained by its Content-Type, also for UTF-16 [G34]", () => {
  const oddBytes = new Uint8Array([65, 0, 66]);
  expect(explainUnreadableText(oddBytes, "text/plain; charset=utf-16le")).toMatch(
    /^the text is not valid utf-16le, the encoding that its Content-Type names;/,
  );
  const marked = new Uint8Array([0xff, 0xfe, 65]);
  expect(explainUnreadableText(marked, "text/plain; charset=utf-16le")).toMatch(
    /that its byte order mark names;/,
  );
});
