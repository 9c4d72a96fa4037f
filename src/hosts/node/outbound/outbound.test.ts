import { once } from "node:events";
import type http from "node:http";
import net from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  cleanUp,
  cleanUpLater,
  createPost,
  createSender,
  startHostileReceiver,
  startReceiver,
} from "../../../../test/support/outbound-setup.ts";
import { startRedirecting } from "../../../../test/support/receivers/hostile.ts";
import { toDeliveryHeaders } from "../../../engine/webhooks/sign.ts";
import type { OutboundRequest } from "./outbound-request.ts";

const LIMIT = 64 * 1024;

afterEach(cleanUp);

async function readAll(request: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe("an answer of a receiver", () => {
  it("is final if it is a redirect: its target sees no connection [G24]", async () => {
    const canary = await startReceiver((_request, response) => response.end());
    const redirecting = await startRedirecting(canary.url);
    cleanUpLater(() => redirecting.close());
    const result = await createSender().send(createPost(redirecting.url));
    expect(result).toMatchObject({ response_code: 302, headers: { location: canary.url } });
    expect(canary.connections()).toBe(0);
  });

  it("is kept up to 64 KB, and only a longer one counts as truncated [6.4]", async () => {
    const sizes = await startReceiver((request, response) => {
      const size = Number(request.url!.slice(1));
      response.setHeader("Content-Length", size);
      response.end(Buffer.alloc(size, "a"));
    });
    const outbound = createSender();
    for (const size of [0, 1, LIMIT - 1, LIMIT, LIMIT + 1, 5 * LIMIT]) {
      const url = `http://127.0.0.1:${sizes.port}/${size}`;
      const { response_code, body, truncated } = await outbound.send(createPost(url, { timeoutMs: 5000 }));
      expect([size, response_code, body.length, truncated]).toEqual([
        size,
        200,
        Math.min(size, LIMIT),
        size > LIMIT,
      ]);
    }
  });

  it("is read up to maxAnswerBytes [interfaces 14]", async () => {
    const sizes = await startReceiver((request, response) => {
      response.end(Buffer.alloc(Number(request.url!.slice(1)), "a"));
    });
    const outbound = createSender();
    for (const maxAnswerBytes of [10, 3 * LIMIT])
      for (const size of [maxAnswerBytes - 1, maxAnswerBytes, maxAnswerBytes + 1, 5 * maxAnswerBytes]) {
        const url = `http://127.0.0.1:${sizes.port}/${size}`;
        const { body, truncated } = await outbound.send(createPost(url, { maxAnswerBytes, timeoutMs: 5000 }));
        expect([size, body.length, truncated]).toEqual([
          size,
          Math.min(size, maxAnswerBytes),
          size > maxAnswerBytes,
        ]);
      }
  });

  it("is not decompressed [6.4]", async () => {
    const { body, headers } = await createSender().send(
      createPost((await startHostileReceiver("gzip-bomb")).url),
    );
    expect(headers["content-encoding"]).toBe("gzip");
    expect(body.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    expect(body.length).toBe(Number(headers["content-length"]));
  });

  it("counts even if it arrives before the whole request body was read [G24]", async () => {
    const refusing = net.createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.pause().write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"));
    });
    refusing.listen(0, "127.0.0.1");
    await once(refusing, "listening");
    cleanUpLater(() => refusing.close());
    const url = `http://127.0.0.1:${(refusing.address() as net.AddressInfo).port}/`;
    const result = await createSender().send(
      createPost(url, { body: Buffer.alloc(32 * 1024 * 1024), timeoutMs: 30_000 }),
    );
    expect(result.response_code).toBe(413);
  });
});

describe("a request to a receiver", () => {
  it("has its headers in the documented spelling and order, and its body byte for byte [6.2]", async () => {
    const seen: { raw: string[]; body: Buffer; method: string | undefined; url: string | undefined }[] = [];
    const target = await startReceiver(async (request, response) => {
      const { rawHeaders: raw, method, url } = request;
      seen.push({ raw, method, url, body: await readAll(request) });
      response.end();
    });
    const headers = toDeliveryHeaders({
      event: "user.created",
      deliveryId: "del_1",
      signature: "sha256=00",
      serviceName: "Service",
    });
    const body = Buffer.from([0x7b, 0xff, 0x00, 0x0d, 0x0a, 0x7d]);
    await createSender().send(createPost(`${target.url}?a=1&b=%20`, { headers, body }));
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ method: "POST", url: "/hook?a=1&b=%20" });
    expect(seen[0]!.body).toEqual(body);
    const sent = Object.entries(headers).flat();
    expect(seen[0]!.raw.slice(0, sent.length)).toEqual(sent);
    expect(seen[0]!.raw.filter((_text, index) => index % 2 === 0).slice(5)).toEqual([
      "Host",
      "Connection",
      "Content-Length",
    ]);
  });

  it("may have any method, header spelling and chunked body, for the grader [interfaces 2]", async () => {
    const seen: string[] = [];
    const target = await startReceiver(async (request, response) => {
      const body = await readAll(request);
      seen.push(`${request.method} ${request.rawHeaders[0]} ${request.headers["transfer-encoding"]} ${body}`);
      response.end();
    });
    const outbound = createSender();
    await outbound.send(
      createPost(target.url, { method: "GET", headers: { "x-SERVICE-event": "a" }, body: Buffer.alloc(0) }),
    );
    await outbound.send(
      createPost(target.url, { headers: { "Transfer-Encoding": "chunked" }, body: Buffer.from("{}") }),
    );
    expect(seen).toEqual(["GET x-SERVICE-event undefined ", "POST Transfer-Encoding chunked {}"]);
  });

  it("is a result, never an exception, if it cannot be sent [G24, G23]", async () => {
    const getKind = async (url: string, changes: Partial<OutboundRequest> = {}) =>
      (await createSender().send(createPost(url, changes))).error?.kind;
    expect(await getKind("nonsense")).toBe("bad_url");
    expect(await getKind("/relative")).toBe("bad_url");
    expect(await getKind("http://1.2.3.4.5/")).toBe("bad_url");
    expect(await getKind("ftp://127.0.0.1/")).toBe("bad_url");
    expect(await getKind("http://user:pass@127.0.0.1/")).toBe("bad_url");
    expect(await getKind("http://127.0.0.1/", { headers: { "X-A": "line\r\nX-B: break" } })).toBe(
      "unsendable",
    );
    expect(await getKind("http://127.0.0.1/", { method: "NO GOOD" })).toBe("unsendable");
  });
});
