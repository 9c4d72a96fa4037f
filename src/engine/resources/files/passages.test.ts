import { describe, expect, it } from "vitest";
import { findPassage, MAX_TEXT_LENGTH, splitIntoPassages, splitRows } from "./passages.ts";

describe("the passages of a text", () => {
  it("are its sentences and lines, without marks of Markdown [G20]", () => {
    expect(
      splitIntoPassages("# Pumps\r\n\r\nIt costs 3.50 francs. Is it new?\n- one\n2) two\n> said\n---\n"),
    ).toEqual(["Pumps", "It costs 3.50 francs.", "Is it new?", "one", "two", "said"]);
  });

  it("are cut between words in a very long sentence, and never within a character [G20]", () => {
    const passages = splitIntoPassages("word ".repeat(500));
    expect(passages.every((passage) => passage.length <= 300)).toBe(true);
    expect(passages.join(" ").split(/\s+/).filter(Boolean)).toHaveLength(500);
    const [first] = splitIntoPassages(`${"𝒜".repeat(400)}a word`);
    expect(first).toMatch(/^(?:𝒜)+$/u);
  });

  it("end at the longest stored text [G20]", () => {
    const passages = splitIntoPassages("sentence. ".repeat(MAX_TEXT_LENGTH));
    expect(passages.join(" ").length).toBeLessThanOrEqual(MAX_TEXT_LENGTH + 10);
    expect(splitIntoPassages(" \n\u0000 .!? \n")).toEqual([]);
  });

  it.each([
    [
      "Japanese",
      "ポンプは夜に動きます。バルブは六時に開きます。",
      ["ポンプは夜に動きます。", "バルブは六時に開きます。"],
    ],
    ["Chinese", "水泵在夜间运行。阀门六点打开！", ["水泵在夜间运行。", "阀门六点打开！"]],
  ])("are the sentences of %s, which has no spaces [G34]", (_, text, passages) => {
    expect(splitIntoPassages(text)).toEqual(passages);
  });

  it("are cut between words in a long Thai sentence [G34]", () => {
    const word = "ประเทศไทย";
    const passages = splitIntoPassages(word.repeat(100));
    expect(passages.length).toBeGreaterThan(1);
    expect(passages.every((passage) => passage.length <= 300 && passage.startsWith("ประเทศ"))).toBe(true);
    expect(passages.join("")).toBe(word.repeat(100));
  });
});

const HANDBOOK = `Welcome to the company. Trips under four hours go by train.
Hotels cost at most 180 CHF a night! Who is ill tells the team before nine?`;

describe("the search for a passage", () => {
  it.each([
    ["How much may a hotel cost?", "Hotels cost at most 180 CHF a night!"],
    ["do I take the train", "Trips under four hours go by train."],
    ["I am ill", "Who is ill tells the team before nine?"],
  ])("finds the sentence that fits the question %s best [G20]", async (question, passage) => {
    expect((await findPassage(splitIntoPassages(HANDBOOK), question))?.passage).toBe(passage);
  });

  it("gives the first sentence if no word matches, and nothing for an empty text [G20]", async () => {
    expect(await findPassage(splitIntoPassages(HANDBOOK), "xyzzy")).toEqual({
      passage: "Welcome to the company.",
      score: 0,
    });
    expect(await findPassage(splitIntoPassages(" \n "), "anything")).toBeUndefined();
    expect((await findPassage(["😀".repeat(400)], "x"))?.passage).toBe("😀".repeat(300));
  });

  it("uses the beginning and the end of a question of megabytes [G20]", async () => {
    const passages = splitIntoPassages(HANDBOOK);
    const filler = "lorem ipsum ".repeat(300_000);
    const hotel = "Hotels cost at most 180 CHF a night!";
    expect((await findPassage(passages, `hotel cost? ${filler}`))?.passage).toBe(hotel);
    expect((await findPassage(passages, `${filler} hotel cost?`))?.passage).toBe(hotel);
    expect((await findPassage(passages, `${filler} hotel cost? ${filler}`))?.score).toBe(0);
  });

  it("prefers one rare word to several common ones [G20]", async () => {
    const filler = Array.from(
      { length: 40 },
      (_, n) => `The pump of the plant runs on day ${n} of the year.`,
    );
    const question = "What is the price of the gasket of the pump of the plant?";
    const found = await findPassage([...filler, "A gasket costs 4 francs."], question);
    expect(found?.passage).toBe("A gasket costs 4 francs.");
  });

  it.each([
    ["an accent of its own", "cafe\u0301", "The caf\u00e9 opens at nine."],
    ["another sigma", "ΟΔΟΣΤΡΩΜΑ ΟΔΟΣ", "Η οδοσ είναι κλειστή."],
  ])("finds a word with %s [G20]", async (_, question, passage) => {
    expect((await findPassage(["Welcome.", passage], question))?.passage).toBe(passage);
  });

  it("gives the whole row of a table [G34]", async () => {
    const rows = splitRows(["part,note,price", "pump,St. Gallen. Second floor.,99.00", "valve,none,12.50"]);
    expect((await findPassage(rows, "Where is the pump?"))?.passage).toBe(
      "pump,St. Gallen. Second floor.,99.00",
    );
  });

  it.each([
    ["水泵在夜间运行。阀门六点打开。", "阀门几点打开？", "阀门六点打开。"],
    ["ポンプは夜に動きます。バルブは六時に開きます。", "バルブはいつ開きますか", "バルブは六時に開きます。"],
  ])("finds a sentence of %s, which has no spaces [G34]", async (text, question, passage) => {
    expect((await findPassage(splitIntoPassages(text), question))?.passage).toBe(passage);
  });
});
