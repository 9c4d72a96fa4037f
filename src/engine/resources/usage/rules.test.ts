import { describe, expect, it } from "vitest";
import { limitFigures, pickWorse, toStatus } from "./rules.ts";

describe("usage classification [3.6]", () => {
  it.each([
    [0, 100, "ok"],
    [79_999_999, 100, "ok"],
    [80_000_000, 100, "warning"],
    [99_999_999, 100, "warning"],
    [100_000_000, 100, "exceeded"],
    [250_000_000, 100, "exceeded"],
    [80_000, 0.1, "warning"],
    [0, 0, "exceeded"],
    [0, 0.000_000_1, "exceeded"],
    [5_000_000, null, "no_limit"],
  ] as const)("%d micro of %s is %s [3.6]", (spent, limit, status) => {
    expect(toStatus(spent, limit)).toBe(status);
  });

  it("classifies before it rounds [G33]", () => {
    expect(limitFigures(79_999_999, 100)).toEqual({
      monthly_limit: 100,
      current_usage: 80,
      utilization_percentage: 80,
      remaining_budget: 20,
      status: "ok",
    });
  });

  it("over the limit the budget is 0, and a limit of 0 is used up [G33]", () => {
    expect(limitFigures(250_000_000, 100)).toMatchObject({
      remaining_budget: 0,
      utilization_percentage: 250,
    });
    expect(limitFigures(0, 0)).toMatchObject({ remaining_budget: 0, utilization_percentage: 100 });
  });

  it("without a limit the figures are null [G33]", () => {
    expect(limitFigures(7_126_000, null)).toEqual({
      monthly_limit: null,
      current_usage: 7.13,
      utilization_percentage: null,
      remaining_budget: null,
      status: "no_limit",
    });
  });

  it("overall is the worst [G33]", () => {
    expect(pickWorse("no_limit", "ok")).toBe("ok");
    expect(pickWorse("warning", "ok")).toBe("warning");
    expect(pickWorse("warning", "exceeded")).toBe("exceeded");
    expect(pickWorse("no_limit", "no_limit")).toBe("no_limit");
  });
});
