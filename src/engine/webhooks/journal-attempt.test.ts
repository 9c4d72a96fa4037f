import { describe, expect, it } from "vitest";
import { toUtf8 } from "../bytes.ts";
import type { HistoryEntry } from "../sandbox/history-entry.ts";
import type { WorldReader } from "../state/transaction.ts";
import type { AttemptOutcome, CompletedAttempt } from "./attempt.ts";
import { findAttemptEntry, toJournalEntry } from "./journal-attempt.ts";

const world = { toEpoch: (instant: number) => 1_000_000 + instant } as WorldReader;

function toAttemptEntry(outcome: Partial<AttemptOutcome>, response_body = toUtf8("busy")) {
  const url = "https://hooks.test:8443/in/box?a=1&b=2";
  return toJournalEntry(
    {
      queued: {
        ...{ id: "del_1/retry", kind: "retry", webhook_id: "wh_1", delivery_id: "del_1", position: 3 },
        cancelled: false,
      },
      // The current URL of the webhook, which differs from that of this attempt.
      plan: {
        number: 2,
        url: "https://moved.test/",
        secret: "whsec",
        event: "user.created",
        body: '{"é":1}',
      },
      outcome: { at: 77, url, response_code: 503, duration_ms: 40, ...outcome },
      exchange: {
        request_headers: { "X-Service-Event": "user.created", "User-Agent": "Acme" },
        response_headers: { "retry-after": "5", "set-cookie": ["a=1", "b=2"] },
        response_body,
      },
    },
    { world, nextStep: "the next retry is due soon" },
  );
}

describe("an attempt in the journal", () => {
  it("contains the request, the answer and the next step [interfaces 14]", () => {
    const body = toUtf8('{"é":1}');
    expect(toAttemptEntry({})).toStrictEqual({
      ...{
        id: "del_1.2",
        request_number: undefined,
        at: 1_000_077,
        committed_at: undefined,
        operation: null,
        method: "POST",
      },
      ...{ path: "/in/box", query: "a=1&b=2", status: 503, code: null, duration_ms: 40, principal: null },
      ...{ api_key: null, decision: "failed", fault: undefined, warnings: [] },
      reasons: [
        "the receiver answered 503; a delivery succeeds with a status from 200 to 299",
        "the next retry is due soon",
      ],
      request_headers: ["X-Service-Event", "user.created", "User-Agent", "Acme"],
      ...{ request_body: body, request_bytes: body.length },
      response_headers: ["retry-after", "5", "set-cookie", "a=1", "set-cookie", "b=2"],
      ...{ response_body: toUtf8("busy"), streamed: undefined },
      delivery: {
        ...{ event: "user.created", webhook_id: "wh_1", delivery_id: "del_1", attempt: 2, kind: "retry" },
        ...{ origin: "https://hooks.test:8443", error: undefined },
      },
    });
  });

  it("has the number of the newest entry in the history, unless that entry is about something else [interfaces 10]", () => {
    const attempt = { queued: { delivery_id: "del_1" } } as CompletedAttempt;
    const newest = { kind: "delivery", subject: "del_1" } as HistoryEntry;
    expect(findAttemptEntry(attempt, newest)).toBe(newest);
    // The outcome could not be recorded, because another change came first.
    expect(findAttemptEntry(attempt, { ...newest, subject: "del_2" } as HistoryEntry)).toBeUndefined();
    expect(findAttemptEntry(attempt, { ...newest, kind: "control" } as HistoryEntry)).toBeUndefined();
    expect(findAttemptEntry(attempt, undefined)).toBeUndefined();
  });

  it("has no reasons if the receiver accepted it; a fault is the decision [interfaces 14]", () => {
    expect(toAttemptEntry({ response_code: 204 })).toMatchObject({ decision: "delivered", reasons: [] });
    expect(toAttemptEntry({ response_code: 200, fault: "fault:inline/f" })).toMatchObject({
      ...{ decision: "fault:inline/f", reasons: [] },
    });
  });

  it("contains the reason of a failure [interfaces 14]", () => {
    const explainOutcome = (outcome: Partial<AttemptOutcome>) => toAttemptEntry(outcome).reasons[0];
    expect(explainOutcome({ response_code: 0, error: "connection refused" })).toBe(
      "there was no answer: connection refused",
    );
    expect(explainOutcome({ response_code: 0 })).toBe("there was no answer: the connection ended");
    for (const code of [300, 399]) {
      expect(explainOutcome({ response_code: code })).toBe(
        `the receiver answered ${code}: redirects are not followed`,
      );
    }
    for (const code of [199, 304, 400, 410])
      expect(explainOutcome({ response_code: code })).toContain("from 200 to 299");
    expect(toAttemptEntry({ response_code: 0, error: "connection refused" }).delivery).toMatchObject({
      error: "connection refused",
    });
  });

  it("keeps the first 4,096 bytes of the receiver's answer [interfaces 14]", () => {
    const long = toUtf8("0123456789".repeat(500));
    expect(toAttemptEntry({}, long).response_body).toEqual(long.slice(0, 4096));
  });
});
