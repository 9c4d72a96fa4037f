import { buildEventData, inventData } from "../../contract/event.ts";
import { removeWithDependents } from "../../contract/removal.ts";
import { getOrAdd } from "../../maps.ts";
import { Random } from "../../state/random.ts";
import type { EmittedEvent, Transaction, WorldReader } from "../../state/transaction.ts";
import type { AttemptOutcome, AttemptPlan } from "../../webhooks/attempt.ts";
import { type QueuedAttempt, queueAttempt, queuedAttempts } from "../../webhooks/queued-attempts.ts";
import { evaluateAttempt } from "../../webhooks/schedule.ts";
import { findEventByName } from "../events.ts";
import {
  type Attempt,
  type Delivery,
  deliveries,
  explainInactive,
  setActivity,
  toSubscriberKey,
  type Webhook,
  webhooks,
  webhookTest,
} from "./schema.ts";

/** The fields of section 6.2, in its order. */
export interface Payload {
  event: string;
  data: object;
  timestamp: string;
  webhook_id: string;
  delivery_id: string;
}

export function renderBody({ event, data, timestamp, webhook_id, delivery_id }: Payload): string {
  return JSON.stringify({ event, data, timestamp, webhook_id, delivery_id });
}

/** The exact text that every attempt sends. Until its first attempt, that of a fixture's delivery follows from the world. */
export function toBody(delivery: Delivery, world: WorldReader): string {
  const { body, event, delivery_id, webhook_id, organization_id, created_at } = delivery;
  if (body !== null) return body;
  const random = new Random(0, "delivery", delivery_id);
  const givenFields = { webhook_id, organization_id };
  const data = inventData(findEventByName(event) ?? webhookTest, {
    world,
    at: created_at,
    random,
    givenFields,
  });
  return renderBody({ event, data, timestamp: world.toIso(created_at), webhook_id, delivery_id });
}

const deliveryIdsByTransaction = new WeakMap<Transaction, string[]>();

/** Queues one delivery for each emitted event and each active webhook of its organization that subscribed to it. */
export function enqueueEvents(tx: Transaction, events: readonly EmittedEvent[]): void {
  for (const { event, organization_id, data } of events) {
    for (const webhook of tx.index(webhooks, "by_event", toSubscriberKey(organization_id, event))) {
      enqueue(tx, webhook, { event, data });
    }
  }
}

/** A test is a delivery like any other (section 4.21), and an inactive webhook gets it too (G23). */
export function enqueueTest(tx: Transaction, webhook: Webhook): string {
  return enqueue(tx, webhook, { event: webhookTest.name, data: buildEventData(webhookTest, webhook, tx) });
}

export function listEnqueued(tx: Transaction): readonly string[] {
  return deliveryIdsByTransaction.get(tx) ?? [];
}

/** The body is built here, so that every attempt sends the same bytes (G24). */
function enqueue(
  tx: Transaction,
  webhook: Webhook,
  { event, data }: { event: string; data: object },
): string {
  const { webhook_id, organization_id } = webhook;
  // Receivers skip known ids, so ids must not repeat after a reset or in another sandbox (interfaces.md 5).
  const delivery_id = tx.createUnrepeatedId("del_");
  const body = renderBody({ event, data, timestamp: tx.toIso(tx.now), webhook_id, delivery_id });
  const first = { organization_id, event, created_at: tx.now, body };
  queueAttempt(tx, { id: delivery_id, kind: "first", webhook_id, delivery_id, first });
  getOrAdd(deliveryIdsByTransaction, tx, () => []).push(delivery_id);
  return delivery_id;
}

/**
 * Maximum number of finished deliveries per webhook; older ones are dropped, so that a million calls do not fill the
 * memory. A delivery with a pending retry is never dropped.
 */
const MAX_FINISHED = 10_000;
const MAX_LOGGED_ATTEMPTS = 100;

/** Plans what an attempt sends and where, as of now (G24: the webhook's present URL); undefined cancels it. */
export function planAttempt(world: WorldReader, queued: QueuedAttempt): AttemptPlan | undefined {
  const webhook = world.get(webhooks, queued.webhook_id);
  const current = world.get(queuedAttempts, queued.id);
  if (webhook === undefined || current === undefined || current.cancelled) return undefined;
  const { url, secret } = webhook;
  if (queued.first) return { number: 1, url, secret, event: queued.first.event, body: queued.first.body };
  const delivery = world.get(deliveries, queued.delivery_id);
  if (delivery === undefined || (delivery.status === "success" && !queued.again)) return undefined;
  const number = delivery.attempts + 1;
  return { number, url, secret, event: delivery.event, body: toBody(delivery, world) };
}

/** Records the outcome of an attempt: the delivery, the state of its webhook and the next retry (sections 3.3 and 6.4, G24). */
export function recordAttempt(
  tx: Transaction,
  queued: QueuedAttempt,
  { outcome, schedule }: { outcome: AttemptOutcome; schedule: readonly number[] },
): void {
  const current = tx.get(queuedAttempts, queued.id);
  const webhook = tx.get(webhooks, queued.webhook_id);
  tx.remove(queuedAttempts, queued.id);
  const before = findDeliveryBefore(tx, queued);
  if (current === undefined || webhook === undefined || before === undefined) return;
  const { response_code } = outcome;
  const isRedelivery = queued.kind === "redelivery";
  const scheduled_attempts = before.scheduled_attempts + (isRedelivery ? 0 : 1);
  const evaluation = evaluateAttempt({
    schedule,
    scheduledAttempts: scheduled_attempts,
    endedAt: tx.now,
    responseCode: response_code,
  });
  const delivery: Delivery = {
    ...before,
    body: toBody(before, tx),
    attempts: before.attempts + 1,
    scheduled_attempts,
    attempt_log: [...before.attempt_log, toAttempt(queued, outcome, tx.now)].slice(-MAX_LOGGED_ATTEMPTS),
  };
  if (before.status !== "success") {
    const { nextRetry } = evaluation;
    const isSuccess = evaluation.status === "success";
    delivery.response_code = response_code;
    delivery.status = evaluation.status;
    delivery.delivered_at = isSuccess ? tx.now : null;
    delivery.last_attempt = isSuccess ? null : tx.now;
    // A failed redelivery does not change the pending retry, unless the receiver answered 410 (G24).
    if (isSuccess || evaluation.disablesWebhook) delivery.next_retry = null;
    else if (!isRedelivery)
      delivery.next_retry = current.cancelled ? null : nextRetry && tx.limitToClock(nextRetry);
  }
  tx.put(deliveries, delivery);
  updateRetryTimer(tx, delivery);
  if (evaluation.status === "success") tx.remove(queuedAttempts, toRetryId(delivery.delivery_id));
  const because = `attempt ${delivery.attempts} of ${delivery.delivery_id} was answered with ${response_code}`;
  const active = webhook.active && !evaluation.disablesWebhook;
  tx.put(webhooks, setActivity({ ...webhook, last_delivery: tx.now }, { active, because }));
  if (evaluation.disablesWebhook) cancelPending(tx, webhook.webhook_id);
  dropOldDeliveries(tx, webhook.webhook_id);
}

/** Describes what follows a failed attempt; `world` contains the attempt's outcome. */
export function describeNextStep(world: WorldReader, queued: QueuedAttempt, response_code: number): string {
  const delivery = world.get(deliveries, queued.delivery_id);
  const webhook = world.get(webhooks, queued.webhook_id);
  if (webhook === undefined || delivery === undefined) return "its webhook was deleted meanwhile";
  if (delivery.status === "success") return "another attempt has succeeded meanwhile";
  if (response_code === 410) return `the webhook ${queued.webhook_id} became inactive because of the 410`;
  if (delivery.next_retry !== null) return `the next retry is due at ${world.toIso(delivery.next_retry)}`;
  const inactive = explainInactive(webhook);
  if (inactive !== null) return `no retry follows: the webhook is inactive, since ${inactive}`;
  return queued.kind === "redelivery"
    ? "no retry follows a redelivery"
    : "no retry follows: it was the last of the schedule";
}

/** A retry has become due: queues it, and returns the attempt's id. */
export function queueRetry(tx: Transaction, delivery_id: string): string | undefined {
  const delivery = tx.get(deliveries, delivery_id);
  if (delivery === undefined || delivery.next_retry === null) return undefined;
  const id = toRetryId(delivery_id);
  queueAttempt(tx, { id, kind: "retry", webhook_id: delivery.webhook_id, delivery_id });
  return id;
}

/** Cancels the pending retries of a webhook that became inactive, and its waiting attempts except redeliveries (G24). */
export function cancelPending(tx: Transaction, webhook_id: string): void {
  for (const delivery of tx.index(deliveries, "retrying", webhook_id)) {
    const { delivery_id } = tx.put(deliveries, { ...delivery, next_retry: null });
    tx.unschedule("webhook.retry", delivery_id);
  }
  for (const queued of tx.index(queuedAttempts, "by_webhook", webhook_id)) {
    if (queued.kind !== "redelivery") tx.put(queuedAttempts, { ...queued, cancelled: true });
  }
}

/** Sets the timer of a pending retry, or removes it. */
export function updateRetryTimer(tx: Transaction, { delivery_id, next_retry }: Delivery): void {
  if (next_retry === null) tx.unschedule("webhook.retry", delivery_id);
  else tx.schedule({ kind: "webhook.retry", subject: delivery_id, due: next_retry });
}

function findDeliveryBefore(tx: Transaction, queued: QueuedAttempt): Delivery | undefined {
  const { first, delivery_id, webhook_id } = queued;
  if (first === undefined) return tx.get(deliveries, delivery_id);
  const { organization_id, event, created_at, body } = first;
  return {
    delivery_id,
    webhook_id,
    organization_id,
    event,
    status: "failed",
    response_code: 0,
    attempts: 0,
    scheduled_attempts: 0,
    created_at,
    delivered_at: null,
    last_attempt: null,
    next_retry: null,
    body,
    attempt_log: [],
  };
}

function toAttempt({ kind }: QueuedAttempt, outcome: AttemptOutcome, ended_at: number): Attempt {
  const { at, url, response_code, duration_ms, error, fault } = outcome;
  const attempt = { at, ended_at, kind, url, response_code, duration_ms };
  return { ...attempt, ...(error !== undefined && { error }), ...(fault !== undefined && { fault }) };
}

function dropOldDeliveries(tx: Transaction, webhook_id: string): void {
  const finished = tx.index(deliveries, "finished", webhook_id);
  if (finished.size <= MAX_FINISHED) return;
  for (const delivery of finished.page(MAX_FINISHED, finished.size - MAX_FINISHED))
    removeWithDependents(tx, deliveries, delivery.delivery_id);
}

function toRetryId(delivery_id: string): string {
  return `${delivery_id}/retry`;
}

/** The functions by which the sender of attempts reads and changes records. */
export const DELIVERY_RULES = {
  plan: planAttempt,
  record: recordAttempt,
  discard: (tx: Transaction, queued: QueuedAttempt) => tx.remove(queuedAttempts, queued.id),
  queueRetry,
};

export function getWebhookSecret(world: WorldReader, webhook_id: string): string | undefined {
  return world.get(webhooks, webhook_id)?.secret;
}

/** Secrets that a sender of several webhooks may have confused; used only to explain a wrong signature. */
export function listKnownSecrets(world: WorldReader): { label: string; secret: string }[] {
  return world
    .all(webhooks)
    .page(0, 50)
    .map(({ webhook_id, secret }) => ({ label: `the secret of ${webhook_id}`, secret }));
}
