import { describe, expect, it } from "vitest";
import type { HistoryEntry, JournalEntry } from "../../../../types/control-api.ts";
import {
  describeCaller,
  describeNode,
  explainDecision,
  formatDuration,
  formatReason,
  summarizeChanges,
  toShortTitle,
} from "./words.ts";

const summarizeCounts = (changes: HistoryEntry["changes"]) =>
  summarizeChanges({ entry: { changes } } as never);

it.each([
  ["auth", null, "anonymous"],
  ["rule", "usr_dan", "usr_dan"],
  ["fault:inline/r1", "usr_dan", "usr_dan"],
  ["fault:inline/r1", null, ""],
  ["route", null, ""],
  ["upstream", null, ""],
])("the caller of a request that %s decided, as %s, is described as %j", (decision, principal, caller) => {
  expect(describeCaller({ decision, principal })).toBe(caller);
});

describe("summarizeChanges", () => {
  it("counts records in the singular and plural of their collection [interfaces 10]", () => {
    const none = { added: 0, removed: 0, changed: 0 };
    expect(summarizeCounts({ deliveries: { ...none, added: 1 }, webhooks: { ...none, changed: 1 } })).toBe(
      "+1 delivery, ~1 webhook",
    );
    expect(summarizeCounts({ messages: { ...none, removed: 2 }, store_files: { ...none, changed: 1 } })).toBe(
      "−2 messages, ~1 store file",
    );
    expect(
      summarizeCounts({ usage: { ...none, changed: 1 }, dashboards: { added: 1, removed: 1, changed: 0 } }),
    ).toBe("~1 usage, +1 −1 dashboards");
    expect(summarizeCounts({ boxes: { ...none, added: 1 }, movies: { ...none, changed: 1 } })).toBe(
      "+1 box, ~1 movie",
    );
  });
});

describe("formatDuration", () => {
  it("uses the largest fitting unit", () => {
    expect([0, 34, 999, 1000, 12_345, 59_990, 61_000].map(formatDuration)).toEqual([
      "0 ms",
      "34 ms",
      "999 ms",
      "1.0 s",
      "12.3 s",
      "60.0 s",
      "1 min",
    ]);
  });
});

it("a rewind to a call is titled by the call, also with signs that a replacement would read", () => {
  const request = { method: "POST", path: "/v1/threads", query: "price=$&a=$1" };
  const target = { request, entry: { id: "h_1", kind: "request" } };
  const entry = { kind: "restore", subject: "h_1", title: "Rewound to h_1." };
  expect(describeNode({ entry, target } as never)).toBe("Rewound to “POST /v1/threads?price=$&a=$1”.");
});

describe("toShortTitle", () => {
  it.each([
    [
      "The first attempt to deliver user.created to wh_1 was answered 500.",
      "500: user.created, first attempt",
    ],
    ["A retry of user.created to wh_1 got no answer.", "no response: user.created, retry"],
    ["A redelivery of user.created to wh_1 was answered 200.", "200: user.created, redelivery"],
    ["Advanced the clock by 1h.", "Advanced the clock by 1h."],
  ])("starts a delivery attempt with its result: %s", (title, short) => {
    expect(toShortTitle(title)).toBe(short);
  });
});

it.each([
  ["inline/fault_1 triggered: hit 1 of 1", "rule fault_1 triggered: hit 1 of 1"],
  ["slow/r1 delays by 200 ms", "rule r1 of scenario slow delays by 200 ms"],
  ["nearest rule inline/f did not match: method is GET", "nearest rule f did not match: method is GET"],
  ["wire fault reset", "connection reset"],
  ["thread_id a/b was not found", "thread_id a/b was not found"],
])("shows the reason %s in the console’s words", (reason, shown) => {
  expect(formatReason(reason)).toBe(shown);
});

describe("explainDecision", () => {
  const explain = (entry: Partial<JournalEntry>) =>
    explainDecision({
      operation: "models.list",
      principal: "usr_dan",
      status: 200,
      decision: "ok",
      reasons: [],
      ...entry,
    } as JournalEntry);

  const makeFault = (by: string, replaced: "nothing" | "response" | "connection", delay_ms = 0) => ({
    by,
    replaced,
    delay_ms,
  });

  it.each<[Partial<JournalEntry>, string]>([
    [{}, "models.list succeeded for usr_dan."],
    [
      {
        decision: "access",
        status: 403,
        reasons: ["usr_dan is not allowed to do this: needs the role owner or admin in org_acme"],
      },
      "usr_dan is not allowed to do this: needs the role owner or admin in org_acme",
    ],
    [
      { decision: "access", status: 403, reasons: ["there is no organization org_x"] },
      "usr_dan is not allowed to do this: there is no organization org_x",
    ],
    [{ decision: "access", status: 404 }, "The object does not exist, or usr_dan is not allowed to see it."],
    [
      { decision: "access", status: 404, reasons: ["thread_id x was not found: it does not exist"] },
      "thread_id x was not found: it does not exist",
    ],
    [
      { decision: "fault:inline/r1", status: 503, fault: makeFault("inline/r1", "response"), history: null },
      "A fault replaced the response with 503 (rule r1). No change was recorded.",
    ],
    [
      { decision: "fault:outage/r1", status: 0, fault: makeFault("outage/r1", "connection"), history: "h_1" },
      "A fault broke the connection; the client got no response (rule r1 of scenario outage). models.list ran first, and its change stays.",
    ],
    [
      {
        decision: "fault:inline/r1",
        status: 429,
        fault: makeFault("inline/r1", "response", 30),
        history: null,
      },
      "A fault replaced the response with 429 (rule r1). No change was recorded. The fault delayed the response by 30 ms.",
    ],
    [
      { decision: "fault:slow/r1", fault: makeFault("slow/r1", "nothing", 700) },
      "models.list succeeded for usr_dan. A fault delayed the response by 700 ms and changed nothing else (rule r1 of scenario slow).",
    ],
    [
      { decision: "auth", status: 401, fault: makeFault("header/delay", "nothing", 40) },
      "The request has no valid credentials. A fault delayed the response by 40 ms and changed nothing else (the request’s own header).",
    ],
    [
      { decision: "validation", status: 422, code: "VALIDATION_FAILED" },
      "The request does not match the operation’s schema.",
    ],
    [{ decision: "validation", status: 400, code: "INVALID_JSON" }, "The request’s body is not valid JSON."],
    [
      { decision: "internal", status: 500, reasons: ["notes.list threw Error: no"], operation: "notes.list" },
      "Your own operation notes.list failed. Correct its declaration.",
    ],
    [{ decision: "internal", status: 500 }, "Understudy failed. This is a bug in Understudy."],
  ])("describes the step that decided the response: %o", (entry, sentence) => {
    expect(explain(entry)).toBe(sentence);
  });
});
