import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDateOrInstant, parseInstant, roundUpToMillisecond } from "./instant.ts";

describe("instants", () => {
  it.each([
    ["2026-03-15T12:00:00.000Z", "2026-03-15T12:00:00.000Z"],
    ["2026-03-15T12:00:00", "2026-03-15T12:00:00.000Z"],
    ["2026-03-15T12:00Z", "2026-03-15T12:00:00.000Z"],
    ["2026-03-15T12:00:00+02:00", "2026-03-15T10:00:00.000Z"],
    ["2026-03-15T12:00:00-0530", "2026-03-15T17:30:00.000Z"],
    ["2026-03-15T12:00:00.123456Z", "2026-03-15T12:00:00.123Z"],
    ["2026-03-15T12:00:00.5Z", "2026-03-15T12:00:00.500Z"],
    ["2026-03-15", "2026-03-15T00:00:00.000Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["0001-01-01", "0001-01-01T00:00:00.000Z"],
    ["0099-12-31T23:59:59Z", "0099-12-31T23:59:59.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ])("reads %s [G28]", (text, expected) => {
    expect(new Date(parseInstant(text)!).toISOString()).toBe(expected);
  });

  it.each([
    "2026-02-30",
    "2025-02-29",
    "2026-13-01",
    "2026-00-10",
    "2026-01-00",
    "2026-04-31T00:00:00Z",
    "0000-01-01",
    "0000-12-31T23:30:00-01:00",
    "10000-01-01",
    "-0001-01-01",
    "2026-03-15T24:00:00Z",
    "2026-03-15T12:60:00Z",
    "2026-03-15T12:00:60Z",
    "2026-03-15T12Z",
    "2026-03-15 12:00:00",
    "2026-3-15",
    "20260315",
    "2026-03-15Z",
    "2026-03-15T12:00:00+25:00",
    "2026-03-15T12:00:00.Z",
    "2026-W11-1",
    "15.03.2026",
    "yesterday",
    "",
    " 2026-03-15",
    "1710504000000",
    "0001-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
    `2026-03-15T12:00:00.${"1".repeat(1_000)}Z`,
    null,
    5,
    undefined,
    {},
  ])("refuses %j [G08, G28]", (text) => {
    expect(parseInstant(text)).toBeUndefined();
    expect(parseDateOrInstant(text)).toBeUndefined();
  });

  it("a date without time means the whole UTC day, a date-time its instant [G28]", () => {
    expect(parseDateOrInstant("2026-03-15")).toEqual({
      from: Date.parse("2026-03-15T00:00:00.000Z"),
      to: Date.parse("2026-03-15T23:59:59.999Z"),
    });
    const instant = Date.parse("2026-03-15T10:00:00.000Z");
    expect(parseDateOrInstant("2026-03-15T12:00:00+02:00")).toEqual({ from: instant, to: instant });
  });

  it.each([
    ["2026-03-15T12:00:00.000001Z", 1],
    ["2026-03-15T12:00:00,0000010+00:00", 1],
    ["2026-03-15T12:00:00.000000Z", 0],
    ["2026-03-15T12:00:00.001Z", 1],
    ["2026-03-15T12:00:00-0001", 60_000],
    ["2026-03-15", -43_200_000],
  ])(
    "a span that starts at %s leaves out what is earlier, if only by a microsecond [G28]",
    (text, expected) => {
      expect(roundUpToMillisecond(text) - Date.parse("2026-03-15T12:00:00Z")).toBe(expected);
    },
  );

  it("reads back every instant of the years 1 to 9999 [G28]", () => {
    const dates = fc.date({
      min: new Date("0001-01-01T00:00:00.000Z"),
      max: new Date("9999-12-31T23:59:59.999Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(dates, (date) => {
        expect(parseInstant(date.toISOString())).toBe(date.getTime());
      }),
    );
  });
});
