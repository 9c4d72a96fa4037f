import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface RawResponse {
  status: number;
  /** Header names are in lower case. */
  headers: Record<string, string>;
  body: string;
}

/** The responses on one connection, and whether the server closed it. */
export interface Conversation {
  text: string;
  answers: RawResponse[];
  closed: boolean;
}

/** How long to wait for a surplus response after the expected ones. */
const QUIET_MS = 40;
const MAX_WAIT_MS = 60_000;

/** Sends exactly these bytes, piece by piece, until the server closes or has sent `count` responses. */
export function converse(
  port: number,
  pieces: readonly (string | Buffer)[],
  count = 1,
): Promise<Conversation> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    let quiet: NodeJS.Timeout | undefined;
    const settle = (closed: boolean) => {
      clearTimeout(quiet);
      clearTimeout(longest);
      socket.destroy();
      resolve({ text, answers: parseAnswers(text), closed });
    };
    const longest = setTimeout(() => settle(false), MAX_WAIT_MS);
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      clearTimeout(quiet);
      if (parseAnswers(text).length >= count) quiet = setTimeout(() => settle(false), QUIET_MS);
    });
    socket.on("end", () => settle(true));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      // A reset after the response is accepted.
      error.code === "ECONNRESET" || error.code === "EPIPE" ? settle(true) : reject(error),
    );
    socket.on("connect", () => void write(socket, pieces));
  });
}

async function write(socket: Socket, pieces: readonly (string | Buffer)[]): Promise<void> {
  for (const [i, piece] of pieces.entries()) {
    if (i > 0) await sleep(5);
    if (socket.destroyed) return;
    socket.write(typeof piece === "string" ? Buffer.from(piece, "latin1") : piece);
  }
}

function parseAnswers(text: string): RawResponse[] {
  const answers: RawResponse[] = [];
  let rest = text;
  while (rest.startsWith("HTTP/1.1 ")) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) break;
    const [line = "", ...lines] = rest.slice(0, end).split("\r\n");
    const headers = Object.fromEntries(
      lines.map((header) => {
        const colon = header.indexOf(":");
        return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()];
      }),
    );
    const status = Number(line.split(" ")[1]);
    rest = rest.slice(end + 4);
    if (status < 200) continue;
    const length = headers["content-length"] === undefined ? rest.length : Number(headers["content-length"]);
    if (rest.length < length) break;
    answers.push({ status, headers, body: rest.slice(0, length) });
    rest = rest.slice(length);
  }
  return answers;
}
