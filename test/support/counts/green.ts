import { describe, expect, it } from "vitest";

describe("a run", () => {
  it("passes", () => {
    expect(1).toBe(1);
  });

  it("passes too", () => {
    expect(2).toBe(2);
  });
});
