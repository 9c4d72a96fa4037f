import { describe, expect, it } from "vitest";
import { isProcessable } from "../files/examine-file.ts";
import { calculateProgress, findNextStepEnd } from "./rules.ts";

const minute = { started_at: 1000, processing_ms: 60_000 };
const getProgressAt = (seconds: number) => calculateProgress(minute, 1000 + seconds * 1000);

describe("the processing of a file", () => {
  it.each([
    [0, 0, "parsing"],
    [8.999, 14, "parsing"],
    [9, 15, "chunking"],
    [23.999, 39, "chunking"],
    [24, 40, "embedding"],
    [27, 45, "embedding"],
    [59.999, 99, "embedding"],
  ])(
    "has after %d of 60 seconds reached %d percent and the step %s [G11]",
    (seconds, progress_percent, current_step) => {
      expect(getProgressAt(seconds)).toEqual({ progress_percent, current_step });
    },
  );

  it("stays below 100 percent until it ends [3.1]", () => {
    expect(getProgressAt(3600).progress_percent).toBe(99);
    expect(calculateProgress({ started_at: 0, processing_ms: 0 }, 0).progress_percent).toBe(99);
  });

  it("has steps that end when the next begins, for any duration [G11]", () => {
    for (const processing_ms of [0, 1, 7, 333, 7000, 60_000, 86_400_001]) {
      const processing = { started_at: -5, processing_ms };
      const ends: number[] = [];
      for (let now = -6; ; now = ends.at(-1)!) {
        const end = findNextStepEnd(processing, now);
        if (end === ends.at(-1)) break;
        ends.push(end);
      }
      expect(ends.at(-1)).toBe(processing_ms - 5);
      for (const end of ends.slice(0, -1)) {
        const before = calculateProgress(processing, end - 1).current_step;
        expect(calculateProgress(processing, end).current_step).not.toBe(before);
      }
    }
  });

  it("accepts documents, and no other types [G11]", () => {
    for (const type of [
      "text/plain",
      "text/markdown; charset=utf-8",
      "application/pdf",
      "application/json",
    ]) {
      expect(isProcessable({ mime_type: type, filename: "a" }), type).toBe(true);
    }
    for (const type of ["application/octet-stream", "image/png", "application/zip", "video/mp4", "text/"]) {
      expect(isProcessable({ mime_type: type, filename: "a" }), type).toBe(false);
    }
  });
});
