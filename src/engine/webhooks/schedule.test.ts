import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { classify, DEFAULT_RETRY_SCHEDULE, evaluateAttempt } from "./schedule.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Made {
  startedAt: number;
  endedAt: number;
  responseCode: number;
}

/** Runs a delivery to its end with `evaluateAttempt` only. A bound stops a schedule that never ends. */
function runDelivery(firstAt: number, answers: readonly { responseCode: number; took: number }[]) {
  const attempts: Made[] = [];
  let due: number | null = firstAt;
  let status = "failed";
  while (due !== null && attempts.length < 20) {
    const answer = answers[attempts.length % answers.length]!;
    const made = { startedAt: due, endedAt: due + answer.took, responseCode: answer.responseCode };
    attempts.push(made);
    const schedule = DEFAULT_RETRY_SCHEDULE;
    const settled = evaluateAttempt({ ...made, schedule, scheduledAttempts: attempts.length });
    status = settled.status;
    due = settled.nextRetry;
  }
  return { attempts, status };
}

// Times before and after daylight-saving changes in the two zones, at which arithmetic in local time would fail.
const instants = fc.oneof(
  fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) }),
  fc.integer({ min: 0, max: 8 * HOUR }).map((ms) => Date.UTC(2025, 2, 9, 2) + ms),
  fc.integer({ min: 0, max: 8 * HOUR }).map((ms) => Date.UTC(2025, 8, 27, 10) + ms),
);
const responseCodes = fc.oneof(
  fc.constantFrom(0, 200, 204, 299, 301, 404, 410, 429, 500, 503),
  fc.integer({ min: 100, max: 599 }),
);
const answers = fc.array(
  fc.record({ responseCode: responseCodes, took: fc.integer({ min: 0, max: 30_000 }) }),
  { minLength: 1, maxLength: 8 },
);

describe.each([
  ["America/New_York", 300],
  ["Pacific/Auckland", -780],
])("in the time zone %s", (zone, januaryOffset) => {
  let before: string | undefined;
  beforeEach(() => {
    before = process.env["TZ"];
    process.env["TZ"] = zone;
  });
  afterEach(() => {
    process.env["TZ"] = before;
  });

  it("the time zone of the test is in force [G24]", () => {
    expect(new Date(Date.UTC(2025, 0, 1)).getTimezoneOffset()).toBe(januaryOffset);
  });

  it("attempts that take no time are due at 0, 1m, 6m, 21m, 1h21m and 7h21m [G24, 6.4]", () => {
    fc.assert(
      fc.property(instants, (start) => {
        const { attempts, status } = runDelivery(start, [{ responseCode: 500, took: 0 }]);
        expect(attempts.map((made) => made.startedAt - start)).toEqual([
          0,
          MINUTE,
          6 * MINUTE,
          21 * MINUTE,
          HOUR + 21 * MINUTE,
          7 * HOUR + 21 * MINUTE,
        ]);
        expect(status).toBe("failed");
      }),
    );
  });

  it("never more than six attempts; success and 410 are final; delays count from the end [G24, 6.4, 3.3]", () => {
    fc.assert(
      fc.property(instants, answers, (start, given) => {
        const { attempts, status } = runDelivery(start, given);
        expect(attempts.length).toBeLessThanOrEqual(6);
        const isFinal = (code: number) => code === 410 || (code >= 200 && code < 300);
        const endsAt = attempts.findIndex((made) => isFinal(made.responseCode));
        expect(attempts.length).toBe(endsAt === -1 ? 6 : endsAt + 1);
        const lastCode = attempts.at(-1)!.responseCode;
        expect(status).toBe(lastCode >= 200 && lastCode < 300 ? "success" : "failed");
        for (const [index, made] of attempts.slice(1).entries()) {
          const delay = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR][index]!;
          expect(made.startedAt - attempts[index]!.endedAt).toBe(delay);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("a retry_schedule of any length gives one attempt more than it has delays, and six at most [6.4]", () => {
    const schedules = fc.array(fc.integer({ min: 0, max: 7 * HOUR }), { maxLength: 12 });
    fc.assert(
      fc.property(instants, schedules, (start, schedule) => {
        let scheduledAttempts = 1;
        const failed = { schedule, responseCode: 500 };
        let due = evaluateAttempt({ ...failed, scheduledAttempts, endedAt: start }).nextRetry;
        let elapsed = start;
        while (due !== null && scheduledAttempts < 20) {
          elapsed += schedule[scheduledAttempts - 1]!;
          expect(due).toBe(elapsed);
          scheduledAttempts += 1;
          due = evaluateAttempt({ ...failed, scheduledAttempts, endedAt: due }).nextRetry;
        }
        expect(scheduledAttempts).toBe(Math.min(6, schedule.length + 1));
      }),
    );
  });
});

describe("the outcome of an attempt", () => {
  it("is success for 2xx, disables for 410, and is retried for everything else, redirects and no answer included [3.3]", () => {
    for (const code of [200, 201, 204, 299]) expect(classify(code)).toBe("success");
    expect(classify(410)).toBe("disabled");
    for (const code of [0, 100, 199, 300, 301, 308, 400, 404, 409, 411, 429, 500, 599]) {
      expect(classify(code)).toBe("retry");
    }
  });

  it("disables the webhook for 410 and leaves no retry, even with delays left [6.4]", () => {
    const schedule = DEFAULT_RETRY_SCHEDULE;
    expect(evaluateAttempt({ schedule, scheduledAttempts: 1, endedAt: 5, responseCode: 410 })).toEqual({
      status: "failed",
      disablesWebhook: true,
      nextRetry: null,
    });
  });

  it("follows the documented schedule by default [G24]", () => {
    expect(DEFAULT_RETRY_SCHEDULE).toEqual([MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR]);
  });
});
