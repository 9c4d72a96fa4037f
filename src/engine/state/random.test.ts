import { describe, expect, it } from "vitest";
import { drawRequestId, hash32, Random } from "./random.ts";

const drawMany = (count: number, draw: () => unknown) => Array.from({ length: count }, draw);

/** These numbers are a promise: with others, the same fixture and seed would give other bytes than before. */
describe("a seed [interfaces 5]", () => {
  it("gives the same numbers on every machine [interfaces 5]", () => {
    const random = new Random(7, "label", 1);
    expect(drawMany(4, () => random.uint32())).toEqual([469192163, 1134271823, 3219655735, 4273588543]);
    expect(drawMany(2, () => random.float())).toEqual([0.31636387784965336, 0.45110778068192303]);
    expect(drawMany(8, () => random.int(3, 5))).toEqual([4, 4, 4, 5, 4, 4, 3, 5]);
    expect(drawMany(8, () => random.chance(0.5))).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
      false,
      true,
    ]);
    expect(drawMany(6, () => random.pick(["a", "b", "c"]))).toEqual(["a", "a", "c", "c", "c", "a"]);
    expect(drawMany(3, () => random.sample(["a", "b", "c", "d"], 2))).toEqual([
      ["b", "d"],
      ["a", "b"],
      ["c", "d"],
    ]);
    expect([random.characters(10), random.characters(5, "xyz"), random.id("file_")]).toEqual([
      "vmogdkhplk",
      "zyzxy",
      "file_a0iyvwy488u14x25jfde",
    ]);
  });

  it("gives other numbers with another seed, label or boundary between labels [interfaces 5]", () => {
    const first = (seed: number, ...labels: (string | number)[]) => new Random(seed, ...labels).uint32();
    const all = [first(1), first(2), first(1, "a"), first(1, "a", "b"), first(1, "ab"), first(1, "a", 1)];
    expect(new Set(all).size).toBe(all.length);
    expect(first(1, "a", 1)).toBe(first(1, "a", "1"));
  });

  it("treats a number as the same label as its text [interfaces 5]", () => {
    const first = (label: string | number) => new Random(7, label).uint32();
    const numbers = [0, 9, 10, 99, 100, 1_000_000, 999_999_999, 2 ** 31 - 1, 2 ** 31, 2 ** 53, -1, 1.5, 1e21];
    for (const number of numbers) expect([number, first(number)]).toEqual([number, first(String(number))]);
    expect([new Random(2 ** 31).uint32(), new Random(2 ** 31 - 1).uint32()]).toEqual([
      1433513160, 3021912257,
    ]);
  });

  it("draws every number of a range, its ends included [interfaces 5]", () => {
    const random = new Random(1);
    expect(new Set(drawMany(100, () => random.int(1, 3)))).toEqual(new Set([1, 2, 3]));
    expect(new Set(drawMany(100, () => random.pick(["a", "b"])))).toEqual(new Set(["a", "b"]));
    expect([random.chance(0), random.chance(1)]).toEqual([false, true]);
    expect(random.sample(["a", "b"], 5)).toEqual(["a", "b"]);
  });

  it("gives the same hashes and request ids on every machine [interfaces 5]", () => {
    expect([hash32(""), hash32("request"), hash32("request", 7)]).toEqual([
      2872998923, 2805734191, 2250813256,
    ]);
    expect([drawRequestId(0, 0), drawRequestId(0xffffffff, 1), drawRequestId(7, 123_456)]).toEqual([
      "req_11fd02eb1cb62108",
      "req_d7dcf4403a48804c",
      "req_b053fd5e9e6dc738",
    ]);
  });
});
