import { expect, test } from "vitest";
import type { KeptRoot } from "../state/kept-root.ts";
import { EntryStates, type KeptState } from "./entry-states.ts";

const root = (name: string) => ({ name }) as unknown as KeptRoot;
const state = (at: KeptRoot, now: number) =>
  ({
    root: at,
    now,
    requests: 7,
    frame: { uploads: "some" },
    windows: "some",
    counted: undefined,
  }) as unknown as KeptState;

test("interfaces 10 what an entry began from stays as it was, however far its act goes on", () => {
  const [first, second, third] = [root("first"), root("second"), root("third")];
  const states = new EntryStates(first, state(second, 1000), { cost: 1 });
  expect(states.before).toEqual(state(first, 1000));
  const daysLater = 2000 + 400 * 86_400_000;
  states.after = state(third, daysLater);
  expect(states.after).toEqual(state(third, daysLater));
  expect(states.before).toEqual(state(first, 1000));
});

test("interfaces 10 a request's own traces are not in the state before it", () => {
  const counted = { key_id: "key_1", minute: 8 };
  const asked = { id: "req_1", number: 6, counted, uploads: undefined };
  const states = new EntryStates(root("first"), state(root("second"), 1000), { cost: 1, request: asked });
  expect(states.before).toMatchObject({ requests: 6, counted, frame: { uploads: "some" } });
  expect(states.after.requests).toBe(7);
  const bringing = { ...asked, uploads: { seen: "none" } };
  const brought = new EntryStates(root("first"), state(root("second"), 1000), { cost: 1, request: bringing });
  expect(brought.before.frame.uploads).toBe("none");
});
