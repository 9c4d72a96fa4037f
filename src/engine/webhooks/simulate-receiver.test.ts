import { describe, expect, it } from "vitest";
import type { DeliveryFault } from "../sandbox/fault-types.ts";
import { simulateReceiver } from "./attempt.ts";

const makeFault = (fields: Partial<DeliveryFault>): DeliveryFault => ({
  decision: "fault:inline/test",
  delay_ms: 0,
  answer: undefined,
  ...fields,
});
const never = new AbortController().signal;

describe("a simulated receiver [interfaces 6]", () => {
  it("answers its status as the receiver's answer [interfaces 6]", async () => {
    expect(await simulateReceiver(makeFault({ answer: { response_code: 503 } }), 1000, never)).toEqual({
      response_code: 503,
      duration_ms: 0,
    });
  });

  it("calls the receiver after a delay, and is timed out after 0.005 s if the delay exceeds the timeout [interfaces 6]", async () => {
    expect(await simulateReceiver(makeFault({ delay_ms: 1 }), 1000, never)).toBeUndefined();
    for (const delay_ms of [60_000, Number.POSITIVE_INFINITY]) {
      expect(await simulateReceiver(makeFault({ delay_ms }), 5, never)).toMatchObject({
        response_code: 0,
        duration_ms: 5,
        error: expect.stringContaining("timed out after 0.005 s"),
      });
    }
  });

  it("stops waiting when the attempt is cancelled [interfaces 6]", async () => {
    const controller = new AbortController();
    const waiting = simulateReceiver(
      makeFault({ delay_ms: Number.POSITIVE_INFINITY }),
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
