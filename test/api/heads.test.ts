import { createServer, type IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { headersIn } from "../../src/engine/sandbox/head-lines.ts";
import { type Head, writeHead } from "../../src/hosts/node/head.ts";

const LINES = "x-request-id: req_1\r\nX-RateLimit-Limit: 60\r\nX-Empty: \r\n";

/** What came over the wire, but for the date. */
async function answered(port: number, path: string, headers = ""): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n${headers}\r\n`);
    });
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text.replace(/Date: [^\r]*/, "Date: now")));
  });
}

describe("9 heads that are written at once", () => {
  let port = 0;
  const server = createServer((request, response) => {
    const [, way, status] = request.url!.split("/");
    const body = status === "204" || status === "304" ? undefined : "hello";
    const headers = ["Content-Type", "text/plain", ...(body ? ["Content-Length", "5"] : [])];
    const write = way === "lines" ? withLines : withHeaders;
    write(response, Number(status), { lines: LINES, headers });
    response.end(body);
  });
  const withLines = writeHead;
  const withHeaders = (response: ServerResponse, status: number, { lines, headers }: Head) =>
    response.writeHead(status, [...headersIn(lines), ...headers]);

  beforeAll(
    () =>
      new Promise<void>((resolve) => {
        server.listen(0, "127.0.0.1", () => {
          port = (server.address() as AddressInfo).port;
          resolve();
        });
      }),
  );
  afterAll(() => server.close());

  it.each([200, 201, 204, 301, 304, 404, 422, 500, 507, 599])(
    "9 a head of status %i is what Node's writeHead makes of the same headers",
    async (status) => {
      const expected = await answered(port, `/headers/${status}`);
      expect(expected).toContain("X-RateLimit-Limit: 60\r\n");
      expect(await answered(port, `/lines/${status}`)).toBe(expected);
    },
  );

  it("9 a head says the same to whoever waits for a 100", async () => {
    const expect100 = "Expect: 100-continue\r\nContent-Length: 0\r\n";
    expect(await answered(port, "/lines/200", expect100)).toBe(
      await answered(port, "/headers/200", expect100),
    );
  });

  it("9 a header that HTTP cannot carry is refused before anything was written", () => {
    const request = { method: "GET", httpVersionMajor: 1, httpVersionMinor: 1, headers: {} };
    const response = new ServerResponse(request as IncomingMessage);
    expect(() => writeHead(response, 200, { lines: LINES, headers: ["X-Name", "two\r\nlines"] })).toThrow(
      /Invalid character in header content/,
    );
    expect(response.headersSent).toBe(false);
  });
});
