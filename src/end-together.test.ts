import type { ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { endTogether } from "./end-together.ts";

afterEach(() => void vi.useRealTimers());

/** A response that tells when it is ended. */
const responses = () => {
  const ended: string[] = [];
  const response = (name: string, destroyed = false) =>
    ({ destroyed, end: (body: string) => void ended.push(`${name} ${body}`) }) as unknown as ServerResponse;
  return { ended, response };
};

test("answers that are ready in one turn of the loop are written at its end, in their order", async () => {
  const { ended, response } = responses();
  endTogether(response("a"), "1", "latin1");
  await Promise.resolve();
  endTogether(response("gone", true), "2", "latin1");
  endTogether(response("b"), "3", "latin1");
  expect(ended).toEqual([]);
  await turn();
  expect(ended).toEqual(["a 1", "b 3"]);
  endTogether(response("c"), "4", "latin1");
  await turn();
  expect(ended.at(-1)).toBe("c 4");
});

test("a test's own clock in the server's process holds no answer back", async () => {
  const { ended, response } = responses();
  vi.useFakeTimers();
  endTogether(response("a"), "1", "latin1");
  await turn();
  expect(ended).toEqual(["a 1"]);
});
