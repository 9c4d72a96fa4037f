import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, it } from "vitest";
import type { ControlServer } from "./operation.ts";
import { ReceivedControlCall } from "./received-call.ts";

it("interfaces 14 a call knows when its client leaves, also where it had left before anybody asked", () => {
  const response = Object.assign(new EventEmitter(), { destroyed: false });
  const request = { headers: { host: "h:1" } } as unknown as IncomingMessage;
  const exchange = { request, response: response as unknown as ServerResponse };
  const call = new ReceivedControlCall({} as ControlServer, exchange, { params: {}, sandbox: undefined });
  const { signal } = call;
  expect([call.origin, signal.aborted]).toEqual(["http://h:1", false]);
  response.emit("close");
  expect([signal.aborted, response.listenerCount("close")]).toEqual([true, 0]);
  response.destroyed = true;
  expect(call.signal.aborted).toBe(true);
});
