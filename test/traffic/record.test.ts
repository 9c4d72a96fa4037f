import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { toHarEntry } from "../../src/tools/har/har-entry.ts";
import { HarFile } from "../../src/tools/har/har-file.ts";
import { createRecorder, type RecordedEntry, type Recorder } from "../../src/tools/traffic/recorder.ts";
import { waitUntilPasses } from "../support/eventually.ts";
import { KEYS } from "../support/harness.ts";
import { createTempFolder, runCommand, startCommand } from "../support/run-understudy.ts";
import { useReference } from "../support/use-reference.ts";

const api = useReference();

const open: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function startRecorder(target: string): Promise<Recorder & { entries: RecordedEntry[] }> {
  const entries: RecordedEntry[] = [];
  const made = await createRecorder({
    target,
    port: 0,
    host: "127.0.0.1",
    onExchange: (entry) => entries.push(entry),
  });
  open.push(made);
  return { ...made, entries };
}

async function startTarget(
  handle: (request: IncomingMessage, answer: ServerResponse) => void,
): Promise<string> {
  const server: Server = createServer(handle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push({
    close() {
      server.close();
      server.closeAllConnections();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A service that answers each request with these bytes. */
async function startRawTarget(bytes: string): Promise<string> {
  const server = createTcpServer((socket) =>
    socket.on("error", () => {}).once("data", () => socket.write(bytes, "latin1")),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends raw bytes and returns the raw answer. */
async function sendRaw(url: string, text: string): Promise<string> {
  const socket: Socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.write(text);
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("latin1");
}

const getLast = (entries: readonly RecordedEntry[]) => entries.at(-1)!;

describe("record as a proxy [interfaces 12]", () => {
  it.each([
    ["GET http://elsewhere.test/a?b=1", "GET", "/a?b=1"],
    ["OPTIONS *", "OPTIONS", "/"],
  ])("forwards %s to the service, and keeps running [interfaces 12]", async (line, method, path) => {
    const service = await startTarget((request, answer) => answer.end(`${request.method} ${request.url}`));
    const { url, entries } = await startRecorder(service);
    const text = await sendRaw(url, `${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toContain(`${method} ${path}`);
    await waitUntilPasses(() => expect(entries.map(({ request }) => request.url)).toEqual([service + path]));
  });

  it.each([
    ["TLS", "\u0016\u0003\u0001\u0002\u0000\u0001", 400, "it is TLS, and this port speaks plain HTTP"],
    ["CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 405, "CONNECT"],
  ])("says why it refuses a client that speaks %s [interfaces 12]", async (_name, sent, status, reason) => {
    const { url } = await startRecorder("http://127.0.0.1:9");
    const text = await sendRaw(url, sent);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(text).toContain(reason);
  });

  it("passes on the headers of the service's answers [interfaces 12]", async () => {
    const { url, entries } = await startRecorder(api.url);
    const paths = [
      "/v1/models",
      "/v1/usage/nowhere",
      "/v1/analytics/usage/limits/org_acme?month=13",
      "/v1/organizations/org_acme/audit-log/export",
      "/v1/audio/transcribe/trans_short/sentences?limit=2",
    ];
    const listPlainHeaders = (headers: Headers) =>
      [...headers].filter(
        ([name]) => !/^(x-request-id|x-ratelimit|service-processing-ms|date|keep-alive)/.test(name),
      );
    const maskDrawn = (text: string) =>
      text
        .replace(/req_\w+/g, "")
        .replace(/"(timestamp|processing_time_ms|upstream_latency_ms)":("[^"]*"|\d+)/g, "");
    for (const path of paths) {
      const [direct, through] = await Promise.all(
        [api.url, url].map((base) => fetch(base + path, { headers: { "api-key": KEYS.ada } })),
      );
      expect(through!.status, path).toBe(direct!.status);
      expect(listPlainHeaders(through!.headers), path).toEqual(listPlainHeaders(direct!.headers));
      expect(maskDrawn(await through!.text()), path).toBe(maskDrawn(await direct!.text()));
    }
    await waitUntilPasses(() => expect(entries).toHaveLength(paths.length));
    // The URL in the archive is that of the service, not of the recorder.
    expect(entries[1]!.request.url).toBe(`${api.url}/v1/usage/nowhere`);
    expect(entries[2]!.request.queryString).toEqual([{ name: "month", value: "13" }]);
  });

  it("keeps the order, spelling and repetition of headers [interfaces 12]", async () => {
    let seen: string[] = [];
    const { url, entries } = await startRecorder(
      await startTarget((incoming, answer) => {
        seen = incoming.rawHeaders;
        answer.writeHead(200, "Quite OK", ["X-Twice", "1", "x-tWICE", "2", "Content-Length", "2"]).end("ok");
      }),
    );
    const text = await sendRaw(
      url,
      "POST /a%20b?x=1&x=%32 HTTP/1.1\r\nHost: elsewhere\r\nx-B: 1\r\nX-a: 2\r\nX-A: 3\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
    );
    expect(text).toMatch(/^HTTP\/1\.1 200 Quite OK\r\nX-Twice: 1\r\nx-tWICE: 2\r\nContent-Length: 2\r\n/);
    const host = new URL(getLast(entries).request.url).host;
    expect(seen.slice(0, 10)).toEqual([
      ...["Host", host, "x-B", "1", "X-a", "2", "X-A", "3", "Content-Length", "3"],
    ]);
    expect(getLast(entries).request.url).toBe(`http://${host}/a%20b?x=1&x=%32`);
  });

  it("names the target in requests of HTTP/1.0 that have no Host [interfaces 12]", async () => {
    let seen: string[] = [];
    const service = await startTarget(({ rawHeaders }, answer) => {
      seen = rawHeaders;
      answer.end("seen");
    });
    const { url } = await startRecorder(service);
    expect(await sendRaw(url, "GET / HTTP/1.0\r\nX-One: 1\r\n\r\n")).toContain("seen");
    expect(seen.slice(0, 4)).toEqual(["Host", new URL(service).host, "X-One", "1"]);
  });

  it("passes on an upload while it is still being sent, and completely [interfaces 12]", async () => {
    let arrived = 0;
    const { url, entries } = await startRecorder(
      await startTarget(async (incoming, answer) => {
        for await (const piece of incoming) arrived += (piece as Buffer).length;
        answer.end(String(arrived));
      }),
    );
    const sent = request(`${url}/up`, { method: "PUT" });
    sent.write(Buffer.alloc(100_000, 1));
    // The client has not finished the request.
    await waitUntilPasses(() => expect(arrived).toBe(100_000));
    for (let i = 0; i < 120; i++) sent.write(Buffer.alloc(100_000, 1));
    sent.end();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    expect(Buffer.concat(await answer.toArray()).toString()).toBe("12100000");
    await waitUntilPasses(() => expect(entries).toHaveLength(1));
    expect(getLast(entries).request.bodySize).toBe(12_100_000);
    expect(getLast(entries).request.postData).toMatchObject({
      comment: "the first 10485760 of 12100000 bytes",
    });
  });

  it("passes on the events of a stream one by one, and ends it when the client disconnects [interfaces 12]", async () => {
    let left = false;
    const { url, entries } = await startRecorder(
      await startTarget((_incoming, answer) => {
        answer.writeHead(200, { "Content-Type": "text/event-stream" });
        answer.write("data: 1\n\n");
        answer.once("close", () => {
          left = true;
        });
      }),
    );
    const gone = new AbortController();
    const response = await fetch(`${url}/events`, { signal: gone.signal });
    const { value } = await response.body!.getReader().read();
    expect(Buffer.from(value!).toString()).toBe("data: 1\n\n");
    gone.abort();
    await waitUntilPasses(() => expect(left).toBe(true));
    await waitUntilPasses(() => expect(entries).toHaveLength(1));
    expect(getLast(entries)).toMatchObject({ _error: "the client left", response: { status: 200 } });
    expect(getLast(entries).response.content.text).toBe("data: 1\n\n");
  });

  it("records a stream that was cut by the end of the recording with that reason [interfaces 12]", async () => {
    const { url, entries, close } = await startRecorder(
      await startTarget((_incoming, answer) => void answer.writeHead(200).write("data: 1\n\n")),
    );
    const response = await fetch(`${url}/events`);
    await close();
    await expect(response.text()).rejects.toThrow();
    expect(entries).toMatchObject([{ _error: "the recording ended", response: { status: 200 } }]);
  });

  it("aborts an answer that the target aborts, and does not record it as an answer [interfaces 12]", async () => {
    const { url, entries } = await startRecorder(
      await startTarget((incoming, answer) => {
        if (incoming.url === "/half") answer.writeHead(200, { "Content-Length": "10" }).write("half");
        setImmediate(() => answer.socket!.destroy());
      }),
    );
    await expect(fetch(`${url}/none`)).rejects.toThrow();
    await expect(fetch(`${url}/half`).then((response) => response.text())).rejects.toThrow();
    await waitUntilPasses(() => expect(entries).toHaveLength(2));
    expect(entries.map(({ response, _error }) => [response.status, _error])).toEqual([
      [0, "no answer: the connection was closed without an answer"],
      [200, "the target broke off"],
    ]);
  });

  it.each([
    ["GET", 2],
    ["POST", 1],
    ["DELETE", 1],
  ])(
    "sends a %s at most %i times over a used connection that breaks [interfaces 12]",
    async (method, times) => {
      let received = 0;
      const service = await startTarget(({ url }, answer) => {
        if (url === "/first") return void answer.end();
        received += 1;
        answer.destroy();
      });
      const { url, entries } = await startRecorder(service);
      await (await fetch(`${url}/first`)).arrayBuffer();
      await expect(fetch(`${url}/broken`, { method })).rejects.toThrow();
      await waitUntilPasses(() => expect(entries).toHaveLength(2));
      expect(received).toBe(times);
    },
  );

  it.each(["é", "€", "😀"])(
    "keeps complete characters of the first 10 MB of a body, and drops %s if it is cut [interfaces 12]",
    async (character) => {
      const service = await startTarget(({ url }, answer) =>
        answer.end(`${"a".repeat(10 * 1024 * 1024 - Number(url!.slice(1)))}${character}b`),
      );
      const { url, entries } = await startRecorder(service);
      const length = Buffer.byteLength(character);
      for (let kept = 1; kept <= length; kept++) await (await fetch(`${url}/${kept}`)).arrayBuffer();
      await waitUntilPasses(() => expect(entries).toHaveLength(length));
      const ends = entries.map(({ response: { content } }) =>
        content.text?.slice(content.text.lastIndexOf("a") + 1),
      );
      expect(ends).toEqual([...Array(length - 1).fill(""), character]);
    },
  );

  it.each([
    ["101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade", "it switched protocols"],
    ["099 Low", "it sent the status 99"],
    ["200 OK\r\nBad Header: x", "a header of the answer lacks its colon, or has a space before it"],
  ])("answers 502 at once if the target answers %s [interfaces 12]", async (head, reason) => {
    const { url } = await startRecorder(await startRawTarget(`HTTP/1.1 ${head}\r\n\r\n`));
    const response = await fetch(`${url}/x`);
    expect(response.status).toBe(502);
    expect(((await response.json()) as { detail: string }).detail).toContain(
      `gave no answer that can be forwarded: ${reason}`,
    );
  });

  it("passes on trailers, and headers that are longer than Node's limit [interfaces 12]", async () => {
    const long = "a".repeat(20_000);
    const chunked = `HTTP/1.1 200 OK\r\nX-Long: ${long}\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const { url } = await startRecorder(await startRawTarget(`${chunked}2\r\nok\r\n0\r\nX-Sum: 42\r\n\r\n`));
    const answer = await sendRaw(url, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(answer).toContain(`X-Long: ${long}\r\n`);
    expect(answer).toMatch(/\r\nTrailer: X-Sum\r\n[\s\S]*\r\nX-Sum: 42\r\n\r\n$/);
  });

  it.each([
    ["GET", "1.1", "200 Very Well", "Content-Length: 2"],
    ["GET", "1.0", "200 Very Well", "Transfer-Encoding: chunked"],
    ["HEAD", "1.1", "200 Very Well", "Transfer-Encoding: chunked"],
    ["GET", "1.1", "204 Nothing", "X-None: 1"],
    ["GET", "1.1", "304 Same", "X-None: 1"],
    ["GET", "1.1", "200 a\x01b", "Content-Length: 2"],
  ])(
    "survives trailers that Node cannot send: %s HTTP/%s, %s, %s [interfaces 12]",
    async (method, version, status, framing) => {
      const body = framing.startsWith("Transfer") ? "2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n" : "ok";
      const { url, entries } = await startRecorder(
        await startRawTarget(
          `HTTP/1.1 ${status}\r\nTrailer: X-Sum\r\nX-Latin: \u00e9\r\n${framing}\r\n\r\n${body}`,
        ),
      );
      const sent = `${method} / HTTP/${version}\r\nHost: x\r\nTrailer: X-Up\r\nConnection: close\r\n\r\n`;
      const answer = await sendRaw(url, sent);
      const line = status.includes("\x01") ? "200 OK" : status;
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${line}\r\n`));
      expect(answer).toContain("X-Latin: \u00e9\r\n");
      expect(answer).not.toContain("Trailer:");
      if (method === "GET" && status.startsWith("200")) expect(answer).toMatch(/\r\n\r\nok$/);
      await waitUntilPasses(() => expect(entries).toHaveLength(1));
    },
  );

  it("answers 502 with a reason for an unreachable target, and records no answer of the service [interfaces 12]", async () => {
    const { url, entries } = await startRecorder("http://127.0.0.1:9");
    const response = await fetch(`${url}/v1/models`);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      502,
      "application/problem+json",
    ]);
    expect(((await response.json()) as { detail: string }).detail).toContain(
      "http://127.0.0.1:9 cannot be reached: ECONNREFUSED",
    );
    await waitUntilPasses(() => expect(entries).toHaveLength(1));
    expect(getLast(entries).response.status).toBe(0);
  });
});

describe("a recorded archive [interfaces 12]", () => {
  it("has its secrets masked as in the journal [interfaces 12]", async () => {
    const { url, entries } = await startRecorder(api.url);
    const canary = "ak_canaryCanaryCanary00000000000000000000000";
    await fetch(`${url}/v1/models?api_key=${canary}`, { headers: { authorization: `Bearer ${canary}` } });
    await fetch(`${url}/webhooks`, {
      method: "POST",
      headers: { "api-key": KEYS.ada, "content-type": "application/json" },
      body: JSON.stringify({ url: "http://127.0.0.1:9/x?secret=canary7", events: ["user.created"] }),
    });
    await waitUntilPasses(() => expect(entries).toHaveLength(2));
    const text = JSON.stringify(entries);
    for (const secret of ["canaryCanary", KEYS.ada, "canary7"]) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/whsec_\w/);
    expect(getLast(entries).request.headers).toContainEqual({ name: "api-key", value: "***" });
  });

  it("contains compressed bodies as text, and leaves out bodies that are not text [interfaces 12]", async () => {
    const { url, entries } = await startRecorder(
      await startTarget((incoming, answer) => {
        if (incoming.url === "/image")
          return answer.writeHead(200, { "Content-Type": "image/png" }).end(Buffer.from([0x89, 0xff, 0xfe]));
        answer
          .writeHead(200, { "Content-Encoding": "gzip", "Content-Type": "application/json" })
          .end(gzipSync('{"secret":"canary","a":1}'));
      }),
    );
    const response = await fetch(`${url}/packed`);
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(await response.json()).toEqual({ secret: "canary", a: 1 });
    await fetch(`${url}/image`);
    await waitUntilPasses(() => expect(entries).toHaveLength(2));
    expect(entries[0]!.response.content).toMatchObject({ text: '{"secret":"***","a":1}' });
    expect(entries[1]!.response.content).toEqual({
      size: 3,
      mimeType: "image/png",
      comment: "3 bytes that are not text",
    });
  });

  it.each<[string, Buffer]>([
    ["deflate", deflateSync("coded")],
    // Some servers send raw deflate data.
    ["deflate", deflateRawSync("coded")],
    ["gzip, br", brotliCompressSync(gzipSync("coded"))],
    ["x-gzip", gzipSync("coded")],
  ])("contains a body in the coding %s as text [interfaces 12]", async (coding, bytes) => {
    const headers = { "Content-Encoding": coding, "Content-Type": "text/plain" };
    const { url, entries } = await startRecorder(
      await startTarget((_incoming, answer) => answer.writeHead(200, headers).end(bytes)),
    );
    await sendRaw(url, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    await waitUntilPasses(() => expect(entries).toHaveLength(1));
    expect(getLast(entries).response.content).toMatchObject({ size: 5, text: "coded" });
  });

  it("is a complete file after each entry, and after an entry that could not be written [interfaces 12]", () => {
    const file = join(createTempFolder(), "grows.har");
    const har = new HarFile(file, { version: "1", replace: false });
    const read = () => JSON.parse(readFileSync(file, "utf8")).log.entries;
    expect(read()).toEqual([]);
    const none = { bytes: undefined, size: 0 };
    const entry = toHarEntry({
      ...{
        startedAt: 0,
        send: 0,
        wait: 1,
        receive: 2,
        method: "GET",
        url: "http://a/ü",
        query: "",
        status: 200,
      },
      ...{ requestHeaders: [], requestBody: none, responseHeaders: [], responseBody: none },
    });
    for (let i = 1; i <= 3; i++) {
      har.add(entry);
      expect(read()).toHaveLength(i);
    }
    expect(() => har.add({ ...entry, time: 1n as never })).toThrow();
    expect(read()).toHaveLength(3);
    har.close();
  });
});

describe("record on the command line [interfaces 12]", () => {
  it("records until it is stopped, and the file can be read meanwhile [interfaces 12]", async () => {
    const out = join(createTempFolder(), "deep", "traffic.har");
    const running = startCommand(["record", "--target", `${api.url}/`, "--out", out, "--port", "0"]);
    const [, url] = await waitUntilPasses(() =>
      /Call (\S+) instead of/.exec(running.output().stdout)!.map(String),
    );
    await fetch(`${url}/v1/models`, { headers: { "api-key": KEYS.ben } });
    await waitUntilPasses(() => expect(JSON.parse(readFileSync(out, "utf8")).log.entries).toHaveLength(1));
    await waitUntilPasses(() => expect(running.output().stdout).toContain("GET /v1/models -> 200 ("));
    running.child.kill("SIGTERM");
    const { code, stdout } = await running.finished;
    expect(code).toBe(0);
    expect(stdout).toContain(`1 exchange in ${out}`);
  });

  it("exits 2 for wrong usage with one message, and overwrites no file [interfaces 12]", async () => {
    const folder = createTempFolder();
    const there = join(folder, "there.har");
    writeFileSync(there, "mine");
    const busy = new URL(api.url).port;
    const cases: [string[], string][] = [
      [["--target", "ftp://example.com", "--out", "x.har"], "--target must be an http or https URL"],
      [["--target", "http://a/v1", "--out", "x.har"], "leave the version out of --target: http://a"],
      [["--target", "http://a", "--out", there, "--port", "0"], "exists; add --force to replace it"],
      [
        ["--target", "http://a", "--out", there, "--force", "--port", busy],
        `port ${busy} on 127.0.0.1 is in use`,
      ],
      [
        ["--target", "http://localhost:4749", "--out", "x.har"],
        "the address on which the recorder would listen",
      ],
      [
        ["--target", "http://localhost", "--out", "x.har", "--port", "80"],
        "the address on which the recorder would listen",
      ],
      [["--target", "http://a", "--out", "x.har", "--port", "70000"], "--port takes a whole number"],
      [["--target", "http://a"], "out"],
    ];
    const ended = await Promise.all(cases.map(([args]) => runCommand(["record", ...args], { cwd: folder })));
    for (const [i, { code, stderr }] of ended.entries()) {
      expect(stderr).toContain(cases[i]![1]);
      expect(stderr).not.toMatch(/\n\s+at /);
      expect(code).toBe(2);
    }
    expect(readFileSync(there, "utf8")).toBe("mine");
    expect(existsSync(join(folder, "x.har"))).toBe(false);
  });
});
