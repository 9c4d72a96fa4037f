import type { IncomingMessage, ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import timers from "node:timers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readBytes } from "../../engine/pipeline/read-body.ts";
import { BODY_IDLE_MS, NodeRequest, TIMERS } from "./node-request.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  vi.spyOn(TIMERS, "setInterval").mockImplementation(setInterval as never);
  vi.spyOn(TIMERS, "clearInterval").mockImplementation(clearInterval);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A chunked request whose pieces are sent when the test says so. */
function createArrivingBody() {
  const stream = new PassThrough();
  const socket = { bytesRead: 0 };
  const fields = { method: "POST", url: "/", headers: { "transfer-encoding": "chunked" }, rawHeaders: [] };
  const incoming = Object.assign(stream, { ...fields, socket, complete: false });
  const plain = new NodeRequest(incoming as unknown as IncomingMessage, {} as ServerResponse);
  const send = async (piece: string) => {
    socket.bytesRead += piece.length;
    incoming.write(piece);
    await turn();
  };
  const end = () => {
    incoming.complete = true;
    incoming.end();
  };
  return { incoming, plain, send, end };
}

describe("a body that arrives slowly", () => {
  it("is read to its end as long as bytes arrive [quality 2.10]", async () => {
    const { plain, send, end } = createArrivingBody();
    const body = readBytes(plain, 100);
    for (const piece of ["one ", "two ", "three ", "four"]) {
      await send(piece);
      vi.advanceTimersByTime(BODY_IDLE_MS - 1000);
    }
    end();
    expect(new TextDecoder().decode(await body)).toBe("one two three four");
  });

  it("is aborted once its client stops sending, and not before [quality 2.10]", async () => {
    const { incoming, plain, send } = createArrivingBody();
    const body = readBytes(plain, 100).catch((error: unknown) => error);
    await send("one");
    vi.advanceTimersByTime(BODY_IDLE_MS);
    expect(incoming.destroyed).toBe(false);
    vi.advanceTimersByTime(1000);
    expect(incoming.destroyed).toBe(true);
    expect(await body).toMatchObject({ name: "ClientGoneError" });
  });
});

it("a body whose client waits for the server to read is not cut off [quality 2.10]", async () => {
  const { incoming, plain, send, end } = createArrivingBody();
  const { body } = plain;
  await send("x".repeat(incoming.readableHighWaterMark));
  vi.advanceTimersByTime(2 * BODY_IDLE_MS);
  expect(incoming.destroyed).toBe(false);
  end();
  for await (const piece of body) expect(piece.length).toBe(incoming.readableHighWaterMark);
});

it("a body is not cut off by the fake time of a test that runs the server", async () => {
  vi.restoreAllMocks();
  // Replaces setInterval of node:timers too, not only the global, as sinon does.
  vi.spyOn(timers, "setInterval").mockImplementation(setInterval as never);
  const { incoming, plain, send, end } = createArrivingBody();
  const body = readBytes(plain, 100);
  await send("one");
  vi.advanceTimersByTime(10 * BODY_IDLE_MS);
  expect(incoming.destroyed).toBe(false);
  end();
  expect(new TextDecoder().decode(await body)).toBe("one");
});

it.each([
  ["/v1/models?a=1", "/v1/models?a=1"],
  ["http://any.test/v1/models?a=1", "/v1/models?a=1"],
  ["http://any.test", "/"],
  ["http://any.test?a=1", "/?a=1"],
])("the request target %s is read as %s", (url, target) => {
  const incoming = { method: "GET", url, headers: {}, rawHeaders: [] } as unknown as IncomingMessage;
  expect(new NodeRequest(incoming, {} as ServerResponse).target).toBe(target);
});
