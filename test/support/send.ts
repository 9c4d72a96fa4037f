import { type Agent, type IncomingMessage, request } from "node:http";

export interface Sending {
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array | FormData | undefined;
}

export interface Received {
  status: number;
  headers: Headers;
  text: string;
}

/** Headers of `fetch`, without accept-encoding, since nothing here decompresses. */
const FETCH_HEADERS = {
  accept: "*/*",
  "accept-language": "*",
  "sec-fetch-mode": "cors",
  "user-agent": "node",
};

/**
 * Sends a request as `fetch` does, without following redirects, in about half the processor time. Rejects if the
 * connection breaks.
 */
export async function send(agent: Agent, url: string, sending: Sending): Promise<Received> {
  const { method, headers, body } = sending;
  // For these few requests use fetch, which writes forms and decompresses.
  if (body instanceof FormData || "accept-encoding" in headers) {
    const response = await fetch(url, { method, headers, body, redirect: "manual" });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
  const own = new Headers(headers);
  if (typeof body === "string" && !own.has("content-type"))
    own.set("content-type", "text/plain;charset=UTF-8");
  if (body !== undefined) own.set("content-length", String(Buffer.byteLength(body)));
  return new Promise((resolve, reject) => {
    const options = { agent, method, headers: { ...FETCH_HEADERS, ...Object.fromEntries(own) } };
    const sent = request(new URL(url), options, (answer) => void readAnswer(answer).then(resolve, reject));
    sent.once("error", reject);
    sent.end(body);
  });
}

async function readAnswer(answer: IncomingMessage): Promise<Received> {
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  const headers = new Headers();
  const { rawHeaders } = answer;
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
  return { status: answer.statusCode!, headers, text: new TextDecoder().decode(Buffer.concat(pieces)) };
}
