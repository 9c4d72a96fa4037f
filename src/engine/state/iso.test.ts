import fc from "fast-check";
import { expect, test } from "vitest";
import { isoOf } from "./iso.ts";

const LAST = 8.64e15;
const HOUR = 3_600_000;

const anywhere = fc.integer({ min: -LAST, max: LAST });
const nearby = fc.integer({ min: -30 * HOUR, max: 30 * HOUR });
const oddly = fc.double({ min: -LAST, max: LAST, noNaN: true });

test("an instant is written as ECMAScript writes it, whatever was written before", () => {
  fc.assert(
    fc.property(anywhere, fc.array(fc.oneof(nearby, anywhere, oddly), { minLength: 1 }), (start, others) => {
      for (const other of others) {
        // Mostly of the same day, or the next.
        const instant = Math.abs(other) <= 30 * HOUR ? start + other : other;
        if (Math.abs(instant) <= LAST) expect(isoOf(instant)).toBe(new Date(instant).toISOString());
      }
    }),
  );
});

test("what is no instant is refused, also beside one that is", () => {
  expect(isoOf(LAST)).toBe("+275760-09-13T00:00:00.000Z");
  for (const none of [LAST + 1, -LAST - 1, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => isoOf(none)).toThrow(RangeError);
});
