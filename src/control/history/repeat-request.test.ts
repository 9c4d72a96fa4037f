import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import type { JournalEntry } from "../../engine/sandbox/journal-entry.ts";
import { createSendToSelf } from "../../hosts/node/send-to-self.ts";
import type { ControlServer } from "../operation.ts";
import { RemoteSandbox } from "../remote-sandbox.ts";
import { repeatRequest } from "./repeat-request.ts";

describe("a request that is repeated in a sandbox of another node", () => {
  const entry = {
    ...{ id: "req_1", method: "POST", path: "/v1/x", query: "a=1", operation: "models.list" },
    request_headers: [
      ...["Host", "h:1", "Api-Key", "k", "Content-Type", "text/plain", "Connection", "close"],
      ...["Content-Length", "4"],
      ...["Expect", "x", "Keep-Alive", "x", "Proxy-Connection", "x", "TE", "x", "Trailer", "x"],
      ...["Transfer-Encoding", "x", "Upgrade", "x", "X-Sandbox", "here", "X-Sandbox-Repeat", "old"],
    ],
    request_body: Buffer.from("body"),
    request_bytes: 4,
    response_body: undefined,
    streamed: undefined,
  };

  it("arrives there unchanged, under a rule that matches it alone and is removed afterwards [interfaces 10]", async () => {
    const heard: { line: string; headers: string[]; body: string }[] = [];
    const owner = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      heard.push({ line: `${request.method} ${request.url}`, headers: request.rawHeaders, body });
      response.writeHead(201, ["Date", "d", "X-Request-Id", "req_2"]).end('{"id":"r"}');
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => owner.once("listening", resolve));
    const { port } = owner.address() as AddressInfo;
    const server = { sendToSelf: createSendToSelf(() => ({ host: "127.0.0.1", port })) } as ControlServer;
    const target = new RemoteSandbox("there", server, { host: "h" });
    const rule = { id: "own", match: { operation: "models.*", header: { a: "b" } }, effect: { status: 500 } };
    const again = await repeatRequest(entry as unknown as JournalEntry, { server, target, rule });
    const streamed = await repeatRequest(
      { ...entry, query: "", streamed: { bytes: 1, sha256: "" } } as unknown as JournalEntry,
      { server, target, rule: undefined },
    );
    owner.close();
    expect(again).toMatchObject({ id: "req_2", status: 201, response_body: Buffer.from('{"id":"r"}') });
    expect(again.response_headers.slice(0, 4)).toEqual(["Date", "d", "X-Request-Id", "req_2"]);
    expect(again.response_headers.map((one) => one.toLowerCase())).not.toContain("transfer-encoding");
    expect(again.streamed).toBeUndefined();
    const sha256 = createHash("sha256").update('{"id":"r"}').digest("hex");
    expect(streamed.streamed).toEqual({ bytes: 10, sha256 });
    const [armed, sent, disarmed, plain] = heard;
    const mark = sent!.headers[sent!.headers.indexOf("x-sandbox-repeat") + 1]!;
    expect(mark).toMatch(/^[0-9a-f]{24}$/);
    expect(armed!.line).toBe("POST /_control/sandboxes/there/faults");
    expect(JSON.parse(armed!.body)).toEqual({
      ...{ id: `repeat-${mark}`, effect: { status: 500 } },
      match: { operation: "models.*", header: { a: "b", "x-sandbox-repeat": mark } },
    });
    expect(sent).toEqual({
      line: "POST /_s/there/v1/x?a=1",
      headers: [
        ...["Host", "h:1", "Api-Key", "k", "Content-Type", "text/plain", "x-sandbox-repeat", mark],
        ...["Content-Length", "4", "Connection", "close"],
      ],
      body: "body",
    });
    expect(disarmed!.line).toBe(`DELETE /_control/sandboxes/there/faults/repeat-${mark}`);
    expect([plain!.line, heard.length]).toEqual(["POST /_s/there/v1/x", 4]);
  });

  it("is refused with a reason if its body is truncated or its answer is missing [interfaces 10]", async () => {
    const server = { sendToSelf: createSendToSelf(() => ({ host: "127.0.0.1", port: 1 })) } as ControlServer;
    const target = new RemoteSandbox("there", server, {});
    const repeatEntry = (more: object) =>
      repeatRequest({ ...entry, ...more } as unknown as JournalEntry, { server, target, rule: undefined });
    const advice = "; repeat the entry of a newer request, or send the request yourself.";
    await expect(repeatEntry({ request_bytes: 5 })).rejects.toThrow(
      `The journal does not keep the body of req_1, which was too long${advice}`,
    );
    await expect(repeatEntry({ request_body: undefined, request_bytes: 0 })).rejects.toThrow(
      `The server gave no answer to the repeated request${advice}`,
    );
  });
});
