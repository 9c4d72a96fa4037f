import { describe, expect, it } from "vitest";
import type { DeliveryFault } from "../sandbox/fault-injector.ts";
import { simulateReceiver } from "./attempt.ts";

const fault = (fields: Partial<DeliveryFault>): DeliveryFault => ({
  decision: "fault:inline/test",
  holds_ms: 0,
  answer: undefined,
  reasons: [],
  ...fields,
});
const never = new AbortController().signal;

describe("faults in a receiver's place [interfaces 6]", () => {
  it("a simulated status counts as the receiver's answer [interfaces 6]", async () => {
    expect(await simulateReceiver(fault({ answer: { response_code: 503 } }), 1000, never)).toEqual({
      response_code: 503,
      duration_ms: 0,
    });
  });

  it("a delay alone still calls the receiver, one beyond the timeout is timed out after 0.005 s [interfaces 6]", async () => {
    expect(await simulateReceiver(fault({ holds_ms: 1 }), 1000, never)).toBeUndefined();
    for (const holds_ms of [60_000, Number.POSITIVE_INFINITY]) {
      expect(await simulateReceiver(fault({ holds_ms }), 5, never)).toMatchObject({
        response_code: 0,
        duration_ms: 5,
        error: expect.stringContaining("timed out after 0.005 s"),
      });
    }
  });

  it("calling the attempt off ends the wait [interfaces 6]", async () => {
    const controller = new AbortController();
    const waiting = simulateReceiver(
      fault({ holds_ms: Number.POSITIVE_INFINITY }),
      60_000,
      controller.signal,
    );
    let waits = true;
    void waiting.finally(() => {
      waits = false;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(waits).toBe(true);
    controller.abort();
    expect(await waiting).toMatchObject({ response_code: 0 });
  });
});
