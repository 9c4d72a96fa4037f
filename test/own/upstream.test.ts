import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createNetServer } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { replayBundle } from "../../src/client/replay/replay-bundle.ts";
import type { UnderstudyOptions } from "../../src/control/understudy-options.ts";
import { readBundle } from "../../src/tools/bundle/bundle.ts";
import { waitUntilPasses } from "../support/eventually.ts";
import { startReference } from "../support/harness.ts";
import { HOSTILE_BEHAVIOURS, type HostileBehaviour, startHostile } from "../support/receivers/hostile.ts";

/* interfaces 18: `--upstream` passes requests to paths that Understudy does not serve to the real service. */

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

async function startService(handle: Handle): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function start(upstream: UnderstudyOptions["upstream"], options: UnderstudyOptions = {}) {
  const api = await startReference({ upstream, ...options });
  open.push(() => api.close());
  return api;
}

/** Sends a request with exactly these headers in this order. */
function ask(
  url: string,
  { method = "GET", headers = [] as string[], body = "" },
): Promise<{ status: number; rawHeaders: string[]; body: string }> {
  return new Promise((resolve, reject) => {
    const { host } = new URL(url);
    const sent = request(url, { method, headers: ["Host", host, ...headers] }, async (answer) =>
      resolve({ status: answer.statusCode!, rawHeaders: answer.rawHeaders, body: await text(answer) }),
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

function readHeader(rawHeaders: readonly string[], wanted: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === wanted);
}

describe("a request to a path that is not served", () => {
  it("is passed on with its method, path, query, repeated headers and body [interfaces 18]", async () => {
    let seen: Pick<IncomingMessage, "method" | "url" | "rawHeaders"> & { body?: string } = {} as never;
    const url = await startService(async (incoming, response) => {
      const { method, url: path, rawHeaders } = incoming;
      seen = { method, url: path, rawHeaders, body: await text(incoming) };
      response.writeHead(201, ["X-One", "1", "Set-Cookie", "a=1", "Set-Cookie", "b=2"]).end("made");
    });
    const api = await start({ url: `${url}/api` });
    const answer = await ask(`${api.url}/v1/things/%41b?q=a%20b&q=`, {
      method: "POST",
      headers: ["X-Note", "one", "Content-Length", "7", "x-note", "two", "X-Sandbox", "default"],
      body: '{"a":1}',
    });
    expect(seen).toMatchObject({ method: "POST", url: "/api/v1/things/%41b?q=a%20b&q=", body: '{"a":1}' });
    expect(readHeader(seen.rawHeaders, "x-note")).toEqual(["one", "two"]);
    expect(readHeader(seen.rawHeaders, "host")).toEqual([new URL(url).host]);
    expect(readHeader(seen.rawHeaders, "x-sandbox")).toEqual([]);
    expect(answer).toMatchObject({ status: 201, body: "made" });
    expect(readHeader(answer.rawHeaders, "set-cookie")).toEqual(["a=1", "b=2"]);
    expect(readHeader(answer.rawHeaders, "x-sandbox-decision")).toEqual(["upstream"]);
    expect(readHeader(answer.rawHeaders, "x-request-id")).toEqual([]);
  });

  it("is sent with the credentials of --upstream-header in place of the client's [interfaces 18]", async () => {
    const url = await startService((incoming, response) => {
      response.end(incoming.rawHeaders.join("\n"));
    });
    const api = await start({ url, headers: [["Authorization", "Bearer real"]] });
    const { body } = await ask(`${api.url}/v1/x`, { headers: ["authorization", "Bearer mine", "A", "b"] });
    const sent = body.split("\n");
    expect(readHeader(sent, "authorization")).toEqual(["Bearer real"]);
    expect(readHeader(sent, "a")).toEqual(["b"]);
  });

  it("keeps the headers of each connection there, also those that it names itself [RFC 9110, 7.6.1]", async () => {
    const url = await startService((incoming, response) => {
      response.writeHead(200, ["Connection", "X-Hop", "X-Hop", "1", "X-End", "2"]);
      response.end(incoming.rawHeaders.join("\n"));
    });
    const api = await start({ url });
    // The first request of Java's client, which asks for HTTP/2.
    const upgrade = ["Connection", "Upgrade, HTTP2-Settings", "Upgrade", "h2c", "HTTP2-Settings", "AAMAAABk"];
    const { body, rawHeaders } = await ask(`${api.url}/v1/x`, { headers: [...upgrade, "A", "b"] });
    const sent = body.split("\n");
    expect(["upgrade", "http2-settings", "a"].map((name) => readHeader(sent, name))).toEqual([[], [], ["b"]]);
    expect(["x-hop", "x-end"].map((name) => readHeader(rawHeaders, name))).toEqual([[], ["2"]]);
  });

  it.each(["POST", "PUT", "PATCH", "PROPFIND"])(
    "with %s and without a body is passed on without one, not in chunks [interfaces 18]",
    async (method) => {
      const url = await startService((incoming, response) => {
        response.end(incoming.rawHeaders.join("\n"));
      });
      const api = await start({ url });
      const { port } = new URL(api.url);
      const socket = connect(Number(port), "127.0.0.1");
      socket.write(`${method} /v1/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      const answer = await text(socket);
      expect(answer).toContain("HTTP/1.1 200");
      expect(answer).not.toContain("Transfer-Encoding\nchunked");
    },
  );

  it("has one decision, also if the upstream is Understudy too [interfaces 3]", async () => {
    const url = await startService((_incoming, response) => {
      response.writeHead(200, { "X-Sandbox-Decision": "ok", "X-Request-Id": "req_there" }).end("x");
    });
    const api = await start({ url });
    const { rawHeaders } = await ask(`${api.url}/v1/x`, {});
    expect(readHeader(rawHeaders, "x-sandbox-decision")).toEqual(["upstream"]);
    expect(readHeader(rawHeaders, "x-request-id")).toEqual(["req_there"]);
  });

  it("gets the answer without decompression and without following a redirect [quality 2.17]", async () => {
    const packed = gzipSync("hello");
    const url = await startService((incoming, response) => {
      if (incoming.url === "/old") response.writeHead(308, { Location: "/v1/models" }).end();
      else response.writeHead(200, { "Content-Encoding": "gzip" }).end(packed);
    });
    const api = await start({ url });
    const { status, rawHeaders } = await ask(`${api.url}/old`, {});
    expect([status, ...readHeader(rawHeaders, "location")]).toEqual([308, "/v1/models"]);
    const answer = await fetch(`${api.url}/packed`);
    expect(await answer.text()).toBe("hello");
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    // The journal and its archive are for people.
    // biome-ignore lint/suspicious/noExplicitAny: answers of two shapes
    const read = async (path: string): Promise<any> =>
      (await fetch(`${api.url}/_control/sandboxes/default/${path}`)).json();
    expect((await read("journal?path=/packed")).entries[0].response.body).toBe("hello");
    const { entries } = (await read("journal.har")).log;
    expect(entries.at(-1).response.content).toMatchObject({ size: 5, text: "hello" });
  });

  it("is archived with the quotes of an answer that is a JSON text [interfaces 11]", async () => {
    const url = await startService((_incoming, response) =>
      response.writeHead(200, { "Content-Type": "application/json" }).end('"hello"'),
    );
    const api = await start({ url });
    await (await fetch(`${api.url}/text`)).text();
    const har = await fetch(`${api.url}/_control/sandboxes/default/journal.har`);
    // biome-ignore lint/suspicious/noExplicitAny: an answer
    const archive = (await har.json()) as any;
    expect(archive.log.entries.at(-1).response.content).toMatchObject({ size: 7, text: '"hello"' });
  });

  it("is found in the journal by the text of compressed bodies, as the journal shows it [interfaces 11]", async () => {
    const url = await startService((_incoming, response) =>
      response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync("the answer")),
    );
    const api = await start({ url });
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    const body = gzipSync('{"note":"the question"}');
    await (await fetch(`${api.url}/x`, { method: "POST", headers, body })).text();
    const S = `${api.url}/_control/sandboxes/default`;
    for (const searched of ["the question", "THE ANSWER"]) {
      const found = await fetch(`${S}/journal/search?body=${encodeURIComponent(searched)}`);
      expect(await found.json()).toEqual({ seqs: [expect.any(Number)] });
    }
    const verified = await fetch(`${S}/journal/verify`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ match: { path: "/x", body: { note: "the question" } }, count: 1 }),
    });
    expect(await verified.json()).toMatchObject({ ok: true, found: 1 });
    const archive = (await (await fetch(`${S}/journal.har`)).json()) as { log: { entries: unknown[] } };
    expect(archive.log.entries.at(-1)).toMatchObject({
      request: { bodySize: 23, postData: { text: '{"note":"the question"}' } },
    });
  });

  it("is passed on if its headers are larger than Node's own limit [interfaces 18]", async () => {
    const url = await startService((_incoming, response) =>
      response.setHeader("x-large", "x".repeat(100_000)).end("whole"),
    );
    const api = await start({ url, headers: [] });
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(`${api.url}/v1/elsewhere`, { maxHeaderSize: 200_000 }, resolve);
      sent.on("error", reject).end();
    });
    expect([answer.statusCode, answer.headers["x-large"]?.length]).toEqual([200, 100_000]);
    expect(await text(answer)).toBe("whole");
  });

  it("gets the upstream's reason phrase, Latin-1 headers and trailers [interfaces 18]", async () => {
    const url = await startService((incoming, response) => {
      if (incoming.url === "/known") {
        response
          .writeHead(299, "Rather Good", ["Content-Length", "2", "X-Latin", "\u00e9"])
          .end(Buffer.from("ok"));
        return;
      }
      response
        .writeHead(200, "Very Well", ["Trailer", "X-Sum", "X-Latin", "\u00e9"])
        .write(Buffer.from("abc"));
      response.addTrailers([["X-Sum", "42"]]);
      response.end();
    });
    const api = await start({ url });
    const { port } = new URL(api.url);
    const read = async (path: string, version = "1.1") => {
      const socket = connect(Number(port), "127.0.0.1").setEncoding("latin1");
      socket.write(`GET ${path} HTTP/${version}\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      return text(socket);
    };
    const chunked = await read("/v1/x");
    expect(chunked).toMatch(/^HTTP\/1\.1 200 Very Well\r\n[\s\S]*Trailer: X-Sum\r\nX-Latin: \u00e9\r\n/);
    expect(chunked).toMatch(/\r\n3\r\nabc\r\n0\r\nX-Sum: 42\r\n\r\n$/);
    expect(await read("/known")).toMatch(
      /^HTTP\/1\.1 299 Rather Good\r\n[\s\S]*X-Latin: \u00e9\r\n[\s\S]*\r\n\r\nok$/,
    );
    // HTTP/1.0 has no trailers.
    expect(await read("/v1/x", "1.0")).toMatch(/^HTTP\/1\.1 200 Very Well\r\n[\s\S]*\r\n\r\nabc$/);
  });

  it("is passed on in pieces as they arrive, for a stream and for an upload [interfaces 18]", async () => {
    let finish = () => {};
    const url = await startService(async (incoming, response) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write("data: he");
      finish = () => response.end("llo\n\n");
      for await (const piece of incoming) response.write(piece);
    });
    const api = await start({ url });
    const answer = await fetch(`${api.url}/chat`);
    const reader = answer.body!.getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await read()).toBe("data: he");
    finish();
    expect(await read()).toBe("llo\n\n");
    expect((await reader.read()).done).toBe(true);

    const size = 8 * 1024 * 1024;
    const upload = await fetch(`${api.url}/echo`, { method: "PUT", body: new Uint8Array(size).fill(65) });
    const uploaded = upload.body!.getReader();
    let received = -"data: he".length;
    while (received < size) received += (await uploaded.read()).value!.length;
    finish();
    expect(received).toBe(size);
  });

  it("gets the head of the answer before the first piece of the body [interfaces 18]", async () => {
    const url = await startService((_incoming, response) => response.writeHead(202).flushHeaders());
    const api = await start({ url });
    const leaving = new AbortController();
    const answer = await fetch(`${api.url}/quiet`, { signal: leaving.signal });
    expect(answer.status).toBe(202);
    leaving.abort();
  });

  it("is aborted at the upstream when its client has left [quality 2.17]", async () => {
    const closed = vi.fn();
    const begun = vi.fn();
    const url = await startService((_incoming, response) => {
      response.on("close", closed);
      begun();
    });
    const api = await start({ url });
    const leaving = new AbortController();
    const asked = fetch(`${api.url}/slow`, { signal: leaving.signal }).catch(() => "left");
    await waitUntilPasses(() => expect(begun).toHaveBeenCalled());
    leaving.abort();
    expect(await asked).toBe("left");
    await waitUntilPasses(() => expect(closed).toHaveBeenCalled());
  });

  it("can be read by a page of another origin [interfaces 18]", async () => {
    const url = await startService((_incoming, response) => {
      response.writeHead(200, { "Access-Control-Allow-Origin": "https://app.example.test" }).end("ok");
    });
    const api = await start({ url });
    const { rawHeaders } = await ask(`${api.url}/x`, { headers: ["Origin", "http://localhost:5173"] });
    expect(readHeader(rawHeaders, "access-control-allow-origin")).toEqual(["http://localhost:5173"]);
  });

  it("lets a page read the headers that the service exposes [interfaces 18]", async () => {
    const url = await startService((_incoming, response) => {
      response.writeHead(200, { "Access-Control-Expose-Headers": "X-Total-Count" }).end("ok");
    });
    const api = await start({ url });
    const { rawHeaders } = await ask(`${api.url}/x`, { headers: ["Origin", "http://localhost:5173"] });
    const exposed = readHeader(rawHeaders, "access-control-expose-headers").join(", ");
    expect(exposed).toMatch(/X-Sandbox-Decision, X-Total-Count$/);
  });

  it("is in the timeline and in the result of explain [interfaces 18]", async () => {
    const url = await startService((_incoming, response) => response.end("from there"));
    const api = await start({ url });
    await ask(`${api.url}/v1/x?a=1`, { method: "POST", headers: ["Content-Length", "2"], body: "hi" });
    const S = `${api.url}/_control/sandboxes/default`;
    const { entries } = (await (await fetch(`${S}/journal`)).json()) as { entries: object[] };
    expect(entries).toMatchObject([
      { method: "POST", path: "/v1/x", status: 200, decision: "upstream", operation: null },
    ]);
    const explained = await fetch(`${S}/faults/explain`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ method: "GET", path: "/v1/x" }),
    });
    const said = (await explained.json()) as object;
    expect(said).toMatchObject({ decision: "upstream", status: null });
    expect(JSON.stringify(said)).toContain(`it would be sent to ${url}`);
  });

  it("is left out of the replay of a bundle [interfaces 18]", async () => {
    const url = await startService((_incoming, response) => response.end("from there"));
    const api = await start({ url });
    await api.call("dan", "GET", "/v1/models");
    await api.call("dan", "GET", "/v1/unknown");
    await api.call("dan", "DELETE", "/v1/threads/thread_long");
    const { text: bundle } = await api.call(undefined, "POST", "/_control/sandboxes/default/bundle");
    expect(await replayBundle(readBundle(bundle, "a.json"))).toMatchObject({ requests: 3, passed_on: 1 });
  });
});

describe("a path that is served", () => {
  it("is not sent to the upstream [interfaces 18]", async () => {
    const called = vi.fn();
    const url = await startService((_incoming, response) => {
      called();
      response.end("from there");
    });
    const api = await start({ url });
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
    // Another method of a served path, and a path with a rule that answers.
    expect((await api.call("dan", "PUT", "/v1/models")).status).toBe(405);
    const rule = { match: { path: "/v1/own" }, effect: { status: 200, body: { own: true } } };
    const armed = await api.call(undefined, "POST", "/_control/sandboxes/default/faults", rule);
    expect(armed.status, armed.text).toBe(201);
    expect((await api.call("dan", "GET", "/v1/own")).body).toEqual({ own: true });
    expect((await api.call(undefined, "GET", "/v1/own")).status).toBe(401);
    const delay = { "x-sandbox-delay": "1ms" };
    expect((await api.call(undefined, "GET", "/v1/own", undefined, delay)).status).toBe(401);
    expect(called).not.toHaveBeenCalled();
    expect((await api.call("dan", "GET", "/v1/other")).text).toBe("from there");
  });
});

describe("a header of a request that is passed on", () => {
  it.each<[Record<string, string>, number, string, number]>([
    [{ "x-sandbox-fault": "RATE_LIMIT_EXCEEDED" }, 429, "fault:header/RATE_LIMIT_EXCEEDED", 0],
    [{ "x-sandbox-fault": "nope" }, 400, "fault:header/refused", 0],
    [{ "x-sandbox-delay": "soon" }, 400, "fault:header/refused", 0],
    [{ "x-sandbox-delay": "20ms" }, 200, "upstream", 1],
    [{ prefer: "code=404" }, 200, "upstream", 1],
  ])("applies as on a served path: %j [interfaces 3]", async (headers, status, decision, calls) => {
    const called = vi.fn();
    const url = await startService((incoming, response) => {
      called(incoming.headers["prefer"]);
      response.end("from there");
    });
    const api = await start({ url });
    const answer = await fetch(`${api.url}/v1/x`, { headers });
    expect([answer.status, answer.headers.get("x-sandbox-decision")]).toEqual([status, decision]);
    expect(called.mock.calls).toEqual(Array.from({ length: calls }, () => [headers["prefer"]]));
    const [entry] = (await api.call(undefined, "GET", "/_control/sandboxes/default/journal")).body.entries;
    expect(entry.fault?.delay_ms ?? 0).toBe(headers["x-sandbox-delay"] === "20ms" ? 20 : 0);
  });

  it("that names a scenario without a rule for the path is refused with a sentence [interfaces 3]", async () => {
    const api = await start({ url: await startService((_, response) => void response.end("from there")) });
    const refused = await api.call("dan", "GET", "/v1/x", undefined, { "x-sandbox-fault": "receiver-down" });
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      expect.stringContaining("The scenario receiver-down has no rule for this path."),
    ]);
  });

  it("breaks the connection [interfaces 3]", async () => {
    const api = await start({ url: await startService((_incoming, response) => response.end()) });
    await expect(fetch(`${api.url}/v1/x`, { headers: { "x-sandbox-fault": "reset" } })).rejects.toThrow();
  });

  it("is refused by a server without overrides [interfaces 3]", async () => {
    const url = await startService((_incoming, response) => response.end());
    const api = await start({ url }, { overrides: false });
    const answer = await fetch(`${api.url}/v1/x`, { headers: { "x-sandbox-delay": "1s" } });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("--no-overrides")]);
  });
});

describe("an upstream that does not answer", () => {
  it("is named in the answer, also if the request would loop for ever [quality 2.17]", async () => {
    const dead = await start({ url: "http://127.0.0.1:1" });
    const refused = await dead.call("dan", "GET", "/v1/x");
    expect(refused).toMatchObject({
      status: 502,
      body: { type: "urn:understudy:problem:upstream-failed", status: 502 },
    });
    expect(refused.body.detail).toMatch(/^GET \/v1\/x: .*ECONNREFUSED/);

    let own = "";
    const url = await startService((incoming, response) => {
      const sent = request(own + incoming.url!, { headers: incoming.headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      sent.end();
    });
    own = (await start({ url })).url;
    const looped = await fetch(`${own}/v1/x`);
    expect(looped.status).toBe(508);
    expect(await looped.text()).toContain("sends the request back to this server");
  });

  it.each([
    ["099 Low\r\nContent-Length: 0", "it sent the status 99"],
    ["101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade", "it switched protocols"],
  ])("is named if it answers %s [interfaces 18]", async (head, reason) => {
    const service = createNetServer((socket) => {
      socket.on("error", () => {}).once("data", () => socket.write(`HTTP/1.1 ${head}\r\n\r\n`));
    }).listen(0, "127.0.0.1");
    open.push(() => service.close());
    await once(service, "listening");
    const api = await start({ url: `http://127.0.0.1:${(service.address() as AddressInfo).port}` });
    const { status, body } = await api.call("dan", "GET", "/v1/x");
    expect([status, body.detail]).toEqual([502, expect.stringContaining(reason)]);
  });

  it("is not called by a shared server, except within --allow-upstream [quality 2.17]", async () => {
    const called = vi.fn();
    const url = await startService((_incoming, response) => {
      called();
      response.end();
    });
    const shared = { token: "t".repeat(20) };
    const outside = await start({ url, allowAddresses: ["10.0.0.0/8"] }, { shared });
    const refused = await outside.call("dan", "GET", "/v1/x");
    expect(refused.status).toBe(502);
    expect(refused.body.detail).toContain("127.0.0.1 is in none of the allowed ranges");
    expect(called).not.toHaveBeenCalled();
    const within = await start({ url, allowAddresses: ["127.0.0.0/8"] }, { shared });
    expect((await within.call("dan", "GET", "/v1/x")).status).toBe(200);
  });

  const behaviours = Object.keys(HOSTILE_BEHAVIOURS) as HostileBehaviour[];
  it.each(behaviours)(
    "does not affect other requests, and leaves no connection: %s [quality 2.17]",
    async (behaviour) => {
      const hostile = await startHostile(behaviour);
      open.push(() => hostile.close());
      const api = await start({ url: hostile.url, timeoutMs: 700 });
      // Some answers never end, so the client disconnects.
      const leaving = new AbortController();
      const timer = setTimeout(() => leaving.abort(), 1500);
      open.push(() => clearTimeout(timer));
      const outcome = fetch(`${api.url}/v1/x`, { signal: leaving.signal }).then(
        async (answer) => {
          if (answer.status >= 500) return answer.status;
          const reader = answer.body?.getReader();
          for (let pieces = 0; pieces < 20 && !(await reader?.read())?.done; pieces++);
          return answer.status;
        },
        () => "broken",
      );
      expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
      expect([200, 502, 503, 504, "broken"]).toContain(await outcome.catch(() => "broken"));
      leaving.abort();
      expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
      await waitUntilPasses(() => expect(hostile.open()).toBe(0));
    },
  );
});
