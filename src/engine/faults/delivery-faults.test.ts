import { describe, expect, it } from "vitest";
import { createFaults } from "../../../test/support/fault-setup.ts";
import { WIRE_EFFECTS } from "./effects/index.ts";
import type { RuleDocument } from "./rule-document.ts";

const ATTEMPT = { event: "thread.deleted", webhook_id: "wh_1" };

/** Evaluates rules with these effects in this order for one attempt. */
function evaluateEffects(...effects: NonNullable<RuleDocument["effect"]>[]) {
  const faults = createFaults(1);
  for (const effect of effects.toReversed()) faults.add({ match: { event: "*" }, effect });
  return faults.evaluateDelivery(ATTEMPT);
}

describe("effects of rules on a delivery attempt [interfaces 6]", () => {
  it.each(["reset", "empty", "truncate", "garbage"] as const)(
    "wire %s gives response_code 0, whatever status the rule has [interfaces 6]",
    (wire) => {
      expect(evaluateEffects({ wire, status: 500 })).toMatchObject({
        delay_ms: 0,
        answer: { response_code: 0, error: expect.stringContaining("by a fault rule") },
      });
    },
  );

  it("a drip takes two seconds and delivers the whole answer [interfaces 6]", () => {
    expect(evaluateEffects({ wire: "drip" })).toMatchObject({ delay_ms: 2000, answer: undefined });
    expect(evaluateEffects({ wire: "drip", over: "5s", status: 201 })).toMatchObject({
      delay_ms: 5000,
      answer: { response_code: 201 },
    });
    expect(evaluateEffects({ wire: "drip", delay: "3s" })).toMatchObject({ delay_ms: 3000 });
  });

  it("a hanging receiver answers nothing before the timeout [interfaces 6]", () => {
    expect(evaluateEffects({ wire: "hang", status: 200 })).toMatchObject({
      delay_ms: Number.POSITIVE_INFINITY,
    });
  });

  it("the first rule that answers decides, and the first that delays sets the delay [interfaces 6]", () => {
    expect(evaluateEffects({ delay: "1s" }, { delay: "9s" }, { status: 503 }, { status: 500 })).toMatchObject(
      {
        decision: "fault:inline/fault_2",
        delay_ms: 1000,
        answer: { response_code: 503 },
      },
    );
  });

  it("every wire fault does something to an attempt [interfaces 6]", () => {
    const idle = WIRE_EFFECTS.filter(({ name }) => {
      const fault = evaluateEffects({ wire: name });
      return fault === undefined || (fault.answer === undefined && fault.delay_ms === 0);
    });
    expect(idle).toEqual([]);
  });
});
