import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import type { SendToSelf } from "../../engine/pipeline/plain-http.ts";

export function createSendToSelf(address: () => { host: string; port: number }): SendToSelf {
  return async ({ method, target, headers, body }, signal) => {
    const { host, port } = address();
    const flatHeaders = headers.flatMap(([name, value]) => [name!, value!]);
    // An HTTP/1.0 client may omit Host, but this request uses HTTP/1.1, which requires it.
    if (!headers.some(([name]) => name!.toLowerCase() === "host"))
      flatHeaders.push("Host", `127.0.0.1:${port}`);
    if (body !== undefined) flatHeaders.push("Content-Length", String(body.length));
    const options = { host, port, method, path: target, headers: flatHeaders as never };
    const outgoing = request({ ...options, setHost: false, agent: false, ...(signal && { signal }) });
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once("response", resolve).on("error", reject);
    });
    outgoing.end(body);
    const answer = await response;
    return { status: answer.statusCode!, headers: answer.rawHeaders, body: await buffer(answer) };
  };
}
