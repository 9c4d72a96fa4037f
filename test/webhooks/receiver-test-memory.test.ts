import { describe, expect, it } from "vitest";
import { processAgain } from "../support/receivers/flawed/flaw.ts";
import { type Answer, startReceiver } from "../support/receivers/flawed/flawed-receiver.ts";
import { grade, SECRET } from "../support/receivers/grade-setup.ts";

/** Not a multiple of the number of concurrent deliveries. */
const OTHERS = 7;

/**
 * Grades a receiver that remembers `remembers` deliveries and gives `answer(n)` to the nth of the others. Returns the
 * result of `long-memory`, and the ids received between the delivery and its repetition.
 */
async function gradeMemory({
  remembers = Infinity,
  answer = () => null,
}: {
  remembers?: number;
  answer?: (n: number) => Answer | null;
}) {
  const arrived: string[] = [];
  const remembered: string[] = [];
  const { url, probe, close } = await startReceiver(SECRET, {
    consider(_context, { delivery_id: id }) {
      const isOther = arrived.length >= 2 && !arrived.includes(id);
      arrived.push(id);
      // The first two deliveries are that of valid-accepted and the one that is repeated.
      return isOther ? answer(arrived.length - 2) : null;
    },
    process(context, payload) {
      if (remembered.includes(payload.delivery_id)) return [200];
      remembered.push(payload.delivery_id);
      if (remembered.length > remembers) remembered.shift();
      return processAgain(context, payload);
    },
  });
  try {
    const { checks } = await grade(url, { probe, only: ["long-memory"], memoryDeliveries: OTHERS });
    const { outcome, detail } = checks.find(({ id }) => id === "long-memory")!;
    return { outcome, detail, between: arrived.slice(2, arrived.indexOf(arrived[1]!, 2)) };
  } finally {
    await close();
  }
}

describe("long-memory repeats a delivery after others", () => {
  it("sends the requested number of new deliveries and reports it [interfaces 14]", async () => {
    const { outcome, detail, between } = await gradeMemory({});
    expect(new Set(between).size).toBe(OTHERS);
    expect(between).toHaveLength(OTHERS);
    expect(outcome).toBe("passed");
    expect(detail).toMatch(/^a repetition after 7 others, and one after \d+(\.\d)? s, had no side effect$/);
  });

  it("reports after how many deliveries one was forgotten [interfaces 14]", async () => {
    const { outcome, detail } = await gradeMemory({ remembers: OTHERS });
    expect(outcome).toBe("failed");
    expect(detail).toBe("a repetition after 7 others was processed again");
  });

  it("does not count deliveries that the receiver failed [interfaces 14]", async () => {
    const { detail, between } = await gradeMemory({ answer: (n) => (n % 2 === 0 ? [500] : null) });
    expect(between).toHaveLength(OTHERS);
    expect(detail).toContain("after 4 others, ");
  });

  it.each<[status: number, headers: Record<string, string>]>([
    [429, { "Retry-After": "60" }],
    [503, { "Retry-After": "60" }],
    [503, {}],
  ])(
    "stops sending to a receiver that asks the client to wait: %i %j [interfaces 14]",
    async (status, headers) => {
      const { outcome, detail, between } = await gradeMemory({ answer: () => [status, "", headers] });
      // The four deliveries that were sent concurrently.
      expect(between).toHaveLength(4);
      expect(outcome).toBe("not-observable");
      expect(detail).toMatch(
        new RegExp(
          `^it accepted 0 of 7 others, then the receiver answered ${status} .*; a repetition after these, and one after`,
        ),
      );
    },
  );

  it("fails a receiver that forgot before it was rate-limited [interfaces 14]", async () => {
    const { outcome, detail } = await gradeMemory({
      remembers: 2,
      answer: (n) => (n > 4 ? [503] : null),
    });
    expect(outcome).toBe("failed");
    expect(detail).toMatch(/^a repetition after 4 others was processed again/);
  });
});
