import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { converse } from "../../../test/support/hostile/raw-socket.ts";
import { sign, toDeliveryHeaders } from "../../engine/webhooks/sign.ts";
import { createListener, formatDelivery, type ListenerOptions, type ReceivedDelivery } from "./listen.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const listener of open.splice(0)) await listener.close();
});

async function listen(options: Partial<ListenerOptions> = {}) {
  const heard: { delivery: ReceivedDelivery; text: string }[] = [];
  const listener = await createListener({
    port: 0,
    onDelivery: (delivery) => heard.push({ delivery, text: formatDelivery(delivery) }),
    ...options,
  });
  open.push(listener);
  const send = (body: string, { secret = "whsec_right", id = "del_1" } = {}) =>
    fetch(`${listener.url}/any/path`, {
      method: "POST",
      body,
      headers: toDeliveryHeaders({
        event: "user.created",
        deliveryId: id,
        signature: sign(secret, Buffer.from(body)),
        serviceName: "Service",
      }),
    });
  return { listener, heard, send };
}

describe("understudy listen [interfaces 2]", () => {
  it("shows event, delivery, attempt, verdict and answer on any path [interfaces 2]", async () => {
    const { heard, send } = await listen({ answers: [500, 200], secret: "whsec_right" });
    expect((await send('{"a":1}')).status).toBe(500);
    expect((await send('{"a":1}')).status).toBe(200);
    expect((await send('{"a":1}', { id: "del_2" })).status).toBe(200);
    expect(heard.map(({ delivery }) => delivery.attempt)).toEqual([1, 2, 1]);
    expect(heard[1]!.text).toMatch(
      /user\.created {2}del_1 {2}attempt 2 {2}signature VALID {2}-> 200\n {2}\{"a":1\}$/,
    );
  });

  it("explains a mismatch and shows the bytes that should have been signed [6.3]", async () => {
    const { heard, send } = await listen({ secret: "whsec_right" });
    await send('{"é":1}\n', { secret: "right" });
    const { text } = heard[0]!;
    expect(text).toContain("signature INVALID");
    expect(text).toContain("without its whsec_ prefix");
    expect(text).toContain("the 9 bytes of the body");
    expect(text).toContain('000000  7b 22 c3 a9 22 3a 31 7d 0a                       {"..":1}.');
    expect(text).not.toContain("whsec_right");
  });

  it.each([
    ["without its prefix", "right", /whsec_ before it \(it was given without\)/],
    ["with its prefix twice", "whsec_whsec_right", /\(it was given with it twice\)/],
    ["with a line end", "whsec_right\n", /line ends around it/],
  ])("reports that its own secret was given %s [6.3]", async (_name, secret, reason) => {
    const { heard, send } = await listen({ secret });
    await send("{}");
    expect(heard[0]!.text).toMatch(reason);
    expect(heard[0]!.text).toMatch(/fix: .*exactly as it was shown at creation/);
  });

  it("distinguishes a missing signature from a missing secret [6.3]", async () => {
    const checked = await listen({ secret: "whsec_right" });
    await fetch(checked.listener.url, { method: "POST", body: "{}" });
    expect(checked.heard[0]!.text).toContain("signature MISSING");
    const unchecked = await listen();
    await unchecked.send("{}");
    expect(unchecked.heard[0]!.text).toContain("not checked (no --secret)");
  });

  it.each([
    ["TLS", "\u0016\u0003\u0001\u0002\u0000\u0001", 400, /it is TLS, and this port speaks plain HTTP/],
    ["no HTTP", "HELLO\r\n\r\n", 400, /does not begin with a method of HTTP/],
    ["CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 405, /CONNECT/],
    ["no Host", "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 400, /Host/],
    ["an unknown Expect", "POST / HTTP/1.1\r\nHost: a\r\nExpect: b\r\n\r\n", 417, /Expect/],
    [
      "a compressed transfer coding, whose bytes no signature fits",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
      501,
      /gzip, chunked\\" is not supported/,
    ],
  ])(
    "says why it refuses a sender that speaks %s, and keeps running [G09]",
    async (_name, text, status, reason) => {
      const { listener, heard, send } = await listen();
      const { answers } = await converse(Number(new URL(listener.url).port), [text]);
      expect(answers.map((answer) => answer.status)).toEqual([status]);
      expect(answers[0]!.body).toMatch(reason);
      if (status === 405) expect(answers[0]!.headers).toHaveProperty("allow");
      expect((await send("{}")).status).toBe(200);
      expect(heard).toHaveLength(1);
    },
  );

  it("survives a sender that resets its connection after CONNECT [G09]", async () => {
    const { listener, send } = await listen();
    const socket = connect(Number(new URL(listener.url).port), "127.0.0.1");
    socket.write("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(socket, "data");
    socket.resetAndDestroy();
    expect((await send("{}")).status).toBe(200);
  });

  it("ends although a refused sender leaves its connection open", async () => {
    const listener = await createListener({ port: 0, onDelivery: () => {} });
    const socket = connect({
      port: Number(new URL(listener.url).port),
      host: "127.0.0.1",
      allowHalfOpen: true,
    });
    socket.on("error", () => {});
    socket.write("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(socket, "data");
    await expect(listener.close()).resolves.toBeUndefined();
    socket.destroy();
  });

  it("shows the path of a request whose target is a whole URL", async () => {
    const { listener, heard } = await listen();
    const request = "POST http://a/hook?b=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    await converse(Number(new URL(listener.url).port), [request]);
    expect(heard[0]!.delivery.path).toBe("/hook?b=1");
  });

  it("keeps a delivery's text from controlling the terminal [interfaces 2]", async () => {
    const { heard, send } = await listen();
    await send("\u001b[2J\u009b\u202e");
    expect(heard[0]!.text).not.toContain("\u001b");
    expect(heard[0]!.text).toContain("\\u001b[2J\\u009b\\u202e");
  });

  it("simulates hang and reset, and reports a port in use [interfaces 2]", async () => {
    const { listener, send } = await listen({ answers: ["reset"] });
    await expect(send("{}")).rejects.toThrow();
    const port = Number(new URL(listener.url).port);
    await expect(createListener({ port, onDelivery: () => {} })).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
  });
});
