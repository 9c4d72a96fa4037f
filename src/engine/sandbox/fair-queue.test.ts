import { describe, expect, it } from "vitest";
import { FairQueue } from "./fair-queue.ts";

const never = new AbortController().signal;

/** Work that ends when it is told to, and a list of what has begun. */
function stand(size: number, each = size) {
  const queue = new FairQueue<object>({ size, each });
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
  it("interfaces 7 who brought much keeps another waiting for one piece of work, not for all", async () => {
    const { begun, ask, endOne } = stand(1);
    const [greedy, modest, third] = [{}, {}, {}];
    for (const name of ["g1", "g2", "g3", "g4"]) void ask(greedy, name);
    void ask(modest, "m1");
    void ask(modest, "m2");
    void ask(third, "t1");
    expect(begun).toEqual(["g1"]);
    for (let i = 0; i < 6; i++) await endOne();
    expect(begun).toEqual(["g1", "g2", "m1", "t1", "g3", "m2", "g4"]);
  });

  it("interfaces 7 who may have one place only leaves the other to whoever comes, and has it by itself again", async () => {
    const { begun, ask, endOne } = stand(2, 1);
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

  it("interfaces 7 no more than its size is done at once, and failures make room", async () => {
    const { begun, ask, endOne } = stand(2);
    const failing = new FairQueue<object>({ size: 1, each: 1 });
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

  it("interfaces 7 a client that leaves gives its place in the line to others", async () => {
    const { begun, ask, endOne } = stand(1);
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
