import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, describe, expect, it, test, vi } from "vitest";
import { endTogether, handleTogether } from "./batches.ts";

afterEach(() => void vi.useRealTimers());

/** A response that reports when it is ended. */
const responses = () => {
  const ended: string[] = [];
  const response = (name: string, destroyed = false) =>
    ({ destroyed, end: (body: string) => void ended.push(`${name} ${body}`) }) as unknown as ServerResponse;
  return { ended, response };
};

test("requests that arrive in one turn of the event loop are handled in a row, after the last was read", async () => {
  const handled: string[] = [];
  const handleRequest = handleTogether(({ url }) => void handled.push(url!));
  const handle = (url: string) => handleRequest({ url } as IncomingMessage, {} as never);
  for (const path of ["/1", "/2"]) handle(path);
  await Promise.resolve();
  expect(handled).toEqual([]);
  await turn();
  expect(handled).toEqual(["/1", "/2"]);
  handle("/3");
  await turn();
  expect(handled).toEqual(["/1", "/2", "/3"]);
});

test("answers that become ready before Node's next tick are written there, in their order", async () => {
  const { ended, response } = responses();
  endTogether(response("a"), "1");
  await Promise.resolve();
  endTogether(response("gone", true), "2");
  endTogether(response("b"), "3");
  expect(ended).toEqual([]);
  await turn();
  expect(ended).toEqual(["a 1", "b 3"]);
  endTogether(response("c"), "4");
  await turn();
  expect(ended.at(-1)).toBe("c 4");
});

test("a test's fake timers in the server's process delay no answer", async () => {
  const { ended, response } = responses();
  vi.useFakeTimers();
  endTogether(response("a"), "1");
  await turn();
  expect(ended).toEqual(["a 1"]);
});

describe("an answer that goes out through Node", () => {
  const ENDINGS = [
    { of: "a plain text", body: "{}", bytes: "{}" },
    { of: "a plain text to HEAD", method: "HEAD", body: "{}", bytes: "" },
    { of: "no text", body: "", bytes: "" },
    { of: "nothing", body: undefined, bytes: "" },
    { of: "bytes as a text", body: "\u00e9\u00ff", bytes: "\u00e9\u00ff" },
    { of: "a buffer", body: Buffer.from([0, 255]), bytes: "\u0000\u00ff" },
    { of: "a long text", body: "x".repeat(200_000), bytes: "x".repeat(200_000) },
    {
      of: "a text of no announced length",
      isChunked: true,
      body: "{}",
      bytes: "2\r\n{}\r\n0\r\n\r\n",
    },
  ] as const;

  it.each(ENDINGS)(
    "$of: head and body arrive as written, and the connection serves the next",
    async (ending) => {
      const { body, bytes } = ending;
      const isAnnounced = !("isChunked" in ending);
      const finished: string[] = [];
      const server = createServer((request, response) => {
        const length = Buffer.byteLength(body ?? "", "latin1");
        response.writeHead(200, isAnnounced ? { "Content-Length": length } : {});
        response.once("finish", () => finished.push(request.url!));
        endTogether(response, body);
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
      const ask = (path: string, more = "") =>
        socket.write(
          `${"method" in ending ? ending.method : "GET"} ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`,
        );
      ask("/1");
      ask("/2", "Connection: close\r\n");
      let received = "";
      socket.setEncoding("latin1").on("data", (piece: string) => {
        received += piece;
      });
      await once(socket, "close");
      server.close();
      const [nothing, ...answers] = received.split("HTTP/1.1 200 OK\r\n");
      expect(nothing).toBe("");
      expect(answers.map((answer) => answer.slice(answer.indexOf("\r\n\r\n") + 4))).toEqual([bytes, bytes]);
      expect(finished).toEqual(["/1", "/2"]);
    },
  );
});
