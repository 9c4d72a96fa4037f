import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openReceiver } from "../../src/tools/verify/receiver.ts";
import { type Api, startReference } from "../support/harness.ts";

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const HEAD = "HTTP/1.1\r\nHost: x\r\n";
const REFUSED = [
  { name: "CONNECT", bytes: `CONNECT x:443 ${HEAD}\r\n` },
  { name: "CONNECT with bytes of a tunnel", bytes: `CONNECT x:443 ${HEAD}\r\n${"x".repeat(70_000)}` },
  { name: "an unknown method", bytes: `NONE / ${HEAD}\r\n` },
  { name: "an unknown expectation", bytes: `POST / ${HEAD}Expect: 1\r\n\r\n` },
  {
    name: "a protocol that is not spoken",
    bytes: `GET / ${HEAD}Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n`,
  },
];

describe("a connection that the client resets after its request", () => {
  it.each(REFUSED)("leaves the server running: $name", async ({ bytes }) => {
    for (const delay of [0, 1, 20]) {
      const socket = connect(Number(new URL(api.url).port), "127.0.0.1").on("error", () => {});
      await once(socket, "connect");
      socket.write(bytes);
      await sleep(delay);
      socket.resetAndDestroy();
    }
    await sleep(50);
    // An unhandled error event would have failed this file as an uncaught exception.
    expect((await fetch(`${api.url}/_control/health`)).status).toBe(200);
  });

  it("leaves verify running during a delivery, which is not counted", async () => {
    const receiver = await openReceiver();
    const socket = connect(Number(new URL(receiver.url).port), "127.0.0.1").on("error", () => {});
    await once(socket, "connect");
    socket.write(`POST /hook ${HEAD}Content-Length: 100\r\n\r\n{`);
    await sleep(50);
    socket.resetAndDestroy();
    await sleep(50);
    expect((await fetch(receiver.url, { method: "POST", body: "{}" })).status).toBe(204);
    expect(receiver.deliveries).toHaveLength(1);
    receiver.close();
  });
});
