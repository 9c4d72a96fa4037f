import { EventEmitter, once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { createMcpHandler, isJSONRPCRequest } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { ServerAccess } from "../../control/understudy-options.ts";
import { ClientGoneError } from "../../engine/pipeline/plain-http.ts";
import { readBytes } from "../../engine/pipeline/read-body.ts";
import { NodeRequest } from "../../hosts/node/node-request.ts";
import { connect, UnderstudyClient } from "../connect.ts";
import { ControlHttp } from "../http.ts";
// `fetch` would replace the Host.
import "../node-transport.ts";
import { startOnce } from "../start-once.ts";
import { createMcpServer, loadTarget } from "./mcp-server.ts";

/**
 * `understudy mcp`: speaks the protocol over standard input and output until its input has ended and every request is
 * answered.
 * @throws UnreachableError if no server answers
 */
export async function serveMcpOverStdio(client: UnderstudyClient, version: string): Promise<void> {
  // Checked at once, rather than at the client's first call.
  await client.health();
  const target = await loadTarget(client);
  const unanswered = new Set<unknown>();
  const answers = new EventEmitter();
  const settle = (id: unknown) => {
    unanswered.delete(id);
    answers.emit("answer");
  };
  const transport = new StdioServerTransport(Readable.from(readInput(unanswered, answers)));
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    await send(message);
    if (!("method" in message)) settle(message.id);
  };
  serveStdio(() => createMcpServer(target, version), {
    transport,
    onerror: ({ message }) => process.stderr.write(`understudy: ${message}\n`),
  });
  // Wraps the handlers that `serveStdio` has set.
  const { onmessage, onclose } = transport;
  transport.onmessage = (message) => {
    // A subscription lasts as long as the connection.
    if (isJSONRPCRequest(message) && message.method !== "subscriptions/listen") unanswered.add(message.id);
    else if ("method" in message && message.method === "notifications/cancelled")
      settle(message.params?.["requestId"]);
    onmessage?.(message);
  };
  await new Promise<void>((resolve) => {
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
  // After a broken pipe, input may still be open. Input from a file has no `unref`, and ends by itself.
  process.stdin.unref?.();
}

/** Standard input, which ends only when every request is answered: the transport gives no answers after its end. */
async function* readInput(unanswered: ReadonlySet<unknown>, answers: EventEmitter): AsyncGenerator<Buffer> {
  yield* process.stdin;
  // Ends a last line without a newline.
  yield Buffer.from("\n");
  while (unanswered.size > 0) await once(answers, "answer");
}

/** No call of a tool is larger; the control API has its own limits. */
const MAX_BODY_BYTES = 1024 * 1024;

/** `/_control/mcp` (interfaces.md 13), behind the guard of the control API, of which the tools are clients. */
export function createMcpHttpHandler({ url, token, version }: ServerAccess) {
  // Each request gets its own MCP server; all share one description of the control API.
  const load = startOnce(() => loadTarget(connect(url(), { token })));
  const handler = createMcpHandler(async ({ requestInfo }) => {
    const { client, api } = await load();
    // The URLs in answers are for the agent, which may reach the server by another name or port than the server itself.
    const host = requestInfo?.headers.get("host") ?? undefined;
    const http = new ControlHttp(client.url, client.http.token, { host });
    return createMcpServer({ client: new UnderstudyClient(http), api }, version);
  });
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const plain = new NodeRequest(request, response);
    const body = await readBytes(plain, MAX_BODY_BYTES).catch((error: unknown) => {
      if (!(error instanceof ClientGoneError)) throw error;
    });
    if (body === undefined) return;
    const answer = await handler.fetch(toWebRequest(request, { body, signal: plain.signal }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) return void response.end();
    const bodyStream = Readable.fromWeb(answer.body as import("node:stream/web").ReadableStream);
    bodyStream.once("error", () => response.destroy());
    bodyStream.pipe(response);
  };
}

function toWebRequest(
  { method = "GET", headers, url = "/" }: IncomingMessage,
  { body, signal }: { body: Uint8Array; signal: AbortSignal },
): Request {
  const webHeaders = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) webHeaders.set(name, String(value));
  return new Request(new URL(url, "http://understudy.invalid"), {
    // A Request cannot have the method TRACE; PUT gets the same answer.
    method: method === "TRACE" ? "PUT" : method,
    headers: webHeaders,
    signal,
    ...(method === "POST" && { body }),
  });
}
