import { EMPTY_BYTES, toUtf8 } from "../bytes.ts";
import type { OutboundClient } from "../contract/services.ts";
import type { Settings } from "../contract/settings.ts";
import type { DeliveryFacts, DeliveryFault } from "../sandbox/fault-types.ts";
import type { HeldExchanges, HeldMessage, Release } from "../sandbox/held.ts";
import type { WorldChange } from "../sandbox/history-entry.ts";
import type { AppliedFault } from "../sandbox/journal-entry.ts";
import { sleepUnlessAborted } from "../state/concurrency.ts";
import { type QueuedAttempt, queuedAttempts } from "./queued-attempts.ts";
import { classify } from "./schedule.ts";
import { sign, toDeliveryHeaders } from "./sign.ts";

export interface AttemptPlan {
  /** The number of the attempt, from 1. */
  number: number;
  url: string;
  secret: string;
  event: string;
  body: string;
}

/** The request and the answer; if a fault replaced the receiver, the request that would have been sent. */
interface AttemptExchange {
  request_headers: Readonly<Record<string, string>>;
  response_headers: Readonly<Record<string, string | string[]>>;
  response_body: Uint8Array;
  fault?: AppliedFault | undefined;
  /** If a rule held the attempt: how the hold ended. */
  held?: string | undefined;
}

/** A completed attempt, for the journal (interfaces.md 14). */
export interface CompletedAttempt {
  queued: QueuedAttempt;
  plan: AttemptPlan;
  outcome: AttemptOutcome;
  exchange: AttemptExchange;
}

interface AttemptStart extends Pick<CompletedAttempt, "queued" | "plan"> {
  /** Milliseconds since 1970 on the sandbox's clock. */
  at: number;
}

export interface AttemptOutcome {
  /** The start of the attempt, relative to the sandbox's origin. */
  at: number;
  url: string;
  /** 0: no answer in time, or none at all (G24). */
  response_code: number;
  /** On the wall clock. */
  duration_ms: number;
  error?: string;
  /** The fault that changed it, as in `fault:inline/rule-1`. */
  fault?: string;
}

interface AttemptParts {
  outbound: OutboundClient;
  settings: Pick<Settings, "service_name" | "webhook_timeout_seconds">;
  findFault: (facts: DeliveryFacts) => DeliveryFault | undefined;
  /** Contains the attempts that a rule holds. */
  held: HeldExchanges;
}

/** Sends one attempt, unless a fault replaces its receiver. A receiver's failure is an outcome, not an error. */
export async function sendAttempt(
  { outbound, settings, findFault, held }: AttemptParts,
  { queued, plan, at }: AttemptStart,
  signal: AbortSignal,
): Promise<{ answer: Omit<AttemptOutcome, "at" | "url">; exchange: AttemptExchange }> {
  const timeoutMs = settings.webhook_timeout_seconds * 1000;
  const body = toUtf8(plan.body);
  const request_headers = toDeliveryHeaders({
    event: plan.event,
    deliveryId: queued.delivery_id,
    signature: sign(plan.secret, body),
    serviceName: settings.service_name,
  });
  let deliveryFault = findFault({ event: plan.event, webhook_id: queued.webhook_id });
  let release: Release<Partial<DeliveryFault>> | undefined;
  if (deliveryFault?.hold !== undefined) {
    const message = toHeldMessage({ queued, plan, at }, request_headers, body);
    release = await held.hold(deliveryFault.hold, { phase: "before", message }, signal);
    deliveryFault = { ...deliveryFault, ...release.outcome };
  }
  const simulated = deliveryFault && (await simulateReceiver(deliveryFault, timeoutMs, signal));
  const request = { url: plan.url, method: "POST", headers: request_headers, body, timeoutMs, signal };
  const { response_headers, response_body, ...answer } =
    simulated === undefined
      ? await callReceiver(outbound, request, deliveryFault?.delay_ms ?? 0)
      : { ...simulated, response_headers: {}, response_body: EMPTY_BYTES };
  const exchange = { request_headers, response_headers, response_body };
  if (deliveryFault === undefined) return { answer, exchange };
  const fault = toAppliedFault(deliveryFault, simulated, release?.held_ms ?? 0);
  return {
    answer: { ...answer, fault: deliveryFault.decision },
    exchange: { ...exchange, fault, held: release?.reason },
  };
}

/** Calls the receiver. A fault has delayed the attempt by `delay_ms`, which are part of its timeout and its duration. */
async function callReceiver(
  outbound: OutboundClient,
  request: Parameters<OutboundClient["send"]>[0],
  delay_ms: number,
) {
  const timeoutMs = request.timeoutMs - delay_ms;
  const { response_code, headers, body, duration_ms, error } = await outbound.send({ ...request, timeoutMs });
  return {
    response_code,
    duration_ms: duration_ms + delay_ms,
    ...(error && { error: error.message }),
    response_headers: headers,
    response_body: body,
  };
}

/** The fields of an attempt's journal entry that do not depend on its outcome. @param url where it is sent */
export function describeAttempt(queued: QueuedAttempt, { event, number: attempt }: AttemptPlan, url: string) {
  const { delivery_id, webhook_id, kind } = queued;
  const { origin, pathname, search } = new URL(url);
  return {
    id: `${delivery_id}.${attempt}`,
    operation: null,
    method: "POST",
    path: pathname,
    query: search.slice(1),
    principal: null,
    delivery: { event, webhook_id, delivery_id, attempt, kind, origin, error: undefined },
  };
}

function toHeldMessage(
  { queued, plan, at }: AttemptStart,
  request_headers: AttemptExchange["request_headers"],
  body: Uint8Array,
): HeldMessage {
  return {
    ...describeAttempt(queued, plan, plan.url),
    at,
    status: 0,
    request_headers: Object.entries(request_headers).flat(),
    request_body: body,
    response_headers: [],
    response_body: undefined,
  };
}

const ATTEMPTS: Record<QueuedAttempt["kind"], string> = {
  first: "The first attempt to deliver",
  retry: "A retry of",
  redelivery: "A redelivery of",
};

/** The attempt's entry in the history (interfaces.md 10). */
export function toChange(
  queued: QueuedAttempt,
  plan: AttemptPlan,
  { response_code, error }: AttemptOutcome,
): WorldChange {
  const result =
    response_code === 0
      ? `got no answer${error === undefined ? "" : `: ${error}`}`
      : `was answered ${response_code}`;
  const title = `${ATTEMPTS[queued.kind]} ${plan.event} to ${queued.webhook_id} ${result}.`;
  return {
    kind: "delivery",
    title,
    subject: queued.delivery_id,
    delivered: classify(response_code) === "success",
    work: { record: queued, key: `${queuedAttempts.name}\u0000${queued.id}` },
  };
}

/**
 * The answer of a fault in place of the receiver's (interfaces.md 6). Undefined if, after the delay, the receiver itself
 * must be called. Never rejects; an abort only ends the wait.
 */
export async function simulateReceiver(
  { delay_ms, answer }: DeliveryFault,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ response_code: number; duration_ms: number; error?: string } | undefined> {
  const duration_ms = Math.round(Math.min(delay_ms, timeoutMs));
  if (duration_ms > 0) await sleepUnlessAborted(duration_ms, signal);
  if (delay_ms >= timeoutMs) {
    const error = `timed out after ${timeoutMs / 1000} s: a fault held the answer back`;
    return { response_code: 0, duration_ms, error };
  }
  return answer && { ...answer, duration_ms };
}

function toAppliedFault(
  { decision, delay_ms }: DeliveryFault,
  simulated: { response_code: number; duration_ms: number } | undefined,
  held_ms: number,
): AppliedFault {
  return {
    by: decision.slice("fault:".length),
    delay_ms: held_ms + (simulated?.duration_ms ?? Math.round(delay_ms)),
    replaced: simulated === undefined ? "nothing" : simulated.response_code === 0 ? "connection" : "response",
  };
}
