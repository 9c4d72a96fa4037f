import { describe, expect, it } from "vitest";
import { nearest } from "./nearest.ts";

const CODES = ["RATE_LIMIT_EXCEEDED", "RESOURCE_NOT_FOUND", "INVALID_INPUT", "pass", "reset"];

describe("nearest", () => {
  it.each([
    ["RATE_LIMIT_EXCEDED", "RATE_LIMIT_EXCEEDED"],
    ["rate_limit_exceeded", "RATE_LIMIT_EXCEEDED"],
    ["RESOURCE_NOTFOUND", "RESOURCE_NOT_FOUND"],
    ["rest", "reset"],
    ["pas", "pass"],
  ])("interfaces 6 suggests for %s the word %s", (word, expected) => {
    expect(nearest(word, CODES)).toBe(expected);
  });

  it("interfaces 6 suggests nothing for a word that is near to none", () => {
    expect(nearest("banana", CODES)).toBeUndefined();
    expect(nearest("x", ["a", "b"])).toBeUndefined();
    expect(nearest("", CODES)).toBeUndefined();
    expect(nearest("reset".repeat(1_000_000), CODES)).toBeUndefined();
    expect(nearest("reset", [])).toBeUndefined();
  });

  it("interfaces 6 prefers the nearer, and of equals the first", () => {
    expect(nearest("tine", ["time", "line", "tine "])).toBe("time");
    expect(nearest("files.regster", ["files.upload", "files.register"])).toBe("files.register");
  });
});
