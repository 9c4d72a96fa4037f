import { describe, expect, it } from "vitest";
import { sleep } from "../platform.ts";
import { DAY_MS } from "./clock.ts";
import { FairQueue, Mutex, RunningWork, sleepUnlessAborted } from "./concurrency.ts";

function createGate() {
  let open = () => {};
  let fail = (_error: Error) => {};
  const closed = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { closed, open, fail };
}
/** Waits until all work that is ready has run. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

it("a wait of a month does not end at once, although timers wait for 24 days at most", async () => {
  const left = new AbortController();
  const waiting = sleepUnlessAborted(30 * DAY_MS, left.signal).then(() => "ended");
  expect(await Promise.race([waiting, sleep(20).then(() => "waits")])).toBe("waits");
  left.abort();
  expect(await waiting).toBe("ended");
});

it("a mutex runs tasks one after the other, also after one that failed", async () => {
  const turns = new Mutex();
  const done: string[] = [];
  const [first, second] = [createGate(), createGate()];
  const one = turns.run(() => first.closed.then(() => done.push("first")));
  const two = turns.run(async () => {
    done.push("second began");
    await second.closed;
    return 2;
  });
  let ended = false;
  void turns.whenIdle().then(() => {
    ended = true;
  });
  await settle();
  expect(done).toEqual([]);
  first.fail(new Error("no"));
  await expect(one).rejects.toThrow("no");
  await settle();
  expect([done, ended]).toEqual([["second began"], false]);
  second.open();
  expect(await two).toBe(2);
  await settle();
  expect(ended).toBe(true);
  await new Mutex().whenIdle();
});

it("waiting for pending work includes work that begins meanwhile or fails", async () => {
  const work = new RunningWork();
  await work.whenSettled();
  const [first, second] = [createGate(), createGate()];
  work.track(first.closed);
  let over = false;
  const waiting = work.whenSettled().then(() => {
    over = true;
  });
  work.track(second.closed);
  first.fail(new Error("no"));
  await settle();
  expect(over).toBe(false);
  second.open();
  await waiting;
  await work.whenSettled();
});

const never = new AbortController().signal;

/** Work that ends when the test says so, and the list of work that has begun. */
function createQueue(total: number) {
  const queue = new FairQueue<object>(total);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (asker: object, name: string, signal = never) =>
    queue.run(asker, signal, () => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.push(() => resolve(name)));
    });
  const endOne = async () => {
    ends.shift()!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, ask, endOne };
}

describe("a fair queue", () => {
  it("delays a client by one task of another client, not by all of them [interfaces 7]", async () => {
    const { begun, ask, endOne } = createQueue(1);
    const [greedy, modest, third] = [{}, {}, {}];
    for (const name of ["g1", "g2", "g3", "g4"]) void ask(greedy, name);
    void ask(modest, "m1");
    void ask(modest, "m2");
    void ask(third, "t1");
    expect(begun).toEqual(["g1"]);
    for (let i = 0; i < 6; i++) await endOne();
    expect(begun).toEqual(["g1", "g2", "m1", "t1", "g3", "m2", "g4"]);
  });

  it("leaves the other place to others if a client is limited to one task [interfaces 7]", async () => {
    const { begun, ask, endOne } = createQueue(2);
    const [greedy, modest] = [{}, {}];
    for (const name of ["g1", "g2", "g3", "g4"]) void ask(greedy, name);
    expect(begun).toEqual(["g1"]);
    void ask(modest, "m1");
    void ask(modest, "m2");
    expect(begun).toEqual(["g1", "m1"]);
    for (let i = 0; i < 4; i++) await endOne();
    expect(begun).toEqual(["g1", "m1", "g2", "m2", "g3"]);
    await endOne();
    void ask({}, "third");
    expect(begun).toEqual(["g1", "m1", "g2", "m2", "g3", "g4", "third"]);
  });

  it("runs at most `total` tasks at once, and a failed one makes room [interfaces 7]", async () => {
    const { begun, ask, endOne } = createQueue(2);
    const failing = new FairQueue<object>(1);
    await expect(failing.run({}, never, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await failing.run({}, never, async () => "goes on")).toBe("goes on");
    const answers = ["a", "b", "c"].map((name) => ask({}, name));
    expect(begun).toEqual(["a", "b"]);
    await endOne();
    expect(begun).toEqual(["a", "b", "c"]);
    await endOne();
    await endOne();
    expect(await Promise.all(answers)).toEqual(["a", "b", "c"]);
  });

  it("frees the place of a waiting client that disconnects [interfaces 7]", async () => {
    const { begun, ask, endOne } = createQueue(1);
    const one = {};
    void ask(one, "first");
    const gone = new AbortController();
    const left = ask(one, "left", gone.signal);
    void ask(one, "stays");
    gone.abort(new Error("the client left"));
    await expect(left).rejects.toThrow("the client left");
    await expect(ask(one, "late", gone.signal)).rejects.toThrow("the client left");
    await endOne();
    expect(begun).toEqual(["first", "stays"]);
    await endOne();
    void ask({}, "next");
    expect(begun).toEqual(["first", "stays", "next"]);
  });
});
