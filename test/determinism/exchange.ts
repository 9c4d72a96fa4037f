import { createHash } from "node:crypto";
import { request } from "node:http";
import type { Answer, AnswerBody, Request } from "./recording.ts";

/** The server's address in the recording; the real port differs between runs. */
export const RECORDED_HOST = "127.0.0.1:47474";

/** Longer responses are stored as checksums, so that the recording stays readable. */
const LONGEST_TEXT = 65_536;
const LONGEST_BINARY = 1024;

/** Headers of the connection or the wall clock. */
const IGNORED_HEADERS = new Set(["date", "connection", "keep-alive"]);

/** Match wall-clock values in control responses: durations and creation times. */
const WALL_CLOCK = [
  /(?<="(?:duration_ms|uptime_seconds|time|wait|service-processing-ms)":)(?:[\d.]+|"\d+")/g,
  /(?<="name":"service-processing-ms","value":)"\d+"/g,
  /(?<=,"created_at":)"[^"]+"(?=,"counts":)/g,
];
const MASKED = '"MASKED"';

/** Sends a request of the recording to the server and returns its response in the recording's form. */
export function exchange(port: number, { method, path, headers, body }: Request): Promise<Answer> {
  const bytes = toBytes(body, port);
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
        // Some faults break the connection within a response.
        response.on("error", () => {
          broken = true;
        });
        response.on("close", () => {
          const answer = { status: response.statusCode!, rawHeaders: response.rawHeaders };
          resolve(toRecordedForm({ ...answer, bytes: Buffer.concat(pieces), broken }, { port, path }));
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

/** Sends it without a socket. Header names are in lower case and sorted; a broken connection looks as in `fetch`. */
export async function exchangeInProcess(
  { fetch, port }: { fetch: (request: globalThis.Request) => Promise<Response>; port: number },
  { method, path, headers, body }: Request,
): Promise<Answer> {
  const { host = RECORDED_HOST, ...others } = headers;
  const place = { port, path };
  const asked = new Request(`http://${host}${path}`, { method, headers: others, body: toBytes(body, port) });
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
  return toRecordedForm({ ...answer, bytes: Buffer.concat(pieces), broken }, place);
}

/** Headers that clients add themselves and that the journal shows. */
const CLIENT_HEADERS = /,\{"name":"(?:Connection","value":"close|accept","value":"\*\/\*)"\}/g;

/** Removes headers of the connection; writes the others as `Headers` does: in lower case, sorted and joined. */
export function withoutConnection(answer: Answer): Answer {
  const headers = new Headers(answer.headers);
  headers.delete("transfer-encoding");
  const { body } = answer;
  return {
    ...answer,
    headers: [...headers],
    body: typeof body === "string" ? body.replace(CLIENT_HEADERS, "") : body,
  };
}

function toBytes(body: Request["body"], port: number): Buffer | undefined {
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

function toRecordedForm(
  { status, rawHeaders, bytes, broken }: Received,
  { port, path }: { port: number; path: string },
): Answer {
  const text = decodeText(bytes)?.replaceAll(`:${port}`, `:${RECORDED_HOST.split(":")[1]}`);
  const shown = text !== undefined && path.startsWith("/_control/") ? maskWallClock(text) : text;
  const headers: [string, string][] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const value = rawHeaders[i + 1]!.replaceAll(`:${port}`, `:${RECORDED_HOST.split(":")[1]}`);
    if (!IGNORED_HEADERS.has(name.toLowerCase()))
      headers.push([name, maskHeader(name, value, shown !== text)]);
  }
  const body = shown === undefined ? shortenBinary(bytes) : shortenText(shown);
  return { status, headers, body, ...(broken ? { broken } : {}) };
}

function decodeText(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function maskWallClock(text: string): string {
  return WALL_CLOCK.reduce((masked, field) => masked.replace(field, MASKED), text);
}

/** Also masks the length of a masked body, since a duration may have one digit more. */
function maskHeader(name: string, value: string, isBodyMasked: boolean): string {
  const isMasked =
    name.toLowerCase() === "service-processing-ms" ||
    (isBodyMasked && name.toLowerCase() === "content-length");
  return isMasked ? "MASKED" : value;
}

function shortenText(text: string): AnswerBody {
  if (text.length <= LONGEST_TEXT) return text;
  return { ...computeChecksum(Buffer.from(text)), begins: text.slice(0, 300) };
}

function shortenBinary(bytes: Buffer): AnswerBody {
  return bytes.length <= LONGEST_BINARY ? { base64: bytes.toString("base64") } : computeChecksum(bytes);
}

function computeChecksum(bytes: Buffer) {
  return { sha256: createHash("sha256").update(bytes).digest("hex"), length: bytes.length };
}
