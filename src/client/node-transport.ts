import { type IncomingMessage, type RequestOptions, request, type Server } from "node:http";
import { request as requestTls } from "node:https";
import { Socket, type SocketConnectOpts } from "node:net";
import { duplexPair } from "node:stream";
import { toConnectionEvent } from "../hosts/node/linger.ts";
import { provideTransport } from "./http.ts";
import { type Call, ClosedError, type Reply, type Transport } from "./transport.ts";

// Read at import, since MSW, nock and others later replace `fetch`, `http.request` and this method.
const { connect } = Socket.prototype as { connect(this: Socket, options: SocketConnectOpts): Socket };

// Importing this file provides the transport.
provideTransport((url, call) =>
  send(url, call, (options) => connect.call(new Socket(), options as SocketConnectOpts)),
);

/** Calls of a server in this process, which need no socket at all. */
export function createProcessTransport(server: Server): Transport {
  const createConnection = () => {
    const [ours, theirs] = duplexPair();
    // Destroying one side of a pair does not end the other, which would wait for ever.
    theirs.once("close", () => ours.push(null));
    ours.once("close", () => theirs.destroy());
    server.emit(toConnectionEvent(server), theirs);
    return ours;
  };
  return (url, call) =>
    // Without TLS even if the server has TLS, since the connection stays in this process.
    send(url.replace(/^https:/, "http:"), call, createConnection).catch((error: unknown) => {
      throw server.listening ? error : new ClosedError();
    });
}

function send(
  url: string,
  { signal, body, ...call }: Call,
  createConnection: RequestOptions["createConnection"],
): Promise<Reply> {
  signal?.throwIfAborted();
  // An MSW that was started before this import lets a call with this header pass.
  const headers = { ...call.headers, accept: `${call.headers["accept"]}, msw/passthrough` };
  const options = { ...call, headers };
  const outgoing = url.startsWith("https:")
    ? requestTls(url, options)
    : request(url, { ...options, createConnection });
  const abort = () => outgoing.destroy(signal!.reason as Error);
  signal?.addEventListener("abort", abort);
  outgoing.once("close", () => signal?.removeEventListener("abort", abort));
  return new Promise((resolve, reject) => {
    outgoing.once("response", (response) => resolve(toReply(response)));
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function toReply(response: IncomingMessage): Reply {
  return {
    status: response.statusCode!,
    statusText: response.statusMessage!,
    contentType: response.headers["content-type"] ?? "",
    async text() {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      return text;
    },
    async bytes() {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      return new Uint8Array(Buffer.concat(chunks));
    },
    chunks: () => response.setEncoding("utf8"),
  };
}
