import { describe, expect, it } from "vitest";
import { DeliveryQueue, type Job } from "./delivery-queue.ts";
import type { AttemptKind } from "./queued-attempts.ts";

function job(kind: AttemptKind, delivery_id: string): Job {
  const queued = {
    id: `${delivery_id}/${kind}`,
    kind,
    delivery_id,
    webhook_id: "wh_1",
    position: 0,
    cancelled: false,
  };
  return { queued, controller: new AbortController(), done: Promise.resolve(true), end: () => {} };
}

function begun(queue: DeliveryQueue, isSequential = false): string[] {
  const ids: string[] = [];
  for (
    let next = queue.findNext({ isSequential });
    next !== undefined;
    next = queue.findNext({ isSequential })
  ) {
    queue.begin(next);
    ids.push(next.queued.id);
  }
  return ids;
}

describe("the delivery queue", () => {
  it("makes first attempts one by one, in their order [6.4]", () => {
    const queue = new DeliveryQueue();
    const jobs = ["a", "b", "c"].map((id) => job("first", id));
    for (const each of jobs) queue.add(each);
    expect(begun(queue)).toEqual(["a/first"]);
    queue.finish(jobs[0]!);
    expect(begun(queue)).toEqual(["b/first"]);
  });

  it("makes retries parallel to first attempts, a bounded number at once, and one by one in an advance [6.4]", () => {
    const queue = new DeliveryQueue();
    queue.add(job("first", "new"));
    const retries = Array.from({ length: 6 }, (_, i) => job("retry", `old${i}`));
    for (const each of retries) queue.add(each);
    expect(begun(queue)).toEqual(["new/first", "old0/retry", "old1/retry", "old2/retry", "old3/retry"]);
    queue.finish(retries[1]!);
    expect(begun(queue)).toEqual(["old4/retry"]);
    for (const i of [0, 2, 3]) queue.finish(retries[i]!);
    expect(begun(queue, true)).toEqual([]);
    queue.finish(retries[4]!);
    expect(begun(queue, true)).toEqual(["old5/retry"]);
  });

  it("runs attempts of one delivery one after the other, for any trigger [G24]", () => {
    const queue = new DeliveryQueue();
    const redelivery = job("redelivery", "a");
    queue.add(redelivery);
    queue.add(job("retry", "a"));
    queue.add(job("retry", "b"));
    expect(begun(queue)).toEqual(["a/redelivery", "b/retry"]);
    queue.finish(redelivery);
    expect(begun(queue)).toEqual(["a/retry"]);
  });

  it("is empty only without queued and running attempts [6.4]", () => {
    const queue = new DeliveryQueue();
    const only = job("first", "a");
    queue.add(only);
    expect(queue.isEmpty).toBe(false);
    queue.begin(only);
    expect(queue.isEmpty).toBe(false);
    queue.finish(only);
    expect(queue.isEmpty).toBe(true);
    expect(queue.remove(only)).toBe(false);
  });
});
