import { describe, expect, it } from "vitest";
import type { SandboxCalls } from "./calls.ts";
import { undoEntry } from "./undo.ts";

/** Calls of a sandbox with this history, newest first; `rewound` has the ids of the rewinds. */
function createCalls(entries: readonly { id: string; cause: string | null; kind?: string }[]) {
  const rewound: string[] = [];
  const history = entries.map(({ kind = "request", ...one }, index) => {
    const sequence = entries.length - index;
    return { ...one, kind, sequence, advanced_by: null, undone: false, title: `Change ${one.id}.` };
  });
  const calls = {
    history: async () => ({ entries: history }),
    historyEntry: async (id: string) => {
      const effects = history.filter(({ cause }) => cause === id).map((effect) => effect.id);
      return { ...history.find((one) => one.id === id)!, effects };
    },
    rewind: async (id: string) => void rewound.push(id),
  };
  return { calls: calls as unknown as SandboxCalls, rewound };
}

describe("the console's Undo", () => {
  const trigger = { id: "h_1", cause: null };
  const jobEnd = { id: "h_2", cause: "h_1", kind: "timer" };
  const delivery = { id: "h_3", cause: "h_2", kind: "delivery" };

  it("undoes a change with its effects, and with theirs [interfaces 10]", async () => {
    const { calls, rewound } = createCalls([delivery, jobEnd, trigger]);
    await undoEntry(calls, "h_1");
    expect(rewound).toEqual(["h_1"]);
  });

  it("names the first change after it that is not its effect [interfaces 10]", async () => {
    const { calls, rewound } = createCalls([
      { id: "h_5", cause: "h_4" },
      { id: "h_4", cause: null },
      delivery,
      jobEnd,
      trigger,
    ]);
    await expect(undoEntry(calls, "h_1")).rejects.toThrow("what happened after it: Change h_4. To undo all");
    expect(rewound).toEqual([]);
  });
});
