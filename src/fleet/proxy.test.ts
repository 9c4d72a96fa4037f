import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  type AddressInfo,
  connect,
  createServer as createNetServer,
  type Server as NetServer,
} from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { NodeProxy, type ProxyResult } from "./proxy.ts";
import { ReplayableBody } from "./replayable-body.ts";

const open: (Server | NetServer)[] = [];
let proxy: NodeProxy;

afterEach(async () => {
  proxy.close();
  for (const server of open.splice(0)) {
    if ("closeAllConnections" in server) server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen<S extends Server | NetServer>(server: S): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(server);
  return (server.address() as AddressInfo).port;
}

/** A node that forwards every request to the port `owner`, and the results. */
async function startFront(owner: number) {
  proxy = new NodeProxy("http://127.0.0.1:1");
  const target = { url: `http://127.0.0.1:${owner}`, session: "s" };
  const results: ProxyResult[] = [];
  const port = await listen(
    createServer(async (request, response) => {
      results.push(await proxy.forward({ request, response, body: new ReplayableBody(request) }, target));
    }),
  );
  return { port, results, target };
}

const startOwner = (handle: (request: IncomingMessage, response: ServerResponse) => void) =>
  listen(createServer(handle));

/** An owner that answers each request with these bytes, and then closes the connection if `ends`. */
const startByteOwner = (pieces: readonly (string | Buffer)[], ends: boolean) =>
  listen(
    createNetServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", async () => {
        for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve));
        if (ends) socket.end();
      });
    }),
  );

/** Sends these bytes, and returns everything that is received until the other side closes. */
const exchange = (port: number, sent: string): Promise<string> => {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(sent, "latin1");
  return text(socket.setEncoding("latin1"));
};

function deferred() {
  let resolve!: () => void;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const GET = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const withMethod = (method: string) => GET.replace("GET", method);

describe("a request that is forwarded to its owner [interfaces 15]", () => {
  it("an answer keeps the owner's bytes and headers, with their case and order [interfaces 15]", async () => {
    const body = "\u00e9\u0000\u00ff";
    const head = `HTTP/1.1 201 Made\r\nX-One: 1\r\nset-cookie: a\r\nSet-Cookie: b\r\nContent-Length: ${body.length}\r\n`;
    const of = await startByteOwner(
      [Buffer.from(`${head}Keep-Alive: timeout=5\r\n\r\n${body}`, "latin1")],
      false,
    );
    const { port, results } = await startFront(of);
    expect(await exchange(port, GET)).toBe(`${head}Connection: close\r\n\r\n${body}`);
    expect([results, proxy.forwardedCount, proxy.listOwners()]).toEqual([["answered"], 1, []]);
  });

  it("an answer keeps its trailers, and none are announced to a client that gets no chunks [interfaces 15]", async () => {
    const head = "HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nX-Latin: \u00e9\r\nTransfer-Encoding: chunked\r\n";
    const rest = "2\r\nok\r\n0\r\nX-Sum: 42\r\n\r\n";
    const { port } = await startFront(
      await startByteOwner([Buffer.from(`${head}\r\n${rest}`, "latin1")], false),
    );
    expect(await exchange(port, GET)).toBe(`${head}Connection: close\r\n\r\n${rest}`);
    const old = GET.replace("HTTP/1.1", "HTTP/1.0").replace("Host", "Trailer: X-Up\r\nHost");
    expect(await exchange(port, old)).toBe(
      "HTTP/1.1 200 OK\r\nX-Latin: \u00e9\r\nConnection: close\r\n\r\nok",
    );
  });

  it("an answer in pieces, or a large one, arrives complete [interfaces 15]", async () => {
    const large = Buffer.alloc(3_000_000, "0123456789");
    const of = await startOwner((request, response) => {
      if (request.url === "/large") return void response.setHeader("content-length", large.length).end(large);
      response.writeHead(200, { "content-length": "6" });
      response.write("abc", () => setImmediate(() => response.end("def")));
    });
    const { port } = await startFront(of);
    expect(await exchange(port, GET)).toMatch(/\r\n\r\nabcdef$/);
    const got = await fetch(`http://127.0.0.1:${port}/large`);
    expect(Buffer.from(await got.arrayBuffer()).equals(large)).toBe(true);
  });

  it("is answered with the head alone for HEAD, 204, 304 and no length [interfaces 15]", async () => {
    const of = await startOwner((request, response) => {
      const status = Number(request.url!.slice(1)) || 200;
      response.writeHead(status, { "content-length": status === 200 && request.method === "GET" ? 0 : 7 });
      response.end();
    });
    const { port } = await startFront(of);
    expect(await exchange(port, withMethod("HEAD"))).toMatch(/content-length: 7\r\n(.+\r\n)*\r\n$/i);
    expect(await exchange(port, GET)).toMatch(/content-length: 0\r\n(.+\r\n)*\r\n$/i);
    for (const status of [204, 304])
      expect(await exchange(port, GET.replace("/x", `/${status}`))).toMatch(
        new RegExp(`^HTTP/1.1 ${status} .*\r\n(.+\r\n)*\r\n$`),
      );
  });

  it("a truncated answer is truncated for the client too, after the received part [interfaces 15]", async () => {
    const head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n";
    for (const came of ["abc", ""]) {
      const { port } = await startFront(await startByteOwner([`${head}\r\n${came}`], true));
      expect(await exchange(port, GET)).toBe(`${head}Connection: close\r\n\r\n${came}`);
      proxy.close();
    }
  });

  it("an answer that is not HTTP is returned unchanged [interfaces 15]", async () => {
    const { port } = await startFront(await startByteOwner(["no answer of HTTP\r\n\r\n"], true));
    expect(await exchange(port, GET)).toBe("no answer of HTTP\r\n\r\n");
  });

  it("a small body is sent once, and again if its receiver was not the owner [interfaces 15]", async () => {
    const seen: string[] = [];
    const of = await startOwner(async (request, response) => {
      seen.push(await text(request));
      response.setHeader("x-understudy-hop", "moved").end("{}");
    });
    proxy = new NodeProxy("http://127.0.0.1:1");
    const target = { url: `http://127.0.0.1:${of}`, session: "s" };
    const results: ProxyResult[] = [];
    const port = await listen(
      createServer(async (request, response) => {
        const passed = { request, response, body: new ReplayableBody(request) };
        for (let i = 0; i < 2; i++) results.push(await proxy.forward(passed, target));
        response.end("refused");
      }),
    );
    const got = await fetch(`http://127.0.0.1:${port}/x`, { method: "POST", body: "a body" });
    expect(await got.text()).toBe("refused");
    expect([seen, results]).toEqual([
      ["a body", "a body"],
      ["moved", "moved"],
    ]);
    expect([proxy.forwardedCount, proxy.listOwners()]).toEqual([0, []]);
  });

  it("hop-by-hop headers are dropped, others pass unchanged, and a header names the forwarding node [interfaces 15]", async () => {
    const heard: string[][] = [];
    const of = await startOwner((request, response) => {
      heard.push(request.rawHeaders);
      response.end("{}");
    });
    const { port } = await startFront(of);
    const headers = "X-A: 1\r\nx-a: 2\r\nTE: trailers\r\nExpect: 100-continue\r\n";
    await exchange(port, GET.replace("Connection: close\r\n", `${headers}Connection: close\r\n`));
    expect(heard[0]).toEqual([
      ...["Host", "a", "X-A", "1", "x-a", "2"],
      ...["x-understudy-hop", "http://127.0.0.1:1", "Connection", "keep-alive"],
    ]);
  });

  it("is withdrawn when its client leaves, before the answer or within it [interfaces 15]", async () => {
    for (const begins of [false, true]) {
      const left = deferred();
      const came = deferred();
      const of = await startOwner((_request, response) => {
        response.once("close", left.resolve);
        if (begins) response.write("a");
        came.resolve();
      });
      const { port, results } = await startFront(of);
      const socket = connect(port, "127.0.0.1");
      socket.write(GET);
      await (begins ? new Promise((resolve) => socket.once("data", resolve)) : came.promise);
      socket.destroy();
      await left.promise;
      expect([results, proxy.listOwners()]).toEqual([["answered"], []]);
      proxy.close();
    }
  });

  it("stops waiting for an unreachable owner, and sends nothing to it [interfaces 15]", async () => {
    const came = deferred();
    const of = await startOwner(() => came.resolve());
    const { port, results, target } = await startFront(of);
    const got = exchange(port, GET);
    await came.promise;
    expect(proxy.listOwners()).toEqual([target]);
    proxy.giveUp("of another");
    expect(proxy.listOwners()).toEqual([target]);
    proxy.giveUp("s");
    await Promise.resolve();
    expect([proxy.listOwners(), proxy.forwardedCount]).toEqual([[], 1]);
    open[1]!.close();
    (open[1] as Server).closeAllConnections();
    open.splice(1, 1);
    expect([await got, results]).toEqual(["", ["lost"]]);
  });

  it("waits together with others for its owner, and only those without an answer fail with the owner [interfaces 15]", async () => {
    let asked = 0;
    const all = deferred();
    const answers = new Map<string, ServerResponse>();
    const of = await startOwner((request, response) => {
      answers.set(request.url!, response);
      asked += 1;
      if (asked === 4) all.resolve();
    });
    const { port, results } = await startFront(of);
    const got = ["/a", "/b", "/c", "/d"].map((path) => exchange(port, GET.replace("/x", path)));
    await all.promise;
    expect(results).toEqual([]);
    answers.get("/b")!.end("of b");
    expect(await got[1]).toContain("of b");
    expect(results).toEqual(["answered"]);
    answers.get("/d")!.end("of d");
    expect(await got[3]).toContain("of d");
    expect(results).toEqual(["answered", "answered"]);
    proxy.giveUp("s");
    expect(proxy.listOwners()).toEqual([]);
    await Promise.resolve();
    expect(results.toSorted()).toEqual(["answered", "answered", "lost", "lost"]);
    expect(proxy.forwardedCount).toBe(4);
    const server = open.find((one) => (one.address() as AddressInfo).port === port) as Server;
    server.closeAllConnections();
    expect([await got[0], await got[2]]).toEqual(["", ""]);
  });

  it("has its complete body for the next node if an address has no server [interfaces 15]", async () => {
    const free = await listen(createNetServer());
    await new Promise((resolve) => open.pop()!.close(resolve));
    proxy = new NodeProxy("http://127.0.0.1:1");
    const of = await startOwner(async (request, response) => void response.end(await text(request)));
    const results: ProxyResult[] = [];
    const port = await listen(
      createServer(async (request, response) => {
        const passed = { request, response, body: new ReplayableBody(request) };
        for (const at of [free, of])
          results.push(await proxy.forward(passed, { url: `http://127.0.0.1:${at}`, session: "s" }));
      }),
    );
    const got = await fetch(`http://127.0.0.1:${port}/x`, { method: "POST", body: "a body" });
    expect([await got.text(), results]).toEqual(["a body", ["unreached", "answered"]]);
  });
});
