import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import type net from "node:net";
import { ALLOW_ALL } from "../../src/hosts/node/outbound/address-policy.ts";
import {
  createOutbound,
  type Outbound,
  type OutboundOptions,
} from "../../src/hosts/node/outbound/outbound.ts";
import type { OutboundRequest } from "../../src/hosts/node/outbound/outbound-request.ts";
import { type HostileBehaviour, startHostile } from "./receivers/hostile.ts";

/** Ends a test that hangs; a busy machine may need seconds for a request. */
const TIMEOUT_MS = 60_000;

let cleanup: (() => unknown)[] = [];

/** Closes everything that a test started. */
export async function cleanUp(): Promise<void> {
  for (const undo of cleanup.reverse()) await undo();
  cleanup = [];
}

export const cleanUpLater = (undo: () => unknown) => void cleanup.push(undo);

export function createSender(options: Partial<OutboundOptions> = {}): Outbound {
  const outbound = createOutbound({ policy: ALLOW_ALL, ...options });
  cleanup.push(() => outbound.close());
  return outbound;
}

export function createPost(url: string, changes: Partial<OutboundRequest> = {}): OutboundRequest {
  const body = Buffer.from('{"event":"user.created"}');
  return { url, method: "POST", headers: {}, body, timeoutMs: TIMEOUT_MS, ...changes };
}

export async function startHostileReceiver(behaviour: HostileBehaviour) {
  const receiver = await startHostile(behaviour);
  cleanup.push(() => receiver.close());
  return receiver;
}

/** Starts a well-behaved receiver that answers with the given listener. */
export async function startReceiver(answer: http.RequestListener, tls?: https.ServerOptions) {
  const server = tls ? https.createServer(tls, answer) : http.createServer(answer);
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanup.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as net.AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/hook`, connections: () => connections };
}
