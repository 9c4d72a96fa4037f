import http from "node:http";
import https from "node:https";
import type { Duplex } from "node:stream";
import tls from "node:tls";

/**
 * An idle connection is used again for a second at most. Receivers commonly close theirs after two to five seconds, and
 * a request at the moment of such a close would count as a failed attempt.
 */
const IDLE_MS = 1000;
const MAX_IDLE_PER_ORIGIN = 32;

/** The sender's connections: one pool per origin, without a limit of open connections, so that no request waits for another. */
export interface OutboundAgents {
  getPooled(protocol: "http:" | "https:"): http.Agent;
  /** The agent of connections that are used once, whatever the answer says. */
  getSingleUse(protocol: "http:" | "https:"): http.Agent;
  /** Allows one more request on a pooled connection, which is otherwise closed after its answer. */
  allowReuse(socket: Duplex): void;
  destroy(): void;
}

function closeOnData(this: Duplex): void {
  this.destroy();
}

/**
 * A pooled connection is closed after each answer, unless its user calls `allowReuse` because the answer said
 * `Connection: keep-alive`. HTTP/1.1 keeps connections open by default, but simple receivers close them without notice, and the
 * next request would fail.
 */
export function createAgents(ca?: string | string[]): OutboundAgents {
  const reusable = new WeakSet<Duplex>();
  // `timeout` closes idle sockets only. On a socket in use it emits an event, to which nothing listens.
  const options = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE_PER_ORIGIN };
  // Created once: reading a list of authorities takes longer than the rest of a handshake.
  const tlsOptions = ca === undefined ? {} : { secureContext: tls.createSecureContext({ ca }) };
  const pooledAgents = {
    "http:": new http.Agent(options),
    "https:": new https.Agent({ ...options, ...tlsOptions }),
  };
  const singleUseAgents = {
    "http:": new http.Agent({ keepAlive: false }),
    "https:": new https.Agent({ keepAlive: false, ...tlsOptions }),
  };
  for (const agent of Object.values(pooledAgents)) {
    // Node's own method returns whether to keep the socket, although its type says void.
    const keep = agent.keepSocketAlive.bind(agent) as (socket: Duplex) => boolean;
    agent.keepSocketAlive = (socket) => {
      // Bytes that no request asked for must not be read as the answer to the next one.
      socket.on("data", closeOnData);
      return reusable.delete(socket) && keep(socket);
    };
    const reuse = agent.reuseSocket.bind(agent);
    agent.reuseSocket = (socket, request) => {
      socket.off("data", closeOnData);
      reuse(socket, request);
    };
  }
  return {
    getPooled: (protocol) => pooledAgents[protocol],
    getSingleUse: (protocol) => singleUseAgents[protocol],
    allowReuse: (socket) => reusable.add(socket),
    destroy: () => {
      for (const agent of [...Object.values(pooledAgents), ...Object.values(singleUseAgents)])
        agent.destroy();
    },
  };
}
