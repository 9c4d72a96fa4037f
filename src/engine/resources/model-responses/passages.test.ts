import { describe, expect, it } from "vitest";
import { cutIntoPassages } from "../files/passages.ts";
import { bestPassage, type PassageRequest, quotesOf } from "./passages.ts";

const HANDBOOK = `Welcome to the company. Trips under four hours go by train.
Hotels cost at most 180 CHF a night! Who is ill tells the team before nine?`;

describe("G20 passages", () => {
  it.each([
    ["How much may a hotel cost?", "Hotels cost at most 180 CHF a night!"],
    ["do I take the train", "Trips under four hours go by train."],
    ["I am ill", "Who is ill tells the team before nine?"],
  ])("G20 %s is answered by the sentence that fits best", async (question, passage) => {
    expect((await bestPassage(cutIntoPassages(HANDBOOK), question))?.passage).toBe(passage);
  });

  it("G20 without a fitting word it is the first sentence, without text there is none", async () => {
    expect(await bestPassage(cutIntoPassages(HANDBOOK), "xyzzy")).toEqual({
      passage: "Welcome to the company.",
      score: 0,
    });
    expect(await bestPassage(cutIntoPassages(" \n "), "anything")).toBeUndefined();
    expect((await bestPassage(["😀".repeat(400)], "x"))?.passage).toBe("😀".repeat(300));
  });

  it("G20 of a question of megabytes both ends are looked for, where people ask", async () => {
    const passages = cutIntoPassages(HANDBOOK);
    const filler = "lorem ipsum ".repeat(300_000);
    const hotel = "Hotels cost at most 180 CHF a night!";
    expect((await bestPassage(passages, `hotel cost? ${filler}`))?.passage).toBe(hotel);
    expect((await bestPassage(passages, `${filler} hotel cost?`))?.passage).toBe(hotel);
    expect((await bestPassage(passages, `${filler} hotel cost? ${filler}`))?.score).toBe(0);
  });

  it("G20 G34 of several files the best passage of each is quoted, word for word", async () => {
    const texts: Record<string, string> = { file_a: "Nothing here.", file_b: HANDBOOK, file_c: "" };
    const request = { question: "hotel cost", file_ids: Object.keys(texts) } as unknown as PassageRequest & {
      file_ids: string[];
    };
    const quotes = await quotesOf(async ({ file_id, question }) => {
      const found = await bestPassage(cutIntoPassages(texts[file_id]!), question);
      return found && { filename: `${file_id}.md`, ...found };
    }, request);
    expect(quotes.map(({ filename, passage }) => [filename, passage])).toEqual([
      ["file_a.md", "Nothing here."],
      ["file_b.md", "Hotels cost at most 180 CHF a night!"],
    ]);
  });
});
