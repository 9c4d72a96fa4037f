import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFaults, decideCall, evaluateCall } from "../../../test/support/fault-setup.ts";

async function run(rule: object, calls: number, seed = 1): Promise<string> {
  const faults = createFaults(seed);
  faults.add({ id: "f", ...rule });
  let text = "";
  for (let i = 0; i < calls; i++) text += (await decideCall(faults, "threads.delete")) === "-" ? "." : "x";
  return text;
}

describe("a rule's schedule", () => {
  const effect = { status: 503 };
  it.each([
    ["nothing given: always", { effect }, "xxxxxx"],
    ["times", { effect, times: 2 }, "xx...."],
    ["every third", { effect, every: 3 }, "..x..x"],
    ["every first", { effect, every: 1 }, "xxxxxx"],
    ["sequence", { sequence: [503, "RATE_LIMIT_EXCEEDED", "pass", 500] }, "xx.x.."],
    ["probability 1", { effect, probability: 1 }, "xxxxxx"],
    ["probability 0 is off", { effect, probability: 0 }, "......"],
    ["lease by hits", { effect, lease: { hits: 2 } }, "xx...."],
    ["lease by hits counts no pass", { sequence: ["pass", 503, 503, 503], lease: { hits: 2 } }, ".xx..."],
    [
      "a code that is never answered is a pass",
      { match: { operation: "*" }, sequence: ["SESSION_NOT_FOUND", 503] },
      ".x....",
    ],
  ])("triggers as described: %s [interfaces 6]", async (_name, rule, expected) => {
    expect(await run(rule, 6)).toBe(expected);
  });

  it("answers the entries of a sequence in their order [interfaces 6]", async () => {
    const faults = createFaults(1);
    faults.add({ id: "f", sequence: [503, "RATE_LIMIT_EXCEEDED", "pass", 404, 418] });
    const codes = [];
    for (let i = 0; i < 5; i++) {
      const effect = (await evaluateCall(faults, "threads.delete")).injection?.effect;
      codes.push(effect?.kind === "error" ? effect.code : effect);
    }
    // A plain 4xx is the first code of the operation with that status.
    expect(codes).toEqual(["HTTP_503", "RATE_LIMIT_EXCEEDED", undefined, "RESOURCE_NOT_FOUND", "HTTP_418"]);
  });

  it("triggers about a tenth of the calls with a probability of a tenth [interfaces 6]", async () => {
    const triggered = (await run({ effect, probability: 0.1 }, 5000)).replaceAll(".", "").length;
    expect(triggered).toBeGreaterThan(420);
    expect(triggered).toBeLessThan(580);
  });

  it("draws independently for each seed, rule and operation [interfaces 6]", async () => {
    const rule = { effect, probability: 0.5 };
    const first = await run(rule, 64);
    expect(await run(rule, 64)).toBe(first);
    expect(await run(rule, 64, 2)).not.toBe(first);
    expect(await run({ ...rule, id: "other" }, 64)).not.toBe(first);
  });

  it("draws by seed, rule, operation and call number only, never by other traffic [interfaces 6]", async () => {
    const others = ["departments.reparent", "usage.retrieve_limits", "assistants.list_history"];
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.array(fc.constantFrom("threads.delete", ...others), { minLength: 1, maxLength: 60 }),
        fc.double({ min: 0.05, max: 0.95, noNaN: true }),
        fc.boolean(),
        async (seed, traffic, probability, delayed) => {
          const delay = delayed ? { delay: { p50: 10, p99: 1000 } } : {};
          const armRule = () => {
            const faults = createFaults(seed);
            faults.add({ id: "p", probability, effect: { status: 503, ...delay } });
            return faults;
          };
          const busy = armRule();
          const seen = [];
          for (const operation of traffic) {
            const { injection } = await evaluateCall(busy, operation);
            if (operation === "threads.delete") seen.push(injection?.delay_ms ?? null);
          }
          const quiet = armRule();
          const alone = [];
          for (let i = 0; i < seen.length; i++) {
            alone.push((await evaluateCall(quiet, "threads.delete")).injection?.delay_ms ?? null);
          }
          expect(seen).toEqual(alone);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("keeps drawn delays within their percentiles [interfaces 6]", async () => {
    const faults = createFaults(3);
    faults.add({ id: "slow", effect: { delay: { p50: "100ms", p99: "1s" } } });
    const delays: number[] = [];
    for (let i = 0; i < 3000; i++)
      delays.push((await evaluateCall(faults, "threads.delete")).injection!.delay_ms);
    delays.sort((a, b) => a - b);
    expect(delays[1500]!).toBeGreaterThan(90);
    expect(delays[1500]!).toBeLessThan(110);
    expect(delays[2970]!).toBeGreaterThan(750);
    expect(delays[2970]!).toBeLessThan(1350);
    expect(delays.every(Number.isInteger)).toBe(true);
  });
});

describe("a rule about deliveries", () => {
  it("hits the deliveries of its event and no request [interfaces 6]", async () => {
    const faults = createFaults(1);
    faults.add({ id: "d", match: { event: "user.*", webhook: "wh_a" }, sequence: [500, "pass", 410] });
    const decideDelivery = (event: string, webhook_id: string) =>
      faults.evaluateDelivery({ event, webhook_id });
    expect(await decideCall(faults, "threads.delete")).toBe("-");
    expect(decideDelivery("thread.deleted", "wh_a")).toBeUndefined();
    expect(decideDelivery("user.created", "wh_b")).toBeUndefined();
    expect(decideDelivery("user.created", "wh_a")).toMatchObject({
      decision: "fault:inline/d",
      answer: { response_code: 500 },
    });
    expect(decideDelivery("user.updated", "wh_a")).toBeUndefined();
    expect(decideDelivery("user.updated", "wh_a")).toMatchObject({ answer: { response_code: 410 } });
    expect(decideDelivery("user.updated", "wh_a")).toBeUndefined();
  });

  it("delays or breaks a delivery like a receiver [interfaces 6]", () => {
    const faults = createFaults(1);
    faults.add({ id: "wire", match: { event: "*" }, effect: { wire: "reset" } });
    faults.add({ id: "slow", match: { event: "*" }, effect: { delay: "2s" } });
    expect(faults.evaluateDelivery({ event: "webhook.test", webhook_id: "wh" })).toMatchObject({
      decision: "fault:inline/wire",
      delay_ms: 2000,
      answer: { response_code: 0, error: "the connection was reset before an answer, by a fault rule" },
    });
  });
});
