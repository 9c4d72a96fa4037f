import { type Static, Type } from "typebox";
import { belongsTo } from "../contract/references.ts";
import { Instant } from "../contract/schema.ts";
import { collection } from "../state/collection.ts";
import type { Transaction } from "../state/transaction.ts";
import type { World } from "../state/world.ts";

/**
 * An attempt that must be made now, or that is running. It is part of the root until its outcome is recorded, so a
 * snapshot, a fork or a restart meanwhile repeats the attempt (receivers recognize the delivery id).
 */
const QueuedAttempt = Type.Object({
  id: Type.String(),
  kind: Type.Enum(["first", "retry", "redelivery"]),
  webhook_id: Type.String(belongsTo("webhooks")),
  /** For a first attempt, the id of the future delivery. */
  delivery_id: Type.String(belongsTo("deliveries")),
  /** Order within the webhook. */
  position: Type.Integer({ minimum: 1 }),
  /** Whether the webhook was disabled meanwhile. The attempt is then not made, or, if it has begun, not retried. */
  cancelled: Type.Boolean(),
  /** Whether the attempt repeats a successful delivery, as by a sender that never received the answer. */
  again: Type.Optional(Type.Boolean()),
  /** For a first attempt: the future delivery, which is hidden until the attempt has ended (G24). */
  first: Type.Optional(
    Type.Object({
      organization_id: Type.String(belongsTo("organizations")),
      event: Type.String(),
      created_at: Instant(),
      /** The exact text that every attempt sends. */
      body: Type.String(),
    }),
  ),
});
export type QueuedAttempt = Static<typeof QueuedAttempt>;
export type AttemptKind = QueuedAttempt["kind"];

export const queuedAttempts = collection({
  name: "_outgoing",
  internal: true,
  countsTowardLimit: true,
  describesLaterWork: true,
  schema: QueuedAttempt,
  indexes: {
    by_webhook: { groups: "webhook_id", order: ({ position }) => position },
    by_delivery: { groups: "delivery_id", order: ({ position }) => position },
  },
});

/** Puts an attempt behind those that its webhook has already. */
export function queueAttempt(tx: Transaction, attempt: Omit<QueuedAttempt, "position" | "cancelled">): void {
  const queue = tx.index(queuedAttempts, "by_webhook", attempt.webhook_id);
  const last = queue.last();
  // The new fields come first, since after a spread Node 20 creates a hidden class for each object.
  tx.put(queuedAttempts, { position: (last?.position ?? 0) + 1, cancelled: false, ...attempt });
}

/** Resolves once each attempt's outcome is recorded, their world is replaced or closed, or the signal aborts. */
export function waitForAttempts(world: World, ids: readonly string[], signal?: AbortSignal): Promise<void> {
  const { generation } = world;
  const remaining = [...ids];
  return new Promise((resolve) => {
    let unsubscribe = () => {};
    const checkQueue = () => {
      const reader = world.read();
      while (remaining.length > 0 && reader.get(queuedAttempts, remaining.at(-1)!) === undefined)
        remaining.pop();
      if (remaining.length > 0 && !world.isClosed && !signal?.aborted && world.generation === generation)
        return;
      unsubscribe();
      signal?.removeEventListener("abort", checkQueue);
      resolve();
    };
    signal?.addEventListener("abort", checkQueue);
    unsubscribe = world.subscribe(checkQueue);
    checkQueue();
  });
}
