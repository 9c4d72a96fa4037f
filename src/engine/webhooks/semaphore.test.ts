import { describe, expect, it } from "vitest";
import { Semaphore } from "./delivery-queue.ts";

describe("the semaphore", () => {
  it("gives a place to at most N callers, and lets waiting callers follow in order [6.4]", () => {
    const budget = new Semaphore(2);
    const log: string[] = [];
    const claim = (name: string) => {
      const retry = () => {
        log.push(`${name} ${budget.tryAcquire(retry) ? "takes" : "waits"}`);
      };
      return retry;
    };
    const [a, b, c, d] = ["a", "b", "c", "d"].map(claim) as [() => void, () => void, () => void, () => void];
    for (const one of [a, b, c, d]) one();
    expect(log).toEqual(["a takes", "b takes", "c waits", "d waits"]);
    budget.release();
    expect(log.at(-1)).toBe("c takes");
    budget.release();
    expect(log.slice(5)).toEqual(["d takes"]);
    budget.release();
    expect(log).toHaveLength(6);
  });

  it("gives a place that the first waiter no longer needs to the next [6.4]", () => {
    const budget = new Semaphore(1);
    budget.tryAcquire(() => {});
    let served = false;
    budget.tryAcquire(() => {});
    budget.tryAcquire(() => {
      served = budget.tryAcquire(() => {});
    });
    budget.release();
    expect(served).toBe(true);
  });
});
