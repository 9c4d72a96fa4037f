import { expect, test } from "vitest";
import type { KeptRoot } from "../state/kept-root.ts";
import { CountedWindows } from "./counted-windows.ts";
import { EntryStates, type KeptState } from "./entry-states.ts";

const root = (name: string) => ({ name }) as unknown as KeptRoot;
/** What two keys have used, the more the later. */
const windows = (now: number) =>
  CountedWindows.none
    .set("key_1", { minute: 8, requests: 1, tokens: 0 })
    .set("key_2", { minute: 9, requests: now, tokens: now + 1 });
const state = (at: KeptRoot, now: number) =>
  ({
    root: at,
    now,
    requests: 7,
    frame: { uploads: "some" },
    windows: windows(now),
    counted: undefined,
  }) as unknown as KeptState;

test("interfaces 10 what an entry began from stays as it was, however far its act goes on", () => {
  const [first, second, third] = [root("first"), root("second"), root("third")];
  const states = new EntryStates(first, state(second, 1000), { cost: 1 });
  expect(states.before).toEqual(state(first, 1000));
  expect(states.after.windows.entries()).toEqual(windows(1000).entries());
  const daysLater = 2000 + 400 * 86_400_000;
  states.after = state(third, daysLater);
  expect(states.after).toEqual(state(third, daysLater));
  expect(states.before).toEqual(state(first, 1000));
  states.before = state(second, 1000);
  expect(states.before).toEqual(state(second, 1000));
  expect(states.after).toEqual(state(third, daysLater));
});

test("interfaces 10 a request's own traces are not in the state before it", () => {
  const counted = { key_id: "key_1", minute: 8 };
  const asked = { idSeed: 0, number: 6, summary: "Write", principal: undefined, counted, uploads: undefined };
  const states = new EntryStates(root("first"), state(root("second"), 1000), { cost: 1, request: asked });
  expect(states.before).toMatchObject({ requests: 6, counted, frame: { uploads: "some" } });
  expect(states.after.requests).toBe(7);
  const bringing = { ...asked, uploads: { seen: "none" } };
  const brought = new EntryStates(root("first"), state(root("second"), 1000), { cost: 1, request: bringing });
  expect(brought.before.frame.uploads).toBe("none");
});
