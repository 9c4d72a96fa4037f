import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { textOfMarkup } from "./extract-markup.ts";
import { rowsOf } from "./extract-rows.ts";
import { MAX_TEXT_LENGTH, passagesOfRows } from "./passages.ts";

const MB = 1024 * 1024;
const { signal } = new AbortController();

/** How often others had their turn while this went on. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
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

describe("long texts", () => {
  it.each([
    ["HTML without a word", (of: AbortSignal) => textOfMarkup("<b></b>".repeat(MB / 7), { signal: of })],
    [
      "XML without a word",
      (of: AbortSignal) => textOfMarkup("<!---->".repeat(MB / 7), { signal: of, xml: true }),
    ],
    ["a table of one row", (of: AbortSignal) => rowsOf(",".repeat(MB / 4), of)],
    ["a table of empty rows", (of: AbortSignal) => rowsOf("\n".repeat(MB), of)],
  ])("interfaces 7 %s leaves others their turns, and ends with its client", async (_what, read) => {
    expect(await turnsDuring(read(signal))).toBeGreaterThan(10);
    const client = new AbortController();
    const reading = read(client.signal);
    client.abort(new Error("the client left"));
    await expect(reading).rejects.toThrow("the client left");
  });

  it("interfaces 7 pages are read to where browsers nest no deeper", async () => {
    // Each costs the parser as much as there are around it: four megabytes of them took minutes.
    const page = `<p>first<b>second</b>${"<b>".repeat(10_000)}far below`;
    const text = await textOfMarkup(page, { signal });
    expect(text).toContain("second");
    expect(text).not.toContain("far below");
    const flat = await textOfMarkup(`${"<div><br><p>a<p>b</div>".repeat(5000)}at the end`, { signal });
    expect(flat).toContain("at the end");
  });

  it("interfaces 7 no more of a page or a table is read than is kept", async () => {
    const words = "<p>word</p>".repeat(MB / 11);
    expect((await textOfMarkup(words, { signal })).length).toBeLessThan(MAX_TEXT_LENGTH + 20_000);
    const rows = await rowsOf("a,b\n".repeat(MB / 4), signal);
    expect(rows.join("\n").length).toBeGreaterThan(MAX_TEXT_LENGTH);
    expect(rows.join("\n").length).toBeLessThan(MAX_TEXT_LENGTH + 20_000);
  });

  it("interfaces 7 of a row that is longer than what is kept so much is kept, and empty rows count", () => {
    const kept = passagesOfRows([`a,${"b ".repeat(MB)}`, "c"]);
    expect(kept.join(" ").length).toBeLessThanOrEqual(MAX_TEXT_LENGTH);
    expect(passagesOfRows([...Array.from({ length: MAX_TEXT_LENGTH + 1 }, () => ""), "too late"])).toEqual(
      [],
    );
  });

  it("G34 a quote that is never closed, or closed too late, leaves lines", async () => {
    expect(await rowsOf('a,b\n"c,d\ne,f', signal)).toEqual(["a,b", '"c,d', "e,f"]);
    const late = `a,b\n"c\n${"d".repeat(2 * MAX_TEXT_LENGTH)}",e\nf,g`;
    expect((await rowsOf(late, signal)).length).toBe(4);
    expect(await rowsOf('a;b\r\n\r\n"c\nd";e', signal)).toEqual(["a;b", '"c\nd";e']);
  });
});
