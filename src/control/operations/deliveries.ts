import Type, { type Static } from "typebox";
import { parseDateOrInstant } from "../../contract/instant.ts";
import { Closed, examplesOf, ListOf, Nullable, Timestamp, typed } from "../../contract/schema.ts";
import { nearest } from "../../documents/nearest.ts";
import { bodyOf } from "../../resources/webhooks/body.ts";
import { presentDelivery } from "../../resources/webhooks/present.ts";
import {
  type Delivery,
  DeliveryBody,
  deliveries,
  webhooks,
  whyInactive,
} from "../../resources/webhooks/schema.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Transaction } from "../../state/transaction.ts";
import { attemptsEnded, queueAttempt } from "../../webhooks/outgoing.ts";
import { DELIVERED_EVENTS } from "../delivered-events.ts";
import { JournalEntryBody, renderEntry } from "../journal/render-entry.ts";
import { below, type ControlOperation, OfSandbox, operation, S } from "../operation.ts";
import { Problem, quoted, unknownWord, unprocessable, WHERE } from "../problem.ts";

const MAX_LISTED = 10_000;
/** Attempts that one call begins. */
const MAX_REDELIVERED = 1000;

export const ListedDelivery = Closed(
  {
    ...DeliveryBody.properties,
    webhook_id: Type.String(),
    created_at: Timestamp(),
    url: Type.String({ description: "Where the webhook is now; an attempt's own is in its log" }),
    active: Type.Boolean({ description: "Whether the webhook still is" }),
    inactive_because: Nullable(Type.String({ description: "Of a webhook that is not: what made it so" })),
    why: Nullable(Type.String({ description: "Of one that failed: what came of the last attempt" })),
  },
  {
    $id: "ListedDelivery",
    examples: [
      {
        delivery_id: "del_1",
        event: "user.created",
        status: "failed",
        response_code: 0,
        attempts: 1,
        last_attempt: "2026-03-15T12:00:00.000Z",
        next_retry: "2026-03-15T12:01:00.000Z",
        webhook_id: "wh_ops",
        created_at: "2026-03-15T12:00:00.000Z",
        url: "http://127.0.0.1:9/hook",
        active: true,
        inactive_because: null,
        why: "no answer: connect ECONNREFUSED 127.0.0.1:9",
      },
    ],
  },
);
type ListedDelivery = Static<typeof ListedDelivery>;

const AttemptBody = Closed({
  at: Timestamp({ description: "When it began; made by an advance, its due time" }),
  kind: Type.Unsafe<"first" | "retry" | "redelivery">({
    type: "string",
    enum: ["first", "retry", "redelivery"],
  }),
  url: Type.String(),
  response_code: Type.Integer({ description: "0 for no answer" }),
  duration_ms: Type.Integer({ description: "On the wall clock" }),
  why: Nullable(Type.String({ description: "Of one that failed: why, in words" })),
  fault: Nullable(Type.String({ description: "The armed fault that had a hand in it" })),
});

export const DeliveryDetail = Closed(
  {
    ...ListedDelivery.properties,
    body: Type.String({ description: "The exact text that each attempt sends" }),
    log: Type.Array(AttemptBody, { description: "Each attempt, oldest first" }),
    exchanges: Type.Array(JournalEntryBody, {
      description: "Of those attempts that the journal still holds: what was sent and answered",
    }),
  },
  {
    $id: "DeliveryDetail",
    examples: [{ ...examplesOf(ListedDelivery)[0]!, body: "{}", log: [], exchanges: [] }],
  },
);

const Status = Type.Unsafe<"success" | "failed" | "pending">({
  type: "string",
  enum: ["success", "failed", "pending"],
  description: "`failed` for good, or `pending` a retry",
});
const Text = (description: string, type = "string") =>
  Type.Optional(typed(type, Type.String({ minLength: 1, description })));

export const DeliveryQuery = Closed({
  status: Type.Optional(Status),
  event: Text("An event's name", "EventName"),
  webhook: Text("A webhook's id"),
  since: Text("An ISO 8601 date or timestamp, on the sandbox's clock"),
  limit: Type.Integer({ minimum: 1, maximum: MAX_LISTED, default: 100 }),
});

const listDeliveries = operation({
  id: "deliveries.list",
  section: "interfaces 14",
  method: "GET",
  path: `${S}/deliveries`,
  summary: "List deliveries of all webhooks, newest first, and why each failed",
  params: OfSandbox,
  query: DeliveryQuery,
  errors: [],
  success: { status: 200, schema: ListOf(ListedDelivery) },
  handle({ query: { limit, ...filter }, sandbox: { world } }) {
    world.catchUp();
    const present = world.read();
    const found = matching(present, filter);
    return { items: found.slice(0, limit).map((one) => presentListed(one, present)), total: found.length };
  },
});

const OfDelivery = below({ id: Type.String({ description: "The delivery's id", examples: ["del_ok"] }) });

const showDelivery = operation({
  id: "deliveries.show",
  section: "interfaces 14",
  method: "GET",
  path: `${S}/deliveries/{id}`,
  summary: "Show a delivery, each of its attempts, and what went over the wire",
  params: OfDelivery,
  errors: ["unknown-record"],
  success: { status: 200, schema: DeliveryDetail },
  handle({ params: { id }, sandbox }) {
    sandbox.world.catchUp();
    const present = sandbox.world.read();
    const delivery = present.get(deliveries, id);
    if (delivery === undefined) throw unknownDelivery(id, present);
    return detailOf(delivery, sandbox, present);
  },
});

export const RedeliverInput = Closed(
  {
    ids: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: MAX_REDELIVERED,
        description: "Deliveries that failed",
      }),
    ),
    all_failed: Type.Optional(
      Type.Unsafe<true>({ const: true, description: "All that failed, those with a retry to come included" }),
    ),
    again: Type.Optional(
      Type.Boolean({
        description:
          "With `ids`: those that succeeded, too, as by a sender whom the receipt never reached; they stay delivered",
      }),
    ),
    since: Text("With `all_failed`: those of events since then"),
    webhook: Text("With `all_failed`: those of this webhook"),
  },
  { $id: "RedeliverInput", description: "`ids` or `all_failed`", examples: [{ all_failed: true }] },
);

const redeliver = operation({
  id: "deliveries.redeliver",
  section: "interfaces 14",
  method: "POST",
  path: `${S}/deliveries/redeliver`,
  summary: "Make one attempt of failed deliveries at once, and wait for them",
  description:
    "With the same delivery id and the same bytes. Success cancels the retry to come; failure leaves it.",
  params: OfSandbox,
  body: { kind: "json", schema: RedeliverInput },
  tells: {
    as: (_call, answer) => {
      const { total } = answer as { total: number };
      return { title: `${total === 1 ? "A delivery was" : `${total} deliveries were`} redelivered.` };
    },
  },
  errors: [],
  success: { status: 200, schema: ListOf(ListedDelivery) },
  async handle({ body, sandbox: { world }, signal }) {
    const { chosen, attempts } = world.transact((tx) => {
      const chosen = chosenIn(tx, body);
      const attempts = chosen.map(({ delivery_id, webhook_id }) => {
        const id = tx.newId("redelivery_");
        const again = body.again === true ? { again: true } : {};
        queueAttempt(tx, { id, kind: "redelivery", webhook_id, delivery_id, ...again });
        return id;
      });
      return { chosen, attempts };
    });
    await attemptsEnded(world, attempts, signal);
    const present = world.read();
    const items = chosen.flatMap(({ delivery_id }) => {
      const delivery = present.get(deliveries, delivery_id);
      return delivery === undefined ? [] : [presentListed(delivery, present)];
    });
    return { items, total: items.length };
  },
});

/** @throws Problem 422 */
function chosenIn(
  tx: Transaction,
  { ids, all_failed, since, webhook, again }: Static<typeof RedeliverInput>,
): Delivery[] {
  if ((ids === undefined) === (all_failed === undefined))
    throw unprocessable(
      ids ? "all_failed" : "ids",
      ids ?? null,
      ids ? "cannot stand beside ids" : "is needed, or else all_failed",
    );
  if (ids === undefined && again !== undefined)
    throw unprocessable("again", again, "stands beside ids, not beside all_failed");
  if (ids === undefined) {
    const failed = matching(tx, { since, webhook }).filter(({ status }) => status === "failed");
    if (failed.length <= MAX_REDELIVERED) return failed;
    const advice = `name a time with since, or a webhook; one call redelivers at most ${MAX_REDELIVERED}`;
    throw unprocessable("all_failed", true, `means ${failed.length} deliveries: ${advice}`);
  }
  const named = since === undefined ? (webhook === undefined ? undefined : "webhook") : "since";
  if (named !== undefined)
    throw unprocessable(named, since ?? webhook, "stands beside all_failed, not beside ids");
  return [...new Set(ids)].map((id, i) => {
    const delivery = tx.get(deliveries, id);
    if (delivery === undefined)
      throw unknownWord(`ids[${i}]`, id, {
        is: "is no delivery of this sandbox",
        known: knownIds(tx),
        where: WHERE.deliveries,
      });
    if (delivery.status === "success" && again !== true)
      throw unprocessable(
        `ids[${i}]`,
        id,
        "was delivered; send it once more with again, or name one that failed",
      );
    return delivery;
  });
}

type Filter = Omit<Partial<Static<typeof DeliveryQuery>>, "limit">;

/** Newest first. @throws Problem 422 for a webhook that is not there, or an unreadable instant */
function matching(tx: Transaction, { status, event, webhook, since }: Filter): Delivery[] {
  if (webhook !== undefined && tx.get(webhooks, webhook) === undefined) {
    const known = [...tx.all(webhooks).page(0, 1000)].map(({ webhook_id }) => webhook_id);
    throw unknownWord("webhook", webhook, {
      is: "is no webhook of this sandbox",
      known,
      where: WHERE.webhooks,
    });
  }
  if (event !== undefined && !DELIVERED_EVENTS.includes(event))
    throw unknownWord("event", event, {
      is: "is no event of the service",
      known: DELIVERED_EVENTS,
      where: `it has ${DELIVERED_EVENTS.join(", ")}`,
    });
  const span = since === undefined ? undefined : parseDateOrInstant(since);
  if (since !== undefined && span === undefined)
    throw unprocessable("since", since, "must be an ISO 8601 date or timestamp");
  const from = span === undefined ? Number.NEGATIVE_INFINITY : tx.relative(span.from);
  const all = webhook === undefined ? tx.all(deliveries) : tx.index(deliveries, "newest", webhook);
  return [...all]
    .filter(
      (one) =>
        one.created_at >= from &&
        (event === undefined || one.event === event) &&
        (status === undefined || statusOf(one) === status),
    )
    .sort((a, b) => b.created_at - a.created_at);
}

function statusOf({ status, next_retry }: Delivery): Static<typeof Status> {
  return status === "failed" && next_retry !== null ? "pending" : status;
}

function presentListed(delivery: Delivery, world: Transaction): ListedDelivery {
  const { webhook_id, created_at, attempt_log, response_code, status } = delivery;
  const webhook = world.get(webhooks, webhook_id)!;
  const last = attempt_log.at(-1) ?? { response_code };
  return {
    ...presentDelivery(delivery, world),
    webhook_id,
    created_at: world.iso(created_at),
    url: webhook.url,
    active: webhook.active,
    inactive_because: whyInactive(webhook),
    why: status === "success" ? null : whyOf(last),
  };
}

function whyOf({ response_code, error }: { response_code: number; error?: string }): string | null {
  if (response_code >= 200 && response_code < 300) return null;
  return response_code === 0 ? `no answer: ${error ?? "the connection ended"}` : `answered ${response_code}`;
}

function detailOf(
  delivery: Delivery,
  { journal }: Sandbox,
  world: Transaction,
): Static<typeof DeliveryDetail> {
  const body = bodyOf(delivery, world);
  return {
    ...presentListed(delivery, world),
    body,
    log: delivery.attempt_log.map(({ at, kind, url, response_code, duration_ms, error, fault }) => ({
      at: world.iso(at),
      kind,
      url,
      response_code,
      duration_ms,
      why: whyOf({ response_code, error }),
      fault: fault ?? null,
    })),
    exchanges: journal
      .entries()
      .filter((entry) => entry.delivery?.delivery_id === delivery.delivery_id)
      .map(renderEntry),
  };
}

function unknownDelivery(id: string, world: Transaction): Problem {
  const hint = nearest(id, knownIds(world));
  const meant = hint === undefined ? "" : ` Did you mean ${quoted(hint)}?`;
  return new Problem("unknown-record", {
    detail: `There is no delivery ${quoted(id)}.${meant} ${WHERE.deliveries}.`,
    value: id,
    hint,
  });
}

function knownIds(world: Transaction): string[] {
  return [...world.all(deliveries).page(0, 1000)].map(({ delivery_id }) => delivery_id);
}

export const DELIVERY_OPERATIONS: readonly ControlOperation[] = [listDeliveries, redeliver, showDelivery];
