import net from "node:net";
import { gzipSync } from "node:zlib";

/** A receiver that violates HTTP or TCP rules. Uses raw sockets, since HTTP libraries would correct its errors. */
export interface HostileReceiver {
  port: number;
  /** http URL, or https if the receiver breaks the TLS handshake. */
  url: string;
  /** Connections accepted so far. */
  connections(): number;
  /** Connections that the client has not closed yet. */
  open(): number;
  close(): Promise<void>;
}

/** Handles a connection of a receiver after the first bytes of a request. */
type Behaviour = (socket: net.Socket) => void;

const EVERY_MS = 20;

/** Failures that were seen in real receivers, or that an attacker would try. */
export const HOSTILE_BEHAVIOURS = {
  "reset-before-headers": (socket) => socket.resetAndDestroy(),
  "reset-after-headers": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart", () => socket.resetAndDestroy());
  },
  "close-without-a-byte": (socket) => socket.end(),
  "close-mid-status": (socket) => socket.end("HTTP/1.1 20"),
  silence: () => {},
  "dribbled-headers": (socket) => dribble(socket, "HTTP/1.1 200 OK\r\n", "X-Filler: a\r\n"),
  "dribbled-status": (socket) => dribble(socket, "H", ""),
  "dribbled-body": (socket) => dribble(socket, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", "."),
  "dribbled-chunks": (socket) => dribble(socket, `${CHUNKED}`, "1\r\n.\r\n"),
  "dribbled-trailers": (socket) => dribble(socket, `${CHUNKED}0\r\n`, "X-T: a\r\n"),
  "informational-flood": (socket) => flood(socket, "", "HTTP/1.1 102 Processing\r\n\r\n"),
  "informational-dribble": (socket) => dribble(socket, "", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
  "switching-flood": (socket) => flood(socket, "", "HTTP/1.1 101 Switching Protocols\r\n\r\n"),
  "endless-headers": (socket) => flood(socket, "HTTP/1.1 200 OK\r\n", `X-Filler: ${"a".repeat(1000)}\r\n`),
  "endless-status-line": (socket) => flood(socket, "HTTP/1.1 200 ", "OK".repeat(500)),
  "endless-body": (socket) => flood(socket, "HTTP/1.1 200 OK\r\n\r\n", ".".repeat(8192)),
  "endless-chunks": (socket) => flood(socket, CHUNKED, "1\r\n.\r\n".repeat(1000)),
  "endless-chunk-extension": (socket) => flood(socket, `${CHUNKED}1;`, "a=b;".repeat(1000)),
  "endless-chunk-size": (socket) => flood(socket, CHUNKED, "0000"),
  "endless-blank-lines": (socket) => flood(socket, "", "\r\n"),
  "wordy-interim-answers": (socket) => {
    flood(socket, "", `HTTP/1.1 103 Early Hints\r\nLink: ${"a".repeat(8000)}\r\n\r\n`);
  },
  "endless-trailers": (socket) => flood(socket, `${CHUNKED}0\r\n`, "X-T: a\r\n".repeat(100)),
  "endless-error": (socket) => flood(socket, "HTTP/1.1 503 Unavailable\r\n\r\n", "sorry ".repeat(1000)),
  "gzip-bomb": (socket) => socket.end(Buffer.concat([GZIP_HEAD, BOMB])),
  "content-length-too-long": (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"),
  "content-length-too-short": (socket) => {
    socket.end(
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nokHTTP/1.1 500 No\r\n\r\n",
    );
  },
  "content-length-nonsense": (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nok"),
  "content-length-twice": (socket) => {
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk");
  },
  "not-http": (socket) => socket.end("220 mail.example.test ESMTP\r\n"),
  "switching-protocols": (socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
  },
  "tls-garbage": (socket) => socket.end("this is not TLS record at all, whatever the client hoped for"),
  "tls-silence": () => {},
  "tls-reset": (socket) => socket.resetAndDestroy(),
} as const satisfies Record<string, Behaviour>;

export type HostileBehaviour = keyof typeof HOSTILE_BEHAVIOURS;

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
/** 20 MB of zeros in about 20 KB. */
const BOMB = gzipSync(Buffer.alloc(20 * 1024 * 1024));
const GZIP_HEAD = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`,
);

/** A separate loopback address, if there are several: clients of an earlier server on this port must not be counted. */
const HOST = process.platform === "linux" ? "127.71.3.9" : "127.0.0.1";

/** Starts a receiver with one of the behaviours on a loopback address and a free port. */
export function startHostile(behaviour: HostileBehaviour): Promise<HostileReceiver> {
  return listenRaw(HOSTILE_BEHAVIOURS[behaviour], behaviour.startsWith("tls-") ? "https" : "http");
}

/** Starts a receiver that responds with 302 to the given location. */
export function startRedirecting(location: string): Promise<HostileReceiver> {
  return listenRaw((socket) => {
    socket.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
  }, "http");
}

async function listenRaw(behaviour: Behaviour, scheme: "http" | "https"): Promise<HostileReceiver> {
  const sockets = new Set<net.Socket>();
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    // The request must be read, otherwise closing would always send a reset.
    socket.once("data", () => behaviour(socket)).resume();
  });
  await new Promise<void>((ready) => server.listen(0, HOST, ready));
  const { port } = server.address() as net.AddressInfo;
  return {
    port,
    url: `${scheme}://${HOST}:${port}/hook`,
    connections: () => connections,
    open: () => sockets.size,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}

/** Writes the start, then a piece every few milliseconds until the client closes. */
function dribble(socket: net.Socket, start: string, piece: string): void {
  socket.write(start);
  const timer = setInterval(() => socket.write(piece), EVERY_MS);
  socket.on("close", () => clearInterval(timer));
}

/** Writes as fast as the client reads until the client closes. */
function flood(socket: net.Socket, start: string, piece: string): void {
  const block = piece.repeat(Math.max(1, Math.ceil(8192 / piece.length)));
  const pour = () => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.write(start);
  socket.on("drain", pour);
  pour();
}
