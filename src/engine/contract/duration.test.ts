import { describe, expect, it } from "vitest";
import { MAX_DURATION_MS, parseDuration } from "./duration.ts";

describe("durations", () => {
  it.each([
    ["90s", 90_000],
    ["5m", 300_000],
    ["6h", 21_600_000],
    ["2d", 172_800_000],
    ["1500ms", 1_500],
    ["1h21m", 4_860_000],
    ["1.5s", 1_500],
    ["1.001s", 1_001],
    ["PT5M", 300_000],
    ["P1DT2H", 93_600_000],
    ["PT0.25S", 250],
    ["P2W", 1_209_600_000],
    ["1500", 1_500],
    [1_500, 1_500],
    [0, 0],
    ["0s", 0],
    [" 5m ", 300_000],
  ])("reads %j as %i milliseconds [interfaces 4]", (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each([
    "",
    " ",
    "-5m",
    -1,
    "5x",
    "5 m",
    "m",
    "PT",
    "P",
    "P1DT",
    "P1Y",
    "P1M",
    "5M",
    "90S",
    "1m1h",
    "1s1s",
    "0.0001s",
    "1e3",
    "+5m",
    "5m x",
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    "99999999999999999999d",
    "9".repeat(40),
    "9".repeat(5_000),
    MAX_DURATION_MS + 1,
    null,
    undefined,
    {},
    ["5m"],
    true,
  ])("refuses %j [interfaces 4]", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});
