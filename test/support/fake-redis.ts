import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";

/** Reply to a command. The text of an error is Redis' own; undefined sends no reply. */
export type FakeReply = string | number | Error | readonly FakeReply[] | null | undefined;

/** INFO of a Redis that loses no data. */
export const INFO = { run_id: "run-1", maxmemory_policy: "noeviction", aof_enabled: "1", role: "master" };

/**
 * A server of Redis' protocol (RESP 2) whose replies a test sets, for states that a real Redis cannot be brought
 * into.
 */
export async function startFakeRedis() {
  const commands: string[][] = [];
  const sockets = new Set<Socket>();
  const redis = {
    info: INFO as Record<string, string>,
    /** Called first; where it returns undefined, the reply is the usual one. */
    answer: undefined as ((words: string[]) => FakeReply) | undefined,
    isSilent: false,
    commands,
    url: "",
    /** Number of connections so far. */
    connections: 0,
    /** Lists the arguments of all commands of this name. */
    listArguments: (name: string) =>
      commands.filter(([first]) => first === name).map(([, ...words]) => words),
    drop() {
      for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        redis.drop();
      }),
  };
  const answerUsually = ([name]: string[]): FakeReply =>
    name === "INFO"
      ? `# Server\r\n${Object.entries(redis.info)
          .map(([key, value]) => `${key}:${value}`)
          .join("\r\n")}\r\n`
      : "OK";
  const server = createServer((socket) => {
    redis.connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    let rest = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (let read = parseCommand(rest); read !== undefined; read = parseCommand(rest)) {
        rest = rest.subarray(read.length);
        commands.push(read.words);
        if (redis.isSilent) continue;
        socket.write(encodeReply(redis.answer?.(read.words) ?? answerUsually(read.words)));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  redis.url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return redis;
}

/** Parses the first complete command: a list of texts. */
function parseCommand(bytes: Buffer): { words: string[]; length: number } | undefined {
  let at = 0;
  const readLine = () => {
    const end = bytes.indexOf("\r\n", at);
    if (end < 0) return undefined;
    const number = Number(bytes.toString("latin1", at + 1, end));
    at = end + 2;
    return number;
  };
  const count = readLine();
  if (count === undefined) return undefined;
  const words: string[] = [];
  for (let i = 0; i < count; i++) {
    const length = readLine();
    if (length === undefined || bytes.length < at + length + 2) return undefined;
    words.push(bytes.toString("utf8", at, at + length));
    at += length + 2;
  }
  return { words, length: at };
}

function encodeReply(reply: FakeReply): string {
  if (reply === null || reply === undefined) return "$-1\r\n";
  if (typeof reply === "number") return `:${reply}\r\n`;
  if (typeof reply === "string") return `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`;
  if (reply instanceof Error) return `-${reply.message}\r\n`;
  return `*${reply.length}\r\n${reply.map(encodeReply).join("")}`;
}
