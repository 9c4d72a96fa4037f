import { createHash } from "node:crypto";
import { request } from "node:http";
import type { Answer, AnswerBody, Request } from "./recording.ts";

/** The recording names the server by this address; the real port differs from run to run. */
export const RECORDED_HOST = "127.0.0.1:47474";

/** An answer that is longer is kept as its checksum, so that the recording stays readable. */
const LONGEST_TEXT = 65_536;
const LONGEST_BINARY = 1024;

/** They belong to the connection or to the wall clock, not to the answer. */
const LEFT_OUT = new Set(["date", "connection", "keep-alive"]);

/** Match what control answers tell of the wall clock: how long something really took, and when a sandbox was made. */
const WALL_CLOCK = [
  /(?<="(?:duration_ms|uptime_seconds|time|wait|service-processing-ms)":)(?:[\d.]+|"\d+")/g,
  /(?<="name":"service-processing-ms","value":)"\d+"/g,
  /(?<=,"created_at":)"[^"]+"(?=,"counts":)/g,
];
const MASKED = '"MASKED"';

/** Sends a request of the recording to the server on this port and gives its answer in the recording's form. */
export function exchange(port: number, { method, path, headers, body }: Request): Promise<Answer> {
  const bytes = bytesOf(body, port);
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        port,
        host: "127.0.0.1",
        method,
        path,
        agent: false,
        headers: {
          host: RECORDED_HOST,
          ...headers,
          ...(bytes ? { "content-length": String(bytes.length) } : {}),
        },
      },
      (response) => {
        const pieces: Buffer[] = [];
        let broken = false;
        response.on("data", (piece: Buffer) => pieces.push(piece));
        // A connection that breaks within an answer is what some faults are about.
        response.on("error", () => {
          broken = true;
        });
        response.on("close", () => {
          const answer = { status: response.statusCode!, rawHeaders: response.rawHeaders };
          resolve(inRecordedForm({ ...answer, bytes: Buffer.concat(pieces), broken }, { port, path }));
        });
      },
    );
    asked.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "ECONNRESET") reject(error);
      else resolve({ status: 0, headers: [], body: "", broken: true });
    });
    asked.end(bytes);
  });
}

/** The same without a socket. Header names come in lower case, sorted, and a broken connection as `fetch` shows it. */
export async function exchangeInProcess(
  { fetch, port }: { fetch: (request: globalThis.Request) => Promise<Response>; port: number },
  { method, path, headers, body }: Request,
): Promise<Answer> {
  const { host = RECORDED_HOST, ...others } = headers;
  const place = { port, path };
  const asked = new Request(`http://${host}${path}`, { method, headers: others, body: bytesOf(body, port) });
  let response: Response;
  try {
    response = await fetch(asked);
  } catch {
    return { status: 0, headers: [], body: "", broken: true };
  }
  const pieces: Uint8Array[] = [];
  let broken = false;
  try {
    for await (const piece of response.body ?? []) pieces.push(piece as Uint8Array);
  } catch {
    broken = true;
  }
  const answer = { status: response.status, rawHeaders: [...response.headers].flat() };
  return inRecordedForm({ ...answer, bytes: Buffer.concat(pieces), broken }, place);
}

/** Headers that the journal shows, and that clients add by themselves. */
const OF_CLIENTS = /,\{"name":"(?:Connection","value":"close|accept","value":"\*\/\*)"\}/g;

/** Without what belongs to a connection; headers as `Headers` has them: in lower case, sorted, those of one name joined. */
export function withoutConnection(answer: Answer): Answer {
  const headers = new Headers(answer.headers);
  headers.delete("transfer-encoding");
  const { body } = answer;
  return {
    ...answer,
    headers: [...headers],
    body: typeof body === "string" ? body.replace(OF_CLIENTS, "") : body,
  };
}

function bytesOf(body: Request["body"], port: number): Buffer | undefined {
  if (body === undefined) return undefined;
  if (typeof body !== "string") return Buffer.from(body.base64, "base64");
  return Buffer.from(body.replaceAll(RECORDED_HOST, `127.0.0.1:${port}`));
}

interface Received {
  status: number;
  rawHeaders: readonly string[];
  bytes: Buffer;
  broken: boolean;
}

function inRecordedForm(
  { status, rawHeaders, bytes, broken }: Received,
  { port, path }: { port: number; path: string },
): Answer {
  const text = textOf(bytes)?.replaceAll(`:${port}`, `:${RECORDED_HOST.split(":")[1]}`);
  const shown = text !== undefined && path.startsWith("/_control/") ? maskWallClock(text) : text;
  const headers: [string, string][] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const value = rawHeaders[i + 1]!.replaceAll(`:${port}`, `:${RECORDED_HOST.split(":")[1]}`);
    if (!LEFT_OUT.has(name.toLowerCase())) headers.push([name, maskHeader(name, value, shown !== text)]);
  }
  const body = shown === undefined ? shortBinary(bytes) : shortText(shown);
  return { status, headers, body, ...(broken ? { broken } : {}) };
}

function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function maskWallClock(text: string): string {
  return WALL_CLOCK.reduce((masked, field) => masked.replace(field, MASKED), text);
}

/** A duration with one more digit makes the body longer, so its length says nothing either. */
function maskHeader(name: string, value: string, isBodyMasked: boolean): string {
  const isMasked =
    name.toLowerCase() === "service-processing-ms" ||
    (isBodyMasked && name.toLowerCase() === "content-length");
  return isMasked ? "MASKED" : value;
}

function shortText(text: string): AnswerBody {
  if (text.length <= LONGEST_TEXT) return text;
  return { ...computeChecksum(Buffer.from(text)), begins: text.slice(0, 300) };
}

function shortBinary(bytes: Buffer): AnswerBody {
  return bytes.length <= LONGEST_BINARY ? { base64: bytes.toString("base64") } : computeChecksum(bytes);
}

function computeChecksum(bytes: Buffer) {
  return { sha256: createHash("sha256").update(bytes).digest("hex"), length: bytes.length };
}
