import { type Static, Type } from "typebox";
import { ClosedObject, getExamples, Nullable, StringEnum, Timestamp } from "../engine/contract/schema.ts";
import { toBody } from "../engine/resources/webhooks/deliveries.ts";
import { renderDelivery } from "../engine/resources/webhooks/rules.ts";
import {
  type Attempt,
  type Delivery,
  DeliveryBody,
  explainInactive,
  webhooks,
} from "../engine/resources/webhooks/schema.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { Transaction } from "../engine/state/transaction.ts";
import { JournalEntryBody, renderEntry } from "./journal/render-journal-entry.ts";

export const ListedDelivery = ClosedObject(
  {
    ...DeliveryBody.properties,
    webhook_id: Type.String(),
    created_at: Timestamp(),
    url: Type.String({ description: "The webhook's current URL; the log has the URL of each attempt" }),
    active: Type.Boolean({ description: "Whether the webhook is active" }),
    inactive_because: Nullable(Type.String({ description: "Why the webhook is inactive" })),
    why: Nullable(Type.String({ description: "For a failed delivery: the outcome of the last attempt" })),
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

const AttemptBody = ClosedObject({
  at: Timestamp({ description: "When it began; the due time if it ran during an advance of the clock" }),
  kind: StringEnum(["first", "retry", "redelivery"]),
  url: Type.String(),
  response_code: Type.Integer({ description: "0 for no answer" }),
  duration_ms: Type.Integer({ description: "On the wall clock" }),
  why: Nullable(Type.String({ description: "Why it failed, if it did" })),
  fault: Nullable(Type.String({ description: "The fault that affected it" })),
});

export const DeliveryDetail = ClosedObject(
  {
    ...ListedDelivery.properties,
    body: Type.String({ description: "The exact text that each attempt sends" }),
    log: Type.Array(AttemptBody, { description: "Each attempt, oldest first" }),
    exchanges: Type.Array(JournalEntryBody, {
      description: "Request and response of the attempts that are still in the journal",
    }),
  },
  {
    $id: "DeliveryDetail",
    examples: [{ ...getExamples(ListedDelivery)[0]!, body: "{}", log: [], exchanges: [] }],
  },
);

export function renderListedDelivery(delivery: Delivery, world: Transaction): ListedDelivery {
  const { webhook_id, created_at, attempt_log, response_code, status } = delivery;
  // Missing if a saved document or a snapshot was edited.
  const webhook = world.get(webhooks, webhook_id);
  return {
    ...renderDelivery(delivery, world),
    webhook_id,
    created_at: world.toIso(created_at),
    url: webhook?.url ?? "",
    active: webhook?.active === true,
    inactive_because: webhook ? explainInactive(webhook) : "there is no such webhook",
    why: status === "success" ? null : describeFailure({ response_code, error: attempt_log.at(-1)?.error }),
  };
}

function describeFailure({ response_code, error }: Pick<Attempt, "response_code" | "error">): string | null {
  if (response_code >= 200 && response_code < 300) return null;
  return response_code === 0 ? `no answer: ${error ?? "the connection ended"}` : `answered ${response_code}`;
}

export function toDeliveryDetail(
  delivery: Delivery,
  { journal }: Sandbox,
  world: Transaction,
): Static<typeof DeliveryDetail> {
  const body = toBody(delivery, world);
  return {
    ...renderListedDelivery(delivery, world),
    body,
    log: delivery.attempt_log.map(({ at, kind, url, response_code, duration_ms, error, fault }) => ({
      at: world.toIso(at),
      kind,
      url,
      response_code,
      duration_ms,
      why: describeFailure({ response_code, error }),
      fault: fault ?? null,
    })),
    exchanges: journal
      .entries()
      .filter((entry) => entry.delivery?.delivery_id === delivery.delivery_id)
      .map(renderEntry),
  };
}
