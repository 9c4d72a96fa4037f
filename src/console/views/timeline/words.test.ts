import { describe, expect, it } from "vitest";
import type { HistoryEntry } from "../../api/types.ts";
import { changesOf, waitWords } from "./words.ts";

const changed = (changes: HistoryEntry["changes"]) => changesOf({ entry: { changes } } as never);

describe("changesOf", () => {
  it("interfaces 10 tells of one as of one, and of more as of more", () => {
    const none = { added: 0, removed: 0, changed: 0 };
    expect(changed({ deliveries: { ...none, added: 1 }, webhooks: { ...none, changed: 1 } })).toBe(
      "+1 delivery, ~1 webhook",
    );
    expect(changed({ messages: { ...none, removed: 2 }, store_files: { ...none, changed: 1 } })).toBe(
      "−2 messages, ~1 store file",
    );
    expect(
      changed({ usage: { ...none, changed: 1 }, dashboards: { added: 1, removed: 1, changed: 0 } }),
    ).toBe("~1 usage, +1 −1 dashboards");
  });
});

describe("waitWords", () => {
  it("says a wait as short as it can be said", () => {
    expect([0, 34, 999, 1000, 12_345, 59_990, 61_000].map(waitWords)).toEqual([
      "0 ms",
      "34 ms",
      "999 ms",
      "1.0 s",
      "12.3 s",
      "60.0 s",
      "1 min",
    ]);
  });
});
