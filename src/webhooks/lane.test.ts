import { describe, expect, it } from "vitest";
import { type Job, Lane } from "./lane.ts";
import type { AttemptKind } from "./outgoing.ts";

function job(kind: AttemptKind, delivery_id: string): Job {
  const row = {
    id: `${delivery_id}/${kind}`,
    kind,
    delivery_id,
    webhook_id: "wh_1",
    position: 0,
    cancelled: false,
  };
  return { row, controller: new AbortController(), done: Promise.resolve(true), end: () => {} };
}

function begun(lane: Lane, oneByOne = false): string[] {
  const ids: string[] = [];
  for (let next = lane.next(oneByOne); next !== undefined; next = lane.next(oneByOne)) {
    lane.begin(next);
    ids.push(next.row.id);
  }
  return ids;
}

describe("Lane", () => {
  it("6.4 first attempts go one by one, in their order", () => {
    const lane = new Lane();
    const jobs = ["a", "b", "c"].map((id) => job("first", id));
    for (const each of jobs) lane.add(each);
    expect(begun(lane)).toEqual(["a/first"]);
    lane.finish(jobs[0]!);
    expect(begun(lane)).toEqual(["b/first"]);
  });

  it("6.4 retries do not wait for first attempts, and are bounded; in an advance they go one by one", () => {
    const lane = new Lane();
    lane.add(job("first", "new"));
    const retries = Array.from({ length: 6 }, (_, i) => job("retry", `old${i}`));
    for (const each of retries) lane.add(each);
    expect(begun(lane)).toEqual(["new/first", "old0/retry", "old1/retry", "old2/retry", "old3/retry"]);
    lane.finish(retries[1]!);
    expect(begun(lane)).toEqual(["old4/retry"]);
    for (const i of [0, 2, 3]) lane.finish(retries[i]!);
    expect(begun(lane, true)).toEqual([]);
    lane.finish(retries[4]!);
    expect(begun(lane, true)).toEqual(["old5/retry"]);
  });

  it("G24 attempts of one delivery follow each other, whatever set them off", () => {
    const lane = new Lane();
    const redelivery = job("redelivery", "a");
    lane.add(redelivery);
    lane.add(job("retry", "a"));
    lane.add(job("retry", "b"));
    expect(begun(lane)).toEqual(["a/redelivery", "b/retry"]);
    lane.finish(redelivery);
    expect(begun(lane)).toEqual(["a/retry"]);
  });

  it("6.4 is empty only when nothing waits and nothing is under way", () => {
    const lane = new Lane();
    const only = job("first", "a");
    lane.add(only);
    expect(lane.isEmpty).toBe(false);
    lane.begin(only);
    expect(lane.isEmpty).toBe(false);
    lane.finish(only);
    expect(lane.isEmpty).toBe(true);
    expect(lane.remove(only)).toBe(false);
  });
});
