import { DEFAULT_SETTINGS, type Settings } from "../../src/engine/contract/settings.ts";
import type { DeliveryFacts, DeliveryFault } from "../../src/engine/sandbox/fault-types.ts";
import { HeldExchanges } from "../../src/engine/sandbox/held.ts";
import { makeClock } from "../../src/engine/state/clock.ts";
import { Tables } from "../../src/engine/state/tables.ts";
import { timers } from "../../src/engine/state/timers.ts";
import { World } from "../../src/engine/state/world.ts";
import type { Commit } from "../../src/engine/state/world-parts.ts";
import type { CompletedAttempt } from "../../src/engine/webhooks/attempt.ts";
import { createDeliveries, type DeliveriesParts } from "../../src/engine/webhooks/dispatcher.ts";
import {
  type AttemptKind,
  type QueuedAttempt,
  queueAttempt,
  queuedAttempts,
} from "../../src/engine/webhooks/queued-attempts.ts";
import type { OutboundRequest, OutboundResult } from "../../src/hosts/node/outbound/outbound-request.ts";

/** A request that was sent and has no response yet. */
export interface SentRequest extends OutboundRequest {
  delivery_id: string;
  answer(response_code: number): Promise<void>;
}

/** The webhook rules are replaced: an attempt is planned and recorded, without webhook records. */
type Rules = DeliveriesParts<Sandbox>["rules"];

interface Sandbox {
  name: string;
  held: HeldExchanges;
  settings: Settings;
}

/**
 * Creates the sender of deliveries with a fake network, whose responses the test sends. All sandboxes share one
 * limit.
 */
export function setUpDeliveries(
  given: Partial<Omit<DeliveriesParts<Sandbox>, "rules">> & { rules?: Partial<Rules> } = {},
) {
  const sent: SentRequest[] = [];
  const recorded: { queued: QueuedAttempt; schedule: readonly number[] }[] = [];
  const completed: CompletedAttempt[] = [];
  const errors: unknown[] = [];
  const faults: DeliveryFacts[] = [];
  const findFault = (_sandbox: Sandbox, facts: DeliveryFacts): DeliveryFault | undefined => {
    faults.push(facts);
    return undefined;
  };
  const deliveries = createDeliveries<Sandbox>({
    outbound: {
      send: (request) =>
        new Promise<OutboundResult>((resolve) => {
          const end = (response_code: number, error?: OutboundResult["error"]) =>
            resolve({
              ...{ response_code, headers: {}, body: Buffer.alloc(0), truncated: false, duration_ms: 1 },
              ...(error && { error }),
            });
          request.signal?.addEventListener("abort", () => end(0, { kind: "aborted", message: "called off" }));
          const delivery_id = String((request.headers as Record<string, string>)["X-Service-Delivery"]);
          sent.push({
            ...request,
            delivery_id,
            answer(response_code) {
              end(response_code);
              return runPendingCallbacks();
            },
          });
        }),
    },
    findFault,
    onError: (error) => errors.push(error),
    onAttempt: (_sandbox, attempt) => completed.push(attempt),
    ...given,
    rules: {
      plan: (_world, { webhook_id, delivery_id }) => ({
        ...{ number: 1, url: `http://${webhook_id}.test/`, secret: "whsec", event: "user.created" },
        body: delivery_id,
      }),
      record(tx, queued, { schedule }) {
        recorded.push({ queued, schedule });
        tx.remove(queuedAttempts, queued.id);
      },
      discard: (tx, queued) => tx.remove(queuedAttempts, queued.id),
      queueRetry(tx, delivery_id) {
        queueAttempt(tx, { id: `${delivery_id}/retry`, kind: "retry", webhook_id: "wh_1", delivery_id });
        return `${delivery_id}/retry`;
      },
      ...given.rules,
    },
  });

  return {
    sent,
    recorded,
    completed,
    errors,
    faults,
    /** Ids of the deliveries whose requests were sent, in that order. */
    listSentIds: () => sent.map(({ delivery_id }) => delivery_id),
    sandbox(name = "default") {
      const commits: Commit[] = [];
      const sandbox: Sandbox = { name, held: new HeldExchanges(), settings: { ...DEFAULT_SETTINGS } };
      const { onCommit, ...parts } = deliveries.createWorldParts(sandbox);
      const world: World = new World({
        root: { tables: Tables.empty([queuedAttempts, timers]), draws: 0 },
        clock: makeClock("frozen", 0, 0),
        ...{ origin: 0, seed: 1, secretKey: "test", wallClock: () => 0 },
        parts: {
          ...parts,
          onEmit: () => {},
          onCommit(listened, commit) {
            commits.push(commit);
            onCommit(listened, commit);
          },
        },
      });
      return {
        world,
        commits,
        settings: sandbox.settings,
        /** Queues an attempt of each delivery and waits until they can be sent. */
        async queue(delivery_ids: readonly string[], webhook_id = "wh_1", kind: AttemptKind = "first") {
          for (const delivery_id of delivery_ids) {
            world.transact((tx) => queueAttempt(tx, { id: delivery_id, kind, webhook_id, delivery_id }));
          }
          await runPendingCallbacks();
        },
        /** Removes an attempt from the queue, as the deletion of its webhook does. */
        async remove(id: string) {
          world.transact((tx) => tx.remove(queuedAttempts, id));
          await runPendingCallbacks();
        },
        waiting: () => [...world.read().all(queuedAttempts)].map(({ id }) => id),
        attempt: (id: string) => deliveries.waitForAttempt(sandbox, id),
      };
    },
    attempt: deliveries.waitForAttempt,
  };
}

/** Waits until all callbacks that are ready have run. */
export function runPendingCallbacks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Creates numbered names, such as `wh_0` and `wh_1`. */
export const createNames = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`);
