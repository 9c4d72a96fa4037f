import { describe, expect, it } from "vitest";
import type { DeliveryStrike } from "../sandbox/fault-gate.ts";
import { endureFault, faultDelay } from "./endure-fault.ts";

const strike = (fields: Partial<DeliveryStrike>): DeliveryStrike => ({
  decision: "fault:inline/test",
  delay_ms: 0,
  status: undefined,
  wire: undefined,
  reasons: [],
  ...fields,
});
const never = new AbortController().signal;

describe("interfaces 6 faults in a receiver's place", () => {
  it("interfaces 6 a status is as if the receiver had answered so", async () => {
    expect(await endureFault(strike({ status: 503 }), 1000, never)).toEqual({
      response_code: 503,
      duration_ms: 0,
    });
  });

  it("interfaces 6 a delay alone still calls the receiver, one beyond the timeout is no answer in time", async () => {
    expect(await endureFault(strike({ delay_ms: 1 }), 1000, never)).toBeUndefined();
    expect(await endureFault(strike({ delay_ms: 60_000 }), 5, never)).toMatchObject({
      response_code: 0,
      duration_ms: 5,
      error: expect.stringContaining("no answer in time"),
    });
    expect(await endureFault(strike({ wire: "hang" }), 5, never)).toMatchObject({ response_code: 0 });
  });

  it.each(["reset", "empty", "truncate", "garbage"] as const)(
    "interfaces 6 wire %s is response_code 0, whatever status stands beside it",
    async (wire) => {
      expect(await endureFault(strike({ wire, status: 200 }), 1000, never)).toMatchObject({
        response_code: 0,
        error: expect.stringContaining("as a fault asked"),
      });
    },
  );

  it("interfaces 6 a drip takes two seconds and ends whole", () => {
    expect(faultDelay(strike({ wire: "drip" }))).toBe(2000);
    expect(faultDelay(strike({ wire: "drip", delay_ms: 3000 }))).toBe(3000);
  });

  it("interfaces 6 calling the attempt off ends the wait", async () => {
    const controller = new AbortController();
    const waiting = endureFault(strike({ wire: "hang" }), 60_000, controller.signal);
    controller.abort();
    expect(await waiting).toMatchObject({ response_code: 0 });
  });
});
