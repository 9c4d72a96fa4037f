import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  type HostileBehaviour,
  startHostile,
  startRedirecting,
} from "../../test/support/receivers/hostile.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../../test/support/receivers/test-certificate.ts";
import { deliveryHeaders } from "../webhooks/sign.ts";
import { createAddressPolicy } from "./address-policy.ts";
import { createOutbound, type Outbound, type OutboundOptions } from "./outbound.ts";
import type { OutboundRequest } from "./outbound-request.ts";

const TIMEOUT_MS = 400;
const LIMIT = 64 * 1024;

let cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanup.reverse()) await undo();
  cleanup = [];
});

function sender(options: Partial<OutboundOptions> = {}): Outbound {
  const outbound = createOutbound({ policy: createAddressPolicy({ mode: "local" }), ...options });
  cleanup.push(() => outbound.close());
  return outbound;
}

function posting(url: string, changes: Partial<OutboundRequest> = {}): OutboundRequest {
  const body = Buffer.from('{"event":"user.created"}');
  return { url, method: "POST", headers: {}, body, timeoutMs: TIMEOUT_MS, ...changes };
}

async function hostile(behaviour: HostileBehaviour) {
  const receiver = await startHostile(behaviour);
  cleanup.push(() => receiver.close());
  return receiver;
}

/** A well-behaved receiver, to be told what to answer. */
async function receiver(answer: http.RequestListener, tls?: https.ServerOptions) {
  const server = tls ? https.createServer(tls, answer) : http.createServer(answer);
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanup.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as net.AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/hook`, connections: () => connections };
}

async function readAll(request: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe("answers", () => {
  it("G24 redirects are not followed: the 3xx is the answer, and its target sees no connection", async () => {
    const canary = await receiver((_request, response) => response.end());
    const redirecting = await startRedirecting(canary.url);
    cleanup.push(() => redirecting.close());
    const result = await sender().send(posting(redirecting.url));
    expect(result).toMatchObject({ response_code: 302, headers: { location: canary.url } });
    expect(canary.connections()).toBe(0);
  });

  it("6.4 at most 64 KB of an answer are kept, and only a longer one counts as truncated", async () => {
    const sizes = await receiver((request, response) => {
      const size = Number(request.url!.slice(1));
      response.setHeader("Content-Length", size);
      response.end(Buffer.alloc(size, "a"));
    });
    const outbound = sender();
    for (const size of [0, 1, LIMIT - 1, LIMIT, LIMIT + 1, 5 * LIMIT]) {
      const url = `http://127.0.0.1:${sizes.port}/${size}`;
      const { response_code, body, truncated } = await outbound.send(posting(url, { timeoutMs: 5000 }));
      expect([size, response_code, body.length, truncated]).toEqual([
        size,
        200,
        Math.min(size, LIMIT),
        size > LIMIT,
      ]);
    }
  });

  it("interfaces 14 maxAnswerBytes reads more of an answer, or less", async () => {
    const sizes = await receiver((request, response) => {
      response.end(Buffer.alloc(Number(request.url!.slice(1)), "a"));
    });
    const outbound = sender();
    for (const maxAnswerBytes of [10, 3 * LIMIT])
      for (const size of [maxAnswerBytes - 1, maxAnswerBytes, maxAnswerBytes + 1, 5 * maxAnswerBytes]) {
        const url = `http://127.0.0.1:${sizes.port}/${size}`;
        const { body, truncated } = await outbound.send(posting(url, { maxAnswerBytes, timeoutMs: 5000 }));
        expect([size, body.length, truncated]).toEqual([
          size,
          Math.min(size, maxAnswerBytes),
          size > maxAnswerBytes,
        ]);
      }
  });

  it("6.4 compressed answers stay as they were sent", async () => {
    const { body, headers } = await sender().send(posting((await hostile("gzip-bomb")).url));
    expect(headers["content-encoding"]).toBe("gzip");
    expect(body.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    expect(body.length).toBe(Number(headers["content-length"]));
  });

  it("G24 an answer that comes before a large body was read counts", async () => {
    const refusing = net.createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.pause().write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"));
    });
    refusing.listen(0, "127.0.0.1");
    await once(refusing, "listening");
    cleanup.push(() => refusing.close());
    const url = `http://127.0.0.1:${(refusing.address() as net.AddressInfo).port}/`;
    const result = await sender().send(posting(url, { body: Buffer.alloc(32 * 1024 * 1024) }));
    expect(result.response_code).toBe(413);
  });
});

describe("requests", () => {
  it("6.2 headers arrive in their documented spelling and order, the body byte for byte", async () => {
    const seen: { raw: string[]; body: Buffer; method: string | undefined; url: string | undefined }[] = [];
    const target = await receiver(async (request, response) => {
      const { rawHeaders: raw, method, url } = request;
      seen.push({ raw, method, url, body: await readAll(request) });
      response.end();
    });
    const headers = deliveryHeaders({
      event: "user.created",
      deliveryId: "del_1",
      signature: "sha256=00",
      serviceName: "Service",
    });
    const body = Buffer.from([0x7b, 0xff, 0x00, 0x0d, 0x0a, 0x7d]);
    await sender().send(posting(`${target.url}?a=1&b=%20`, { headers, body }));
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

  it("interfaces 2 the grader's variations pass: any method, header spelling, and chunked bodies", async () => {
    const seen: string[] = [];
    const target = await receiver(async (request, response) => {
      const body = await readAll(request);
      seen.push(`${request.method} ${request.rawHeaders[0]} ${request.headers["transfer-encoding"]} ${body}`);
      response.end();
    });
    const outbound = sender();
    await outbound.send(
      posting(target.url, { method: "GET", headers: { "x-SERVICE-event": "a" }, body: Buffer.alloc(0) }),
    );
    await outbound.send(
      posting(target.url, { headers: { "Transfer-Encoding": "chunked" }, body: Buffer.from("{}") }),
    );
    expect(seen).toEqual(["GET x-SERVICE-event undefined ", "POST Transfer-Encoding chunked {}"]);
  });

  it("G23 G24 what cannot be sent is a result as well, never an exception", async () => {
    const kindOf = async (url: string, changes: Partial<OutboundRequest> = {}) =>
      (await sender().send(posting(url, changes))).error?.kind;
    expect(await kindOf("nonsense")).toBe("bad_url");
    expect(await kindOf("/relative")).toBe("bad_url");
    expect(await kindOf("http://1.2.3.4.5/")).toBe("bad_url");
    expect(await kindOf("ftp://127.0.0.1/")).toBe("bad_url");
    expect(await kindOf("http://user:pass@127.0.0.1/")).toBe("bad_url");
    expect(await kindOf("http://127.0.0.1/", { headers: { "X-A": "line\r\nX-B: break" } })).toBe(
      "unsendable",
    );
    expect(await kindOf("http://127.0.0.1/", { method: "NO GOOD" })).toBe("unsendable");
  });
});

describe("connections", () => {
  const keepAlive: http.RequestListener = (request, response) => {
    request.resume().on("end", () => response.end("ok"));
  };

  it("interfaces 14 headers as a list go over a connection of their own, unless it may be reused", async () => {
    const seen: (string | undefined)[] = [];
    const target = await receiver((request, response) => {
      seen.push(request.headers.connection);
      keepAlive(request, response);
    });
    const outbound = sender();
    const listed = posting(target.url, { headers: [["X-A", "1"]] });
    await outbound.send(posting(target.url));
    expect((await outbound.send(listed)).reused).toBeUndefined();
    expect((await outbound.send(listed)).reused).toBeUndefined();
    expect(target.connections()).toBe(3);
    // The first one left a connection behind, which is taken, and left behind again.
    for (const _ of [1, 2]) expect((await outbound.send({ ...listed, reuse: true })).reused).toBe(true);
    expect((await outbound.send(posting(target.url))).reused).toBe(true);
    expect(target.connections()).toBe(3);
    expect(seen).toEqual(["keep-alive", "close", "close", "keep-alive", "keep-alive", "keep-alive"]);
  });

  it("interfaces 14 a connection whose answer offers to keep nothing is not reused", async () => {
    const target = await receiver((request, response) => {
      response.setHeader("Connection", "close");
      keepAlive(request, response);
    });
    const outbound = sender();
    for (const _ of [1, 2])
      expect((await outbound.send(posting(target.url, { headers: [], reuse: true }))).reused).toBeUndefined();
    expect(target.connections()).toBe(2);
  });

  it("6.4 connections a receiver offers to keep are used again", async () => {
    const target = await receiver(keepAlive);
    const outbound = sender();
    for (let round = 0; round < 10; round += 1) await outbound.send(posting(target.url));
    expect(target.connections()).toBe(1);
  });

  it("G24 a receiver that hangs up without announcing it loses no delivery", async () => {
    let requests = 0;
    const curt = net.createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", () => {
        requests += 1;
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        setTimeout(() => socket.destroy(), 5);
      });
    });
    curt.listen(0, "127.0.0.1");
    await once(curt, "listening");
    cleanup.push(() => curt.close());
    const url = `http://127.0.0.1:${(curt.address() as net.AddressInfo).port}/`;
    const outbound = sender();
    for (let round = 0; round < 30; round += 1) {
      expect((await outbound.send(posting(url))).response_code).toBe(200);
    }
    expect(requests).toBe(30);
  });

  it("G24 one attempt is one request, also when a kept connection breaks under it", async () => {
    let requests = 0;
    const target = await receiver((request, response) => {
      requests += 1;
      if (requests === 1) response.end("ok");
      else request.socket.resetAndDestroy();
    });
    const outbound = sender();
    expect((await outbound.send(posting(target.url))).response_code).toBe(200);
    expect((await outbound.send(posting(target.url))).error?.kind).toBe("reset");
    expect(target.connections()).toBe(1);
    expect(requests).toBe(2);
  });

  it("G24 a refused connection and an unknown host are answers of code 0", async () => {
    const gone = await hostile("silence");
    await gone.close();
    cleanup = [];
    const lookup = () =>
      Promise.reject(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }));
    const outbound = sender({ lookup });
    expect(await outbound.send(posting(gone.url))).toMatchObject({
      response_code: 0,
      error: { kind: "refused" },
    });
    const unknown = await outbound.send(posting("http://nobody.example.test/"));
    expect(unknown).toMatchObject({ response_code: 0, error: { kind: "dns" } });
  });

  it("6.4 the next address is tried when a name's first one refuses", async () => {
    const target = await receiver(keepAlive);
    const lookup = async () => [
      { address: "127.0.0.3", family: 4 as const },
      { address: "127.0.0.1", family: 4 as const },
    ];
    const result = await sender({ lookup }).send(posting(`http://two.example.test:${target.port}/`));
    expect(result.response_code).toBe(200);
  });

  it("G24 an attempt can be called off, and closing the sender ends those under way", async () => {
    const target = await hostile("silence");
    const outbound = sender();
    const signal = AbortSignal.timeout(50);
    const calledOff = await outbound.send(posting(target.url, { timeoutMs: 10_000, signal }));
    expect(calledOff).toMatchObject({ response_code: 0, error: { kind: "aborted" } });
    const already = await outbound.send(posting(target.url, { signal }));
    expect(already.error?.kind).toBe("aborted");
    const underWay = outbound.send(posting(target.url, { timeoutMs: 10_000 }));
    outbound.close();
    expect((await underWay).error?.kind).toBe("aborted");
    expect((await outbound.send(posting(target.url))).error?.kind).toBe("aborted");
  });
});

describe("TLS", () => {
  const toLoopback = async () => [{ address: "127.0.0.1", family: 4 as const }];
  const start = () => {
    const names: unknown[] = [];
    const listener: http.RequestListener = (request, response) => {
      names.push(request.headers.host, (request.socket as unknown as { servername: string }).servername);
      response.end("ok");
    };
    return receiver(listener, { cert: TEST_CERTIFICATE, key: TEST_KEY }).then((target) => ({
      ...target,
      names,
    }));
  };

  it("interfaces 7 connecting to a pinned address leaves Host and SNI those of the URL", async () => {
    const { port, names } = await start();
    const outbound = sender({ lookup: toLoopback, ca: TEST_CERTIFICATE });
    const result = await outbound.send(posting(`https://receiver.test:${port}/hook`, { timeoutMs: 5000 }));
    expect(result).toMatchObject({ response_code: 200, body: Buffer.from("ok") });
    expect(names).toEqual([`receiver.test:${port}`, "receiver.test"]);
  });

  it("G24 untrusted certificates, wrong names and receivers without TLS are answers of code 0", async () => {
    const { port, names } = await start();
    const trusting = sender({ lookup: toLoopback, ca: TEST_CERTIFICATE });
    const wary = sender({ lookup: toLoopback });
    const plain = await receiver((_request, response) => response.end());
    for (const [outbound, url] of [
      [wary, `https://receiver.test:${port}/`],
      [trusting, `https://other.test:${port}/`],
      [trusting, `https://127.0.0.1:${port}/`],
      [trusting, `https://127.0.0.1:${plain.port}/`],
    ] as const) {
      const result = await outbound.send(posting(url, { timeoutMs: 5000 }));
      expect([url, result.response_code, result.error?.kind]).toEqual([url, 0, "tls"]);
    }
    expect(names).toEqual([]);
  });
});
