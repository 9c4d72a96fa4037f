import type { Outbound } from "../../hosts/node/outbound/outbound.ts";
import type { DeliveryFacts, DeliveryFault } from "../sandbox/fault-gate.ts";
import type { Act } from "../sandbox/history-entry.ts";
import { type Outgoing, outgoing } from "./outgoing.ts";
import { classify } from "./schedule.ts";
import { deliveryHeaders, sign } from "./sign.ts";
import { simulateReceiver } from "./simulate-receiver.ts";

/** What an attempt sends, and where. */
export interface AttemptPlan {
  /** Which attempt of its delivery it is, from 1. */
  number: number;
  url: string;
  secret: string;
  event: string;
  body: string;
}

/** What went over the wire, or would have, where a fault stood in for the receiver. */
export interface AttemptExchange {
  request_headers: Readonly<Record<string, string>>;
  response_headers: Readonly<Record<string, string | string[]>>;
  response_body: Buffer;
}

/** An attempt that was made, for the journal (interfaces 14). */
export interface MadeAttempt {
  row: Outgoing;
  plan: AttemptPlan;
  outcome: AttemptOutcome;
  exchange: AttemptExchange;
}

export interface AttemptOutcome {
  /** When it began, relative to the sandbox's origin. */
  at: number;
  url: string;
  /** 0: no answer in time, or none at all (G24). */
  response_code: number;
  /** On the wall clock. */
  duration_ms: number;
  error?: string;
  /** The fault that had a hand in it, as in `fault:inline/rule-1`. */
  fault?: string;
}

/** What it takes to make an attempt. */
export interface AttemptParts {
  outbound: Pick<Outbound, "send">;
  settings: () => { service_name: string; webhook_timeout_seconds: number };
  fault: (facts: DeliveryFacts) => DeliveryFault | undefined;
}

/** Sends one attempt, or lets a fault stand in for its receiver. A receiver's failure is an outcome, no error. */
export async function makeAttempt(
  { outbound, settings, fault: faultOf }: AttemptParts,
  { row, plan }: Pick<MadeAttempt, "row" | "plan">,
  signal: AbortSignal,
): Promise<{ answer: Omit<AttemptOutcome, "at" | "url">; exchange: AttemptExchange }> {
  const { service_name, webhook_timeout_seconds } = settings();
  const timeoutMs = webhook_timeout_seconds * 1000;
  const { webhook_id, delivery_id } = row;
  const injected = faultOf({ event: plan.event, webhook_id, delivery_id });
  const endured = injected && (await simulateReceiver(injected, timeoutMs, signal));
  const fault = injected === undefined ? {} : { fault: injected.decision };
  const body = Buffer.from(plan.body);
  const request_headers = deliveryHeaders({
    event: plan.event,
    deliveryId: delivery_id,
    signature: sign(plan.secret, body),
    serviceName: service_name,
  });
  if (endured !== undefined)
    return { answer: { ...endured, ...fault }, exchange: { request_headers, ...NOTHING_ANSWERED } };
  const delay = injected?.holds_ms ?? 0;
  const answer = await outbound.send({
    url: plan.url,
    method: "POST",
    headers: request_headers,
    body,
    timeoutMs: timeoutMs - delay,
    signal,
  });
  const failure = answer.error === undefined ? {} : { error: answer.error.message };
  return {
    answer: {
      response_code: answer.response_code,
      duration_ms: answer.duration_ms + delay,
      ...failure,
      ...fault,
    },
    exchange: { request_headers, response_headers: answer.headers, response_body: answer.body },
  };
}

const NOTHING_ANSWERED = { response_headers: {}, response_body: Buffer.alloc(0) };

const ATTEMPTS: Record<Outgoing["kind"], string> = {
  first: "The first attempt",
  retry: "A retry",
  redelivery: "A redelivery",
};

/** An attempt as the history tells of it (interfaces 10). */
export function attemptAct(row: Outgoing, plan: AttemptPlan, { response_code, error }: AttemptOutcome): Act {
  const came =
    response_code === 0
      ? `got no answer${error === undefined ? "" : `: ${error}`}`
      : `was answered ${response_code}`;
  const title = `${ATTEMPTS[row.kind]} to deliver ${plan.event} to ${row.webhook_id} ${came}.`;
  return {
    kind: "delivery",
    title,
    subject: row.delivery_id,
    delivered: classify(response_code) === "success",
    work: { record: row, key: `${outgoing.name}\u0000${row.id}` },
  };
}
