import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type * as ReadBody from "./read-body.ts";

let { BODY_IDLE_MS, ClientGone, readBody } = {} as typeof ReadBody;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  // The one timer of all bodies may be at work already, in real time, for those of other tests.
  vi.resetModules();
  ({ BODY_IDLE_MS, ClientGone, readBody } = await import("./read-body.ts"));
});
afterEach(() => {
  // The one timer of all bodies rests once it finds none.
  vi.advanceTimersByTime(2000);
  vi.useRealTimers();
});

/** A request whose body comes as the test says. */
function arriving(): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), { headers: {} }) as unknown as PassThrough & IncomingMessage;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("readBody", () => {
  it("quality 2.10 a body that goes on coming is read however long it takes", async () => {
    const request = arriving();
    const body = readBody(request, 100);
    for (const piece of ["one ", "two ", "three ", "four"]) {
      request.write(piece);
      await turn();
      vi.advanceTimersByTime(BODY_IDLE_MS - 1000);
    }
    request.end();
    expect((await body).toString()).toBe("one two three four");
  });

  it("quality 2.10 a body that stops coming is given up, and not before its time", async () => {
    const request = arriving();
    const body = readBody(request, 100).catch((error: unknown) => error);
    request.write("one");
    await turn();
    vi.advanceTimersByTime(BODY_IDLE_MS - 1000);
    expect(request.destroyed).toBe(false);
    vi.advanceTimersByTime(1000);
    expect(request.destroyed).toBe(true);
    expect(await body).toBeInstanceOf(ClientGone);
  });
});
