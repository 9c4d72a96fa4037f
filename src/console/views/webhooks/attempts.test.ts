import { describe, expect, it } from "vitest";
import { parseDuration } from "../../../engine/contract/duration.ts";
import { type Delivery, formatSpan, listAttemptMarks, toRow } from "./attempts.ts";

const DELAYS = ["1m", "5m", "15m", "1h", "6h"].map((delay) => parseDuration(delay)!);
const BEGUN = Date.parse("2026-03-15T12:00:00.000Z");
const toIso = (minutes: number) => new Date(BEGUN + minutes * 60_000).toISOString();

function makeDelivery(some: Partial<Delivery>): Delivery {
  return {
    delivery_id: "del_1",
    webhook_id: "wh_1",
    organization_id: "org_acme",
    event: "user.created",
    status: "failed",
    response_code: 500,
    attempts: 1,
    scheduled_attempts: 1,
    created_at: toIso(0),
    delivered_at: null,
    last_attempt: toIso(0),
    next_retry: null,
    body: "{}",
    attempt_log: [],
    ...some,
  };
}

const makeAttempt = (
  minutes: number,
  response_code: number,
  kind: "first" | "retry" | "redelivery" = "retry",
) => ({
  at: toIso(minutes),
  kind,
  url: "http://127.0.0.1:9/",
  response_code,
  duration_ms: 3,
});

/** Minutes from the first attempt, and the state. */
const listMarks = (one: Delivery) =>
  listAttemptMarks(toRow(one, DELAYS), DELAYS).map(({ at, state }) => [(at - BEGUN) / 60_000, state]);

describe("listAttemptMarks", () => {
  it("shows made, due and expected attempts [G24]", () => {
    const one = makeDelivery({
      attempts: 2,
      scheduled_attempts: 2,
      next_retry: toIso(6),
      last_attempt: toIso(1),
      attempt_log: [makeAttempt(0, 500, "first"), makeAttempt(1, 0)],
    });
    expect(listMarks(one)).toEqual([
      [0, "failed"],
      [1, "failed"],
      [6, "due"],
      [21, "expected"],
      [81, "expected"],
      [441, "expected"],
    ]);
    expect(toRow(one, DELAYS).state).toBe("retrying");
  });

  it("shows retries that a 410 or an inactive webhook cancelled [G24]", () => {
    const one = makeDelivery({
      attempts: 2,
      scheduled_attempts: 2,
      response_code: 410,
      last_attempt: toIso(1),
      attempt_log: [makeAttempt(0, 500, "first"), makeAttempt(1, 410)],
    });
    expect(listMarks(one).slice(2)).toEqual([
      [6, "cancelled"],
      [21, "cancelled"],
      [81, "cancelled"],
      [441, "cancelled"],
    ]);
    expect(toRow(one, DELAYS).state).toBe("cancelled");
  });

  it("shows a redelivery, and nothing after a success [G24]", () => {
    const one = makeDelivery({
      status: "success",
      attempts: 2,
      response_code: 200,
      delivered_at: toIso(3),
      last_attempt: null,
      attempt_log: [makeAttempt(0, 500, "first"), makeAttempt(3, 200, "redelivery")],
    });
    expect(listMarks(one)).toEqual([
      [0, "failed"],
      [3, "delivered"],
    ]);
  });

  it("shows the six attempts of a fixture's delivery, which were not logged [G24]", () => {
    const one = makeDelivery({ attempts: 6, scheduled_attempts: 6, last_attempt: toIso(441) });
    expect(listMarks(one).map(([minutes]) => minutes)).toEqual([0, 1, 6, 21, 81, 441]);
    expect(toRow(one, DELAYS).state).toBe("given up");
  });

  it("formats spans [interfaces 6]", () => {
    expect([60_000, 4_860_000, 26_460_000, 90_000_000, 30].map(formatSpan)).toEqual([
      "1m",
      "1h 21m",
      "7h 21m",
      "1d 1h",
      "30ms",
    ]);
  });
});
