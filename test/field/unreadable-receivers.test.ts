import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, cleanUpLater, createPost, createSender } from "../support/outbound-setup.ts";

afterEach(cleanUp);

/** A server that answers each request with this text. */
async function startServer(text: string): Promise<string> {
  const server = net.createServer((socket) =>
    socket.on("error", () => {}).once("data", () => socket.end(text, "latin1")),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUpLater(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

const makeHead = (...lines: string[]) => `${["HTTP/1.1 200 OK", ...lines].join("\r\n")}\r\n\r\n`;
const CHUNKED = "Transfer-Encoding: chunked";

const UNREADABLE: [title: string, answer: string, says: RegExp][] = [
  ["a body alone", "ok", /does not begin with a status line/],
  ["a page without a head", "<html></html>\r\n\r\n", /does not begin with a status line/],
  ["ICY", "ICY 200 OK\r\n\r\n", /does not begin with a status line/],
  ["HTTP/2 as text", "HTTP/2 200 OK\r\n\r\n", /version of HTTP/],
  ["a status of four digits", "HTTP/1.1 1000 X\r\n\r\n", /status is not a number of three digits/],
  ["no status", "HTTP/1.1 abc X\r\n\r\n", /status is not a number of three digits/],
  ["lines that end with LF", "HTTP/1.1 200 OK\nContent-Length: 0\n\n", /does not end with CR LF/],
  ["a space in a header's name", makeHead("X A: b"), /a header of the answer/],
  ["a header without a colon", makeHead("oops"), /a header of the answer/],
  ["a NUL in a header", makeHead("X-A: a\0b"), /a header of the answer/],
  ["a header of two lines", makeHead("X-A: a\r\n b"), /a header of the answer/],
  ["headers of 100 KB", makeHead(`X-A: ${"a".repeat(100_000)}`), /headers are too long/],
  ["two lengths", `${makeHead("Content-Length: 2", "Content-Length: 3")}abc`, /two Content-Length headers/],
  ["a length and chunks", `${makeHead("Content-Length: 2", CHUNKED)}ok`, /Content-Length/],
  ["chunks and a length", `${makeHead(CHUNKED, "Content-Length: 2")}ok`, /Content-Length/],
  ["a negative length", makeHead("Content-Length: -1"), /Content-Length is not a number/],
  ["a chunk without a size", `${makeHead(CHUNKED)}zz\r\n`, /broke off .*: the size of a chunk/],
];

describe("a receiver's answer that is not HTTP fails with the reason in a sentence, not in the parser's words [G24]", () => {
  it.each(UNREADABLE)("%s", async (_, answer, says) => {
    const { error, response_code } = await createSender().send(createPost(await startServer(answer)));
    expect([response_code, error?.kind]).toEqual([0, "protocol"]);
    expect(error?.message).toMatch(says);
    expect(error?.message).not.toMatch(/Parse Error|HPE_|Expected/);
  });
});
