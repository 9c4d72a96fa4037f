import { describe, expect, it } from "vitest";
import { removeWithDependents } from "../../contract/removal.ts";
import { makeClock } from "../../state/clock.ts";
import { Tables } from "../../state/tables.ts";
import { timers } from "../../state/timers.ts";
import type { Transaction } from "../../state/transaction.ts";
import { World } from "../../state/world.ts";
import { queuedAttempts } from "../../webhooks/queued-attempts.ts";
import { DEFAULT_RETRY_SCHEDULE } from "../../webhooks/schedule.ts";
import {
  cancelPending,
  enqueueEvents,
  listEnqueued,
  planAttempt,
  queueRetry,
  recordAttempt,
} from "./deliveries.ts";
import { deliveries, type Webhook, webhooks } from "./schema.ts";

const webhook: Webhook = {
  webhook_id: "wh_1",
  organization_id: "org_1",
  url: "http://127.0.0.1:9/",
  secret: "whsec_test",
  events: ["user.created"],
  description: "",
  active: true,
  created_at: 0,
  last_delivery: null,
};

function makeWorld(): World {
  const world = new World({
    root: { tables: Tables.empty([webhooks, deliveries, queuedAttempts, timers]), draws: 0 },
    clock: makeClock("frozen", 0, 0),
    origin: 0,
    seed: 1,
    secretKey: "test",
    wallClock: () => 0,
    parts: { timerHandlers: {}, onEmit: () => {}, onCommit: () => {} },
  });
  world.transact((tx) => tx.insert(webhooks, webhook));
  return world;
}

/** Queues an event and returns the outcome of its first attempt. */
function deliver(tx: Transaction, response_code: number): string {
  enqueueEvents(tx, [{ event: "user.created", organization_id: "org_1", data: {} }]);
  const id = listEnqueued(tx).at(-1)!;
  answer(tx, id, response_code);
  return id;
}

function answer(tx: Transaction, attempt_id: string, response_code: number): void {
  const outcome = { at: tx.now, url: webhook.url, response_code, duration_ms: 1 };
  recordAttempt(tx, tx.get(queuedAttempts, attempt_id)!, { outcome, schedule: DEFAULT_RETRY_SCHEDULE });
}

describe("the lifecycle of deliveries", () => {
  it("keeps the newest ten thousand finished deliveries of a webhook, and every one with a pending retry [G24]", () => {
    const world = makeWorld();
    const pending = world.transact((tx) => deliver(tx, 500));
    world.transact((tx) => {
      for (let i = 0; i < 10_050; i++) deliver(tx, 200);
    });
    const tx = world.read();
    expect(tx.index(deliveries, "finished", "wh_1").size).toBe(10_000);
    expect(tx.get(deliveries, pending)).toMatchObject({ next_retry: 60_000 });
    expect(tx.all(deliveries).size).toBe(10_001);
  });

  it("a queued attempt is cancelled when its webhook is disabled; one in progress is recorded [G24]", () => {
    const world = makeWorld();
    world.transact((tx) => {
      enqueueEvents(tx, [{ event: "user.created", organization_id: "org_1", data: {} }]);
      const [id] = listEnqueued(tx) as [string];
      const row = tx.get(queuedAttempts, id)!;
      expect(planAttempt(tx, row)).toBeDefined();
      cancelPending(tx, "wh_1");
      expect(planAttempt(tx, row)).toBeUndefined();
      answer(tx, id, 500);
      expect(tx.get(deliveries, id)).toMatchObject({ status: "failed", attempts: 1, next_retry: null });
    });
    expect(world.listPending()).toEqual([]);
  });

  it("a webhook deleted during an attempt leaves no delivery, attempt or timer [G24]", () => {
    const world = makeWorld();
    world.transact((tx) => {
      const id = deliver(tx, 500);
      const retry = queueRetry(tx, id)!;
      const row = tx.get(queuedAttempts, retry)!;
      removeWithDependents(tx, webhooks, webhook.webhook_id);
      const outcome = { at: 0, url: webhook.url, response_code: 200, duration_ms: 1 };
      recordAttempt(tx, row, { outcome, schedule: DEFAULT_RETRY_SCHEDULE });
      expect(queueRetry(tx, id)).toBeUndefined();
    });
    const tx = world.read();
    expect([tx.all(webhooks).size, tx.all(deliveries).size, tx.all(queuedAttempts).size]).toEqual([0, 0, 0]);
    expect(world.listPending()).toEqual([]);
  });
});
