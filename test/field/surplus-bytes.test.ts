import { createHmac } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { LocalReceiver } from "../../src/tools/receivers/listen.ts";
import { waitUntil } from "../support/eventually.ts";
import { cleanUp, cleanUpLater, createPost, createSender } from "../support/outbound-setup.ts";
import { grade, SECRET } from "../support/receivers/grade-setup.ts";
import { startWebhooks } from "../support/webhook-setup.ts";

vi.setConfig({ testTimeout: 60_000 });

afterEach(cleanUp);

/** A server that answers each request of a connection with these pieces; a number is a pause in milliseconds. */
async function startServer(...pieces: (string | number)[]) {
  let connections = 0;
  let open = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    open += 1;
    socket
      .on("error", () => {})
      .on("close", () => {
        open -= 1;
      });
    socket.on("data", async () => {
      for (const piece of pieces)
        if (typeof piece === "number") await wait(piece);
        else if (!socket.destroyed) socket.write(piece);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUpLater(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, connections: () => connections, open: () => open };
}

const makeHead = (status: string, ...headers: string[]) =>
  `${[`HTTP/1.1 ${status}`, ...headers].join("\r\n")}\r\n\r\n`;
const KEPT = "Connection: keep-alive";
const CHUNKED = "Transfer-Encoding: chunked";
const SECOND = makeHead("500 No", "Content-Length: 0");

const SURPLUS: [title: string, pieces: (string | number)[], status: number, body: string][] = [
  ["a body after a 204", [`${makeHead("204 No Content")}ok`], 204, ""],
  ["a body after a 204 that closes", [`${makeHead("204 No Content", "Connection: close")}ok`], 204, ""],
  ["a body after a 204 that is kept", [`${makeHead("204 No Content", KEPT)}ok`], 204, ""],
  ["a body after a 204 of HTTP/1.0", ["HTTP/1.0 204 No Content\r\n\r\nok"], 204, ""],
  ["a measured body after a 204", [`${makeHead("204 No Content", "Content-Length: 2")}ok`], 204, ""],
  ["a chunked body after a 204", [`${makeHead("204 No Content", CHUNKED)}2\r\nok\r\n0\r\n\r\n`], 204, ""],
  ["20 KB after a 204", [`${makeHead("204 No Content")}${"x".repeat(20_000)}`], 204, ""],
  [
    "a body after a 204 behind a 100",
    [`${makeHead("100 Continue")}${makeHead("204 No Content")}ok`],
    204,
    "",
  ],
  ["a body after a 304", [`${makeHead("304 Not Modified", "Content-Length: 2")}ok`], 304, ""],
  ["more than Content-Length", [`${makeHead("200 OK", "Content-Length: 2")}okay`], 200, "ok"],
  ["more than a Content-Length of 0", [`${makeHead("200 OK", "Content-Length: 0", KEPT)}ok`], 200, ""],
  ["more than a refusal's Content-Length", [`${makeHead("401 No", "Content-Length: 2")}no!`], 401, "no"],
  ["bytes after the last chunk", [`${makeHead("200 OK", CHUNKED)}2\r\nok\r\n0\r\n\r\nmore`], 200, "ok"],
  ["a second answer", [`${makeHead("200 OK", "Content-Length: 2", KEPT)}ok${SECOND}`], 200, "ok"],
  ["a second answer, later", [`${makeHead("200 OK", "Content-Length: 2", KEPT)}ok`, 20, SECOND], 200, "ok"],
  ["a body after a 204, later", [makeHead("204 No Content", KEPT), 20, "ok"], 204, ""],
];

describe("an answer with bytes after its end", () => {
  it.each(SURPLUS)("counts with its status: %s [G24]", async (_title, pieces, status, body) => {
    const { url, connections, open } = await startServer(...pieces);
    const outbound = createSender();
    for (const number of [1, 2]) {
      const result = await outbound.send(createPost(url, { timeoutMs: 10_000 }));
      expect([result.error, result.response_code, result.body.toString()]).toEqual([undefined, status, body]);
      expect(connections()).toBe(number);
      await waitUntil(() => open() === 0);
    }
  });

  it("closes its connection at once, also if the bytes arrive while it is idle", async () => {
    const { url, open } = await startServer(makeHead("204 No Content", KEPT), 20, "ok");
    const outbound = createSender();
    await waitUntil(async () => {
      expect((await outbound.send(createPost(url, { timeoutMs: 10_000 }))).response_code).toBe(204);
      const began = performance.now();
      await waitUntil(() => open() === 0);
      return performance.now() - began < 500;
    });
  });

  it("is a success for a delivery, directly and forwarded [6.4]", async () => {
    const { url } = await startServer(`${makeHead("204 No Content")}ok`);
    const api = await startWebhooks();
    cleanUpLater(() => api.close());
    await api.webhook(url);
    expect(await api.trigger()).toMatchObject([{ status: "success", response_code: 204 }]);
    const local = new LocalReceiver(url, 10_000);
    cleanUpLater(() => local.close());
    const { answer } = await local.call({
      ...{ id: "1", at: "2026-03-15T12:00:00.000Z", method: "POST" },
      ...{ headers: {}, body_base64: "e30=" },
    });
    expect(answer).toMatchObject({ status: 204 });
  });

  it("does not fail a sound receiver in the receiver test [6]", async () => {
    const processed = new Set<string>();
    const server = http.createServer(async (request, response) => {
      const body = await buffer(request).catch(() => undefined);
      if (body === undefined) return;
      const status = answer(request, body);
      const text = status === 200 ? JSON.stringify([...processed]) : "ok";
      const length = status === 200 ? [`Content-Length: ${text.length}`] : [];
      response.socket!.end(`${makeHead(`${status} Answer`, ...length, "Connection: close")}${text}surplus`);
    });
    const answer = ({ method, url, headers }: http.IncomingMessage, body: Buffer) => {
      if (method === "GET" && url === "/processed") return 200;
      if (method !== "POST") return 405;
      const digest = createHmac("sha256", SECRET).update(body).digest("hex");
      if (headers["x-service-signature"] !== `sha256=${digest}`) return 401;
      try {
        processed.add(JSON.parse(body.toString()).delivery_id);
        return 204;
      } catch {
        return 400;
      }
    };
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanUpLater(() => server.close());
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const report = await grade(`${base}/hook`, { probe: `${base}/processed` });
    expect(report.checks.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
    expect(report.verdict).toBe("pass");
  });
});
