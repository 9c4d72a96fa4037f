import { describe, expect, it } from "vitest";
import { cutIntoPassages, MAX_TEXT_LENGTH, textOfJson } from "./passages.ts";

describe("passages of a text", () => {
  it("G20 are its sentences and lines, without markup", () => {
    expect(
      cutIntoPassages("# Pumps\r\n\r\nIt costs 3.50 francs. Is it new?\n- one\n2) two\n> said\n---\n"),
    ).toEqual(["Pumps", "It costs 3.50 francs.", "Is it new?", "one", "two", "said"]);
  });

  it("G20 are cut between words where a sentence has no end, and never within a character", () => {
    const passages = cutIntoPassages("word ".repeat(500));
    expect(passages.every((passage) => passage.length <= 300)).toBe(true);
    expect(passages.join(" ").split(/\s+/).filter(Boolean)).toHaveLength(500);
    const [first] = cutIntoPassages(`${"𝒜".repeat(400)}a word`);
    expect(first).toMatch(/^(?:𝒜)+$/u);
  });

  it("G20 end where a text is longer than is kept", () => {
    const passages = cutIntoPassages("sentence. ".repeat(MAX_TEXT_LENGTH));
    expect(passages.join(" ").length).toBeLessThanOrEqual(MAX_TEXT_LENGTH + 10);
    expect(cutIntoPassages(" \n\u0000 .!? \n")).toEqual([]);
  });

  it.each([
    [
      "Japanese",
      "ポンプは夜に動きます。バルブは六時に開きます。",
      ["ポンプは夜に動きます。", "バルブは六時に開きます。"],
    ],
    ["Chinese", "水泵在夜间运行。阀门六点打开！", ["水泵在夜间运行。", "阀门六点打开！"]],
  ])("G34 of %s, which puts no spaces, are its sentences", (_, text, passages) => {
    expect(cutIntoPassages(text)).toEqual(passages);
  });

  it("G34 of Thai without end are cut between words", () => {
    const word = "ประเทศไทย";
    const passages = cutIntoPassages(word.repeat(100));
    expect(passages.length).toBeGreaterThan(1);
    expect(passages.every((passage) => passage.length <= 300 && passage.startsWith("ประเทศ"))).toBe(true);
    expect(passages.join("")).toBe(word.repeat(100));
  });

  it("G20 of JSON name what leads to each value; of what is cut off the text stays", () => {
    expect(textOfJson('{"a": {"b": [1, {"c": "two"}]}, "d": null, "e": true}')).toBe(
      "a b: 1\na b c: two\ne: true",
    );
    expect(textOfJson("{broken", false)).toBe("{broken");
    expect(textOfJson("{broken")).toBeUndefined();
    expect(textOfJson("5")).toBe("5");
    const deep = `${"[".repeat(5000)}1${"]".repeat(5000)}`;
    expect(textOfJson(`{"a": ${deep}, "b": 2}`)).toBe("b: 2");
  });
});
