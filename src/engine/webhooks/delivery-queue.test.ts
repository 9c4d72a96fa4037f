import { describe, expect, it } from "vitest";
import { DeliveryQueue, type Job } from "./delivery-queue.ts";
import type { AttemptKind } from "./queued-attempts.ts";

function makeJob(kind: AttemptKind, delivery_id: string): Job {
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

function listBegun(queue: DeliveryQueue, isSequential = false): string[] {
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
    const jobs = ["a", "b", "c"].map((id) => makeJob("first", id));
    for (const each of jobs) queue.add(each);
    expect(listBegun(queue)).toEqual(["a/first"]);
    queue.finish(jobs[0]!);
    expect(listBegun(queue)).toEqual(["b/first"]);
  });

  it("makes retries parallel to first attempts, a bounded number at once, and one by one in an advance [6.4]", () => {
    const queue = new DeliveryQueue();
    queue.add(makeJob("first", "new"));
    const retries = Array.from({ length: 6 }, (_, i) => makeJob("retry", `old${i}`));
    for (const each of retries) queue.add(each);
    expect(listBegun(queue)).toEqual(["new/first", "old0/retry", "old1/retry", "old2/retry", "old3/retry"]);
    queue.finish(retries[1]!);
    expect(listBegun(queue)).toEqual(["old4/retry"]);
    for (const i of [0, 2, 3]) queue.finish(retries[i]!);
    expect(listBegun(queue, true)).toEqual([]);
    queue.finish(retries[4]!);
    expect(listBegun(queue, true)).toEqual(["old5/retry"]);
  });

  it("runs attempts of one delivery one after the other, for any trigger [G24]", () => {
    const queue = new DeliveryQueue();
    const redelivery = makeJob("redelivery", "a");
    queue.add(redelivery);
    queue.add(makeJob("retry", "a"));
    queue.add(makeJob("retry", "b"));
    expect(listBegun(queue)).toEqual(["a/redelivery", "b/retry"]);
    queue.finish(redelivery);
    expect(listBegun(queue)).toEqual(["a/retry"]);
  });

  it("is empty only without queued and running attempts [6.4]", () => {
    const queue = new DeliveryQueue();
    const only = makeJob("first", "a");
    queue.add(only);
    expect(queue.isEmpty).toBe(false);
    queue.begin(only);
    expect(queue.isEmpty).toBe(false);
    queue.finish(only);
    expect(queue.isEmpty).toBe(true);
    expect(queue.remove(only)).toBe(false);
  });
});
