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
import { TEST_CERTIFICATE, TEST_KEY } from "../../../../test/support/receivers/test-certificate.ts";

afterEach(cleanUp);

describe("a connection to a receiver", () => {
  const keepAlive: http.RequestListener = (request, response) => {
    request.resume().on("end", () => response.end("ok"));
  };

  it("is separate for headers given as a list, unless it may be reused [interfaces 14]", async () => {
    const seen: (string | undefined)[] = [];
    const target = await startReceiver((request, response) => {
      seen.push(request.headers.connection);
      keepAlive(request, response);
    });
    const outbound = createSender();
    const listed = createPost(target.url, { headers: [["X-A", "1"]] });
    await outbound.send(createPost(target.url));
    expect((await outbound.send(listed)).reused).toBeUndefined();
    expect((await outbound.send(listed)).reused).toBeUndefined();
    expect(target.connections()).toBe(3);
    // The first request left a connection open, which these requests reuse.
    for (const _ of [1, 2]) expect((await outbound.send({ ...listed, reuse: true })).reused).toBe(true);
    expect((await outbound.send(createPost(target.url))).reused).toBe(true);
    expect(target.connections()).toBe(3);
    expect(seen).toEqual(["keep-alive", "close", "close", "keep-alive", "keep-alive", "keep-alive"]);
  });

  it("is not reused if its answer keeps it alive for 0 s [interfaces 14]", async () => {
    const target = await startReceiver((request, response) => {
      response.setHeader("Connection", "close");
      keepAlive(request, response);
    });
    const outbound = createSender();
    for (const _ of [1, 2])
      expect(
        (await outbound.send(createPost(target.url, { headers: [], reuse: true }))).reused,
      ).toBeUndefined();
    expect(target.connections()).toBe(2);
  });

  it("is reused if the receiver offers to keep it [6.4]", async () => {
    const target = await startReceiver(keepAlive);
    const outbound = createSender();
    for (let round = 0; round < 10; round += 1) await outbound.send(createPost(target.url));
    expect(target.connections()).toBe(1);
  });

  it("loses no delivery if the receiver closes it without announcing that [G24]", async () => {
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
    cleanUpLater(() => curt.close());
    const url = `http://127.0.0.1:${(curt.address() as net.AddressInfo).port}/`;
    const outbound = createSender();
    for (let round = 0; round < 30; round += 1) {
      expect((await outbound.send(createPost(url))).response_code).toBe(200);
    }
    expect(requests).toBe(30);
  });

  it("carries one request per attempt, also if it breaks while it is reused [G24]", async () => {
    let requests = 0;
    const target = await startReceiver((request, response) => {
      requests += 1;
      if (requests === 1) response.end("ok");
      else request.socket.resetAndDestroy();
    });
    const outbound = createSender();
    expect((await outbound.send(createPost(target.url))).response_code).toBe(200);
    expect((await outbound.send(createPost(target.url))).error?.kind).toBe("reset");
    expect(target.connections()).toBe(1);
    expect(requests).toBe(2);
  });

  it("has response_code 0 if it is refused or the host is unknown [G24]", async () => {
    const gone = await startHostileReceiver("silence");
    await gone.close();
    const lookup = () =>
      Promise.reject(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }));
    const outbound = createSender({ lookup });
    expect(await outbound.send(createPost(gone.url))).toMatchObject({
      response_code: 0,
      error: { kind: "refused" },
    });
    const unknown = await outbound.send(createPost("http://unknown.example.test/"));
    expect(unknown).toMatchObject({ response_code: 0, error: { kind: "dns" } });
  });

  it("uses the next address when a name's first one refuses [6.4]", async () => {
    const target = await startReceiver(keepAlive);
    const lookup = async () => [
      { address: "127.0.0.3", family: 4 as const },
      { address: "127.0.0.1", family: 4 as const },
    ];
    const result = await createSender({ lookup }).send(createPost(`http://two.example.test:${target.port}/`));
    expect(result.response_code).toBe(200);
  });

  it("ends when its attempt is cancelled or the sender is closed [G24]", async () => {
    const target = await startHostileReceiver("silence");
    const outbound = createSender();
    const signal = AbortSignal.timeout(50);
    const calledOff = await outbound.send(createPost(target.url, { timeoutMs: 10_000, signal }));
    expect(calledOff).toMatchObject({ response_code: 0, error: { kind: "aborted" } });
    const already = await outbound.send(createPost(target.url, { signal }));
    expect(already.error?.kind).toBe("aborted");
    const underWay = outbound.send(createPost(target.url, { timeoutMs: 10_000 }));
    outbound.close();
    expect((await underWay).error?.kind).toBe("aborted");
    expect((await outbound.send(createPost(target.url))).error?.kind).toBe("aborted");
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
    return startReceiver(listener, { cert: TEST_CERTIFICATE, key: TEST_KEY }).then((target) => ({
      ...target,
      names,
    }));
  };

  it("connecting to a pinned address leaves Host and SNI those of the URL [interfaces 7]", async () => {
    const { port, names } = await start();
    const outbound = createSender({ lookup: toLoopback, ca: TEST_CERTIFICATE });
    const result = await outbound.send(createPost(`https://receiver.test:${port}/hook`, { timeoutMs: 5000 }));
    expect(result).toMatchObject({ response_code: 200, body: Buffer.from("ok") });
    expect(names).toEqual([`receiver.test:${port}`, "receiver.test"]);
  });

  it("untrusted certificates, wrong names and receivers without TLS are answers of code 0 [G24]", async () => {
    const { port, names } = await start();
    const trusting = createSender({ lookup: toLoopback, ca: TEST_CERTIFICATE });
    const wary = createSender({ lookup: toLoopback });
    const plain = await startReceiver((_request, response) => response.end());
    for (const [outbound, url] of [
      [wary, `https://receiver.test:${port}/`],
      [trusting, `https://other.test:${port}/`],
      [trusting, `https://127.0.0.1:${port}/`],
      [trusting, `https://127.0.0.1:${plain.port}/`],
    ] as const) {
      const result = await outbound.send(createPost(url, { timeoutMs: 5000 }));
      expect([url, result.response_code, result.error?.kind]).toEqual([url, 0, "tls"]);
    }
    expect(names).toEqual([]);
  });
});
