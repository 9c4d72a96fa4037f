import { describe, expect, it } from "vitest";
import { pickWorse, renderLimitFigures, toStatus } from "./rules.ts";

describe("the status of usage [3.6]", () => {
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
  ] as const)("is for %d micro-units of the limit %s: %s [3.6]", (spent, limit, status) => {
    expect(toStatus(spent, limit)).toBe(status);
  });

  it("is decided before rounding [G33]", () => {
    expect(renderLimitFigures(79_999_999, 100)).toEqual({
      monthly_limit: 100,
      current_usage: 80,
      utilization_percentage: 80,
      remaining_budget: 20,
      status: "ok",
    });
  });

  it("has a budget of 0 over the limit, and a limit of 0 is used up [G33]", () => {
    expect(renderLimitFigures(250_000_000, 100)).toMatchObject({
      remaining_budget: 0,
      utilization_percentage: 250,
    });
    expect(renderLimitFigures(0, 0)).toMatchObject({ remaining_budget: 0, utilization_percentage: 100 });
  });

  it("has null figures without a limit [G33]", () => {
    expect(renderLimitFigures(7_126_000, null)).toEqual({
      monthly_limit: null,
      current_usage: 7.13,
      utilization_percentage: null,
      remaining_budget: null,
      status: "no_limit",
    });
  });

  it("is overall the worst of its parts [G33]", () => {
    expect(pickWorse("no_limit", "ok")).toBe("ok");
    expect(pickWorse("warning", "ok")).toBe("warning");
    expect(pickWorse("warning", "exceeded")).toBe("exceeded");
    expect(pickWorse("no_limit", "no_limit")).toBe("no_limit");
  });
});
