import { describe, expect, it } from "vitest";
import type { FaultRule, RuleDefinition } from "../../../../types/control-api.ts";
import { toDraft, toRule } from "./rule-draft.ts";
import { describeRule } from "./rules.ts";

function armRule(effect: RuleDefinition["effect"]): FaultRule {
  return { id: "fault_1", match: { operation: "models.list" }, effect, hits: 0, spent: false, lease: null };
}

describe("the form for an armed rule", () => {
  it.each<RuleDefinition["effect"]>([
    { status: 418 },
    { error: "SPENDING_LIMIT_EXCEEDED!" },
    { status: 418, delay: "1s" },
  ])("is not offered for %j, a response that it would replace by 503 [interfaces 3]", (effect) => {
    expect(toDraft(armRule(effect))).toBeUndefined();
  });

  it.each<RuleDefinition["effect"]>([
    { status: 503 },
    { error: "RATE_LIMIT_EXCEEDED" },
    { wire: "reset" },
    { delay: "1s" },
    { hold: {} },
  ])("keeps the effect %j [interfaces 3]", (effect) => {
    expect(toRule(toDraft(armRule(effect))!).effect).toEqual(effect);
  });
});

it.each<[NonNullable<RuleDefinition["sequence"]>, string]>([
  [
    [503, "RATE_LIMIT_EXCEEDED", "pass"],
    "The first 3 calls of models.list: 503, then RATE_LIMIT_EXCEEDED, then the real response",
  ],
  [[503], "The first call of models.list: 503"],
])("the sequence %j is described as one of the first calls only [interfaces 6]", (sequence, description) => {
  expect(describeRule({ id: "a", match: { operation: "models.list" }, sequence })).toBe(description);
});

it.each([
  [0.0004, "0.04% of calls: 503"],
  [0.125, "12.5% of calls: 503"],
  [1, "100% of calls: 503"],
])("the probability %d is described exactly [interfaces 6]", (probability, description) => {
  expect(describeRule({ id: "a", probability, effect: { status: 503 } })).toBe(description);
});

it.each<[NonNullable<RuleDefinition["effect"]>["delay"], string]>([
  [1500, "All calls: delayed by 1500 ms"],
  ["1.5s", "All calls: delayed by 1.5s"],
  [{ p50: 80, p99: "1000" }, "All calls: delayed by 80 ms (p99 1000 ms)"],
])("the delay %j is described with its unit [interfaces 6]", (delay, description) => {
  expect(describeRule({ id: "a", effect: { delay: delay! } })).toBe(description);
});

it.each<[RuleDefinition["match"], string]>([
  [{ method: "POST" }, "The first POST call: 503"],
  [{ method: "POST", path: "/webhooks" }, "The first call of POST /webhooks: 503"],
  [{ operation: "*", method: "POST" }, "The first POST call: 503"],
])("the match %j is described in words [interfaces 6]", (match, description) => {
  expect(describeRule({ id: "a", match, times: 1, effect: { status: 503 } })).toBe(description);
});
