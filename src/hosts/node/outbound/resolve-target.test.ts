import dns from "node:dns";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ALLOW_ALL } from "./address-policy.ts";
import { createSystemLookup, resolveTarget } from "./resolve-target.ts";

afterEach(() => vi.restoreAllMocks());

/** A system resolver that answers when the test says so. */
function createHeldResolver() {
  const asked: string[] = [];
  const answers: ((fail?: Error) => void)[] = [];
  const held = (hostname: string) =>
    new Promise((resolve, reject) => {
      asked.push(hostname);
      answers.push((fail) => (fail ? reject(fail) : resolve([{ address: "192.0.2.7", family: 4 }])));
    });
  vi.spyOn(dns.promises, "lookup").mockImplementation(held as never);
  return { asked, answers };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("looking up names", () => {
  it("uses two threads at most for names that never answer, and lets the others wait [G24]", async () => {
    const { asked, answers } = createHeldResolver();
    const lookup = createSystemLookup();
    const found = ["a.test", "b.test", "c.test", "d.test"].map((name) => lookup(name));
    await settled();
    expect(asked).toEqual(["a.test", "b.test"]);
    answers[1]!();
    expect(await found[1]).toEqual([{ address: "192.0.2.7", family: 4 }]);
    await settled();
    expect(asked).toEqual(["a.test", "b.test", "c.test"]);
    answers[0]!(new Error("no such name"));
    await expect(found[0]).rejects.toThrow("no such name");
    await settled();
    expect(asked).toEqual(["a.test", "b.test", "c.test", "d.test"]);
  });

  it("shares one query for a name until it is answered [G24]", async () => {
    const { asked, answers } = createHeldResolver();
    const lookup = createSystemLookup();
    const both = [lookup("a.test"), lookup("a.test")];
    await settled();
    answers[0]!();
    await Promise.all(both);
    expect(asked).toEqual(["a.test"]);
    void lookup("a.test");
    await settled();
    expect(asked).toEqual(["a.test", "a.test"]);
  });
});

describe("resolving a target", () => {
  it("reports a name without addresses as an unknown host [G24]", async () => {
    const answer = resolveTarget("none.test", ALLOW_ALL, async () => []);
    await expect(answer).rejects.toMatchObject({ code: "ENOTFOUND" });
  });
});
