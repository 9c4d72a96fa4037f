import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type * as ReadBody from "./read-body.ts";

let { BODY_IDLE_MS, ClientGone, parseJson, readBody } = {} as typeof ReadBody;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  // The one timer of all bodies may be at work already, in real time, for those of other tests.
  vi.resetModules();
  ({ BODY_IDLE_MS, ClientGone, parseJson, readBody } = await import("./read-body.ts"));
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

describe("parseJson", () => {
  const json = { headers: { "content-type": "application/json" } } as IncomingMessage;
  const parsed = (text: string, maxValues?: number) =>
    parseJson(json, Buffer.from(text), { optional: false, ...(maxValues && { maxValues }) }).value;
  const nested = (depth: number, inner = "") => "[".repeat(depth) + inner + "]".repeat(depth);

  it("quality 2.11 a document nests a hundred levels deep, and no deeper", () => {
    expect(JSON.stringify(parsed(nested(100)))).toBe(nested(100));
    expect(JSON.stringify(parsed(nested(100, "{}").slice(1, -1)))).toBe(nested(99, "{}"));
    for (const text of [nested(101), nested(100, "{}"), `${nested(50)}${"[".repeat(101)}`])
      expect(() => parsed(text)).toThrow(expect.objectContaining({ code: "INVALID_JSON" }));
  });

  it("quality 2.11 what stands in its texts nests nothing, whatever the letters", () => {
    const texts = ["[{".repeat(200), `\\"${"[".repeat(200)}`, `\u00eb\u{1f600}${"{".repeat(200)}\\`];
    for (const text of texts) expect(parsed(JSON.stringify([text]))).toEqual([text]);
  });

  it("quality 2.11 a document has no more keys and list entries than it may have", () => {
    const list = (count: number) => JSON.stringify(Array.from({ length: count }, () => "a,b"));
    expect(parsed(list(50), 50)).toHaveLength(50);
    expect(() => parsed(list(51), 50)).toThrow(expect.objectContaining({ code: "INVALID_JSON" }));
  });
});
