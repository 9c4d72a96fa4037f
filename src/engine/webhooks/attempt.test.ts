import { describe, expect, it } from "vitest";
import type { OutboundRequest, OutboundResult } from "../../hosts/node/outbound/outbound-request.ts";
import { EMPTY_BYTES, toUtf8 } from "../bytes.ts";
import type { DeliveryFacts, DeliveryFault } from "../sandbox/fault-types.ts";
import { HeldExchanges } from "../sandbox/held.ts";
import { sendAttempt, toChange } from "./attempt.ts";
import type { QueuedAttempt } from "./queued-attempts.ts";
import { sign } from "./sign.ts";

const queued: QueuedAttempt = {
  ...{ id: "del_1/retry", kind: "retry", webhook_id: "wh_1", delivery_id: "del_1", position: 3 },
  cancelled: false,
};
const plan = {
  number: 2,
  url: "http://a.test/hook",
  secret: "whsec",
  event: "user.created",
  body: '{"é":1}',
};
const { signal } = new AbortController();
const answered: OutboundResult = {
  ...{ response_code: 503, headers: { "retry-after": "5" }, body: Buffer.from("busy"), truncated: false },
  duration_ms: 40,
};

/** Makes the attempt over a network that gives this answer. */
async function runAttempt(answer: OutboundResult, fault?: Partial<DeliveryFault>) {
  const sent: OutboundRequest[] = [];
  const asked: DeliveryFacts[] = [];
  const parts = {
    outbound: {
      async send(request: OutboundRequest) {
        sent.push(request);
        return answer;
      },
    },
    held: new HeldExchanges(),
    settings: { service_name: "Acme", webhook_timeout_seconds: 2 },
    findFault(facts: DeliveryFacts) {
      asked.push(facts);
      return fault && { decision: "fault:inline/f", delay_ms: 0, answer: undefined, ...fault };
    },
  };
  return { sent, asked, ...(await sendAttempt(parts, { queued, plan, at: 0 }, signal)) };
}

const request_headers = {
  "Content-Type": "application/json",
  "X-Service-Event": "user.created",
  "X-Service-Signature": sign("whsec", Buffer.from(plan.body)),
  "X-Service-Delivery": "del_1",
  "User-Agent": "Acme-Webhook/1.0",
};

describe("an attempt to deliver", () => {
  it("sends the signed bytes with a timeout, and returns the answer [6.3, 6.2]", async () => {
    const { sent, asked, answer, exchange } = await runAttempt(answered);
    const body = toUtf8(plan.body);
    expect(sent).toEqual([
      { url: plan.url, method: "POST", headers: request_headers, body, timeoutMs: 2000, signal },
    ]);
    expect(asked).toEqual([{ event: "user.created", webhook_id: "wh_1" }]);
    expect(answer).toStrictEqual({ response_code: 503, duration_ms: 40 });
    expect(exchange).toEqual({
      ...{ request_headers, response_headers: { "retry-after": "5" }, response_body: Buffer.from("busy") },
    });
  });

  it("reports why there was no answer [G24]", async () => {
    const error = { kind: "refused", message: "connection refused" } as const;
    const { answer } = await runAttempt({ ...answered, response_code: 0, error });
    expect(answer).toStrictEqual({ response_code: 0, duration_ms: 40, error: "connection refused" });
  });

  it("is answered by a fault without calling the receiver [interfaces 6]", async () => {
    const { sent, answer, exchange } = await runAttempt(answered, { answer: { response_code: 500 } });
    expect(sent).toEqual([]);
    expect(answer).toStrictEqual({ response_code: 500, duration_ms: 0, fault: "fault:inline/f" });
    expect(exchange).toMatchObject({ request_headers, response_headers: {}, response_body: EMPTY_BYTES });
  });

  it("shortens the time limit by the delay of a fault, and counts the delay in the duration [interfaces 6]", async () => {
    const { sent, answer } = await runAttempt(answered, { delay_ms: 20 });
    expect(sent).toMatchObject([{ timeoutMs: 1980 }]);
    expect(answer).toStrictEqual({ response_code: 503, duration_ms: 60, fault: "fault:inline/f" });
  });

  it("describes the attempt and its outcome in one sentence [interfaces 10]", () => {
    const makeTitle = (kind: QueuedAttempt["kind"], outcome: { response_code: number; error?: string }) =>
      toChange({ ...queued, kind }, plan, { at: 0, url: plan.url, duration_ms: 1, ...outcome }).title;
    const [what, rest] = ["user.created to wh_1", { response_code: 0 }];
    expect(makeTitle("first", { response_code: 204 })).toBe(
      `The first attempt to deliver ${what} was answered 204.`,
    );
    expect(makeTitle("retry", rest)).toBe(`A retry of ${what} got no answer.`);
    expect(makeTitle("redelivery", { ...rest, error: "connection refused" })).toBe(
      `A redelivery of ${what} got no answer: connection refused.`,
    );
  });

  it("says if the receiver accepted the delivery [interfaces 10]", () => {
    const act = (response_code: number) =>
      toChange(queued, plan, { at: 0, url: plan.url, duration_ms: 1, response_code });
    expect(act(201)).toMatchObject({
      ...{ kind: "delivery", subject: "del_1", delivered: true },
      work: { record: queued, key: "_outgoing\u0000del_1/retry" },
    });
    for (const code of [0, 302, 410, 500]) expect(act(code).delivered).toBe(false);
  });
});
