import { describe, expect, it } from "vitest";
import { faultsWithSeed } from "../../../../test/support/fault-stand.ts";
import { WIRE_EFFECTS } from "../effects/index.ts";
import type { RuleDocument } from "./rule-schema.ts";

const ATTEMPT = { event: "thread.deleted", webhook_id: "wh_1", delivery_id: "dlv_1" };

/** What rules with these effects, the first asked first, do to one attempt. */
function faultOf(...effects: NonNullable<RuleDocument["effect"]>[]) {
  const faults = faultsWithSeed(1);
  for (const effect of effects.toReversed()) faults.rules.add({ match: { event: "*" }, effect });
  return faults.delivery(ATTEMPT);
}

describe("interfaces 6 what rules do to an attempt to deliver", () => {
  it.each(["reset", "empty", "truncate", "garbage"] as const)(
    "interfaces 6 wire %s is response_code 0, whatever status stands beside it",
    (wire) => {
      expect(faultOf({ wire, status: 500 })).toMatchObject({
        holds_ms: 0,
        answer: { response_code: 0, error: expect.stringContaining("as a fault asked") },
      });
    },
  );

  it("interfaces 6 a drip takes two seconds and ends whole", () => {
    expect(faultOf({ wire: "drip" })).toMatchObject({ holds_ms: 2000, answer: undefined });
    expect(faultOf({ wire: "drip", over: "5s", status: 201 })).toMatchObject({
      holds_ms: 5000,
      answer: { response_code: 201 },
    });
    expect(faultOf({ wire: "drip", delay: "3s" })).toMatchObject({ holds_ms: 3000 });
  });

  it("interfaces 6 a hanging receiver answers nothing before the timeout", () => {
    expect(faultOf({ wire: "hang", status: 200 })).toMatchObject({ holds_ms: Number.POSITIVE_INFINITY });
  });

  it("interfaces 6 the first that answers decides, the first that delays says for how long", () => {
    expect(faultOf({ delay: "1s" }, { delay: "9s" }, { status: 503 }, { status: 500 })).toMatchObject({
      decision: "fault:inline/fault_2",
      holds_ms: 1000,
      answer: { response_code: 503 },
    });
  });

  it("interfaces 6 every wire fault does something to an attempt", () => {
    const idle = WIRE_EFFECTS.filter(({ name }) => {
      const fault = faultOf({ wire: name });
      return fault === undefined || (fault.answer === undefined && fault.holds_ms === 0);
    });
    expect(idle).toEqual([]);
  });
});
