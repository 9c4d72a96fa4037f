import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { Connection, SandboxLookup } from "../hosts/node/hooks.ts";
import type { Log } from "../hosts/node/log.ts";
import { toFleetRefusal } from "../persistence/redis-connection.ts";
import { type Lease, type RedisStore, toMovedRefusal } from "../persistence/redis-store.ts";
import type { StoreRefusal } from "../persistence/store.ts";
import type { FleetRegister } from "./fleet-register.ts";
import { LEASE_MS, type NodeSession, toSessionKey } from "./node-session.ts";
import { LivenessCache, Outages } from "./outages.ts";
import { HOP_HEADER, MOVED, NodeProxy, type ProxiedRequest, type Target } from "./proxy.ts";
import { ReplayableBody } from "./replayable-body.ts";

/** How long a request waits for an owner that is shutting down, before the client is asked to repeat it. */
const MAX_WAIT_MS = 1000;
const RETRY_MS = 25;
/** Lifetime of a cached owner; a former owner replies `moved`. */
const OWNER_CACHE_MS = 1000;
const MAX_CACHED_OWNERS = 100_000;

interface OwnerRouterParts {
  store: RedisStore;
  session: NodeSession;
  register: FleetRegister;
  log: Log;
  /** Takes over a sandbox without an owner, or returns this node's own; undefined if another node was faster. */
  takeOver: (name: string, lease: Lease) => Promise<Sandbox | undefined>;
  makeDefault: () => Promise<void>;
}

/**
 * Finds the node that serves a request for a sandbox which this node does not own: the owner, or this node after a
 * takeover.
 */
export class OwnerRouter {
  readonly proxy: NodeProxy;
  /** This node is shutting down: it takes over nothing, and forwards its requests. */
  isLeaving = false;
  /** Requests whose owner is not known yet, or that another node handles; a shutdown does not wait for them. */
  searchCount = 0;
  /** The time of the last request to this node during its shutdown, on the monotonic clock. */
  lastRequestAt = Number.NEGATIVE_INFINITY;
  private readonly parts: OwnerRouterParts;
  private readonly owners = new Map<string, Target & { until: number }>();
  private readonly outages: Outages;
  private readonly liveness = new LivenessCache();
  /** After a restart of Redis, former owners may reclaim their sandboxes before other nodes take them over. */
  private noTakeoverUntil = Number.NEGATIVE_INFINITY;

  constructor(parts: OwnerRouterParts) {
    this.parts = parts;
    this.outages = new Outages(parts.log);
    this.proxy = new NodeProxy(parts.session.url);
  }

  /**
   * Returns the sandbox, after a takeover if it has no owner. Forwards a request for another node's sandbox;
   * returns undefined if there is no connection, or no sandbox of this name.
   * @throws StoreRefusal if no node can serve it now
   */
  async route(name: string, connection: Connection | undefined): Promise<SandboxLookup> {
    this.searchCount += 1;
    try {
      return await this.search(new Search(name, connection));
    } finally {
      this.searchCount -= 1;
    }
  }

  isForwarded(headers: IncomingHttpHeaders): boolean {
    return headers[HOP_HEADER] !== undefined;
  }

  /** Whether the session of a lease is alive; one that has ended never returns. */
  async isLive({ url, session }: Target): Promise<boolean> {
    if (session === "") return false;
    if (performance.now() < this.noTakeoverUntil) return true;
    const { connection } = this.parts.store;
    return this.liveness.isLive(
      session,
      async () => (await connection.send(["GET", toSessionKey(url)])) === session,
    );
  }

  /** Drops all cached owners, which may have changed; soon after a restart of Redis, also delays takeovers. */
  async dropCachedOwners(): Promise<void> {
    this.owners.clear();
    this.noTakeoverUntil = performance.now() + LEASE_MS - (await this.parts.store.readRunAge());
  }

  private async search(search: Search): Promise<SandboxLookup> {
    const { session, store, takeOver, makeDefault } = this.parts;
    const { name } = search;
    for (let turn = 0; ; turn++) {
      if (this.isLeaving) return this.searchOtherNodes(search);
      if (!session.isValid) throw session.toRefusal(name);
      const cached = turn === 0 ? this.findCachedOwner(name) : undefined;
      const lease = cached === undefined ? await store.findLease(name) : undefined;
      const owner = cached ?? lease;
      // There is no such sandbox: one without an owner has a lease with an empty session.
      if (owner === undefined) {
        if (name !== "default") return undefined;
        await makeDefault();
        continue;
      }
      const hasNoOtherOwner =
        lease !== undefined && (lease.session === session.id || !(await this.isLive(lease)));
      if (hasNoOtherOwner) {
        const sandbox = await takeOver(name, lease);
        if (sandbox !== undefined && !search.proxied?.body.isStarted) return sandbox;
        // A body that was partly read has to be sent over a connection: this node forwards the request to itself.
        if (sandbox !== undefined && (await this.forward(search.proxied!, name, store.owner)))
          return "answered";
      } else if (search.proxied === undefined) return undefined;
      else if (search.isForwarded) throw refuseBeforeStart(name);
      else if (await this.forward(search.proxied, name, owner)) return "answered";
      await this.waitOrRefuse(search, turn, owner);
    }
  }

  /** Forwards to the owner, or to any other node, which takes the sandbox over. Used while this node shuts down. */
  private async searchOtherNodes(search: Search): Promise<SandboxLookup> {
    const { name, proxied } = search;
    if (proxied === undefined) return undefined;
    this.lastRequestAt = performance.now();
    // Makes the client connect to another node for its next request.
    proxied.response.shouldKeepAlive = false;
    if (search.isForwarded) throw refuseBeforeStart(name);
    for (let turn = 0; ; turn++) {
      const lease = await this.parts.store.findLease(name);
      if (lease === undefined) return undefined;
      const owner = (await this.isLive(lease)) ? lease : await this.findAnyOther();
      const isThisNode = owner?.session === this.parts.session.id;
      if (owner !== undefined && !isThisNode && (await this.forward(proxied, name, owner))) return "answered";
      await this.waitOrRefuse(search, turn, lease);
    }
  }

  private async findAnyOther(): Promise<Target | undefined> {
    const { register, session } = this.parts;
    const others = (await register.listLiveNodes()).filter(({ url }) => url !== session.url);
    return others[Math.floor(Math.random() * others.length)];
  }

  /** Returns whether the owner answered. @throws StoreRefusal if the result is unknown, or an outage is long */
  private async forward(proxied: ProxiedRequest, name: string, owner: Target): Promise<boolean> {
    if (!this.outages.mayTry(owner)) {
      if (this.outages.shouldGiveUp(owner)) throw createUnreachableRefusal(name, owner);
      return false;
    }
    this.cacheOwner(name, owner);
    const result = await this.proxy.forward(proxied, owner);
    if (result === "answered" || result === "moved") this.outages.end(owner);
    if (result === "answered") return true;
    this.owners.delete(name);
    if (result === "lost") throw createLostRefusal(name, owner);
    if (result === "unreached") this.outages.record(owner);
    // The owner may be shutting down; then it releases its other sandboxes too.
    else this.owners.clear();
    return false;
  }

  /** Waits before the next turn. @throws StoreRefusal once the request has waited too long */
  private async waitOrRefuse({ name, end }: Search, turn: number, owner: Target): Promise<void> {
    if (performance.now() >= end)
      throw this.outages.shouldGiveUp(owner) ? createUnreachableRefusal(name, owner) : toMovedRefusal(name);
    if (turn > 0) await pause(RETRY_MS);
  }

  private cacheOwner(name: string, { url, session }: Target): void {
    if (this.owners.size >= MAX_CACHED_OWNERS) this.owners.clear();
    this.owners.set(name, { url, session, until: performance.now() + OWNER_CACHE_MS });
  }

  private findCachedOwner(name: string): Target | undefined {
    const cached = this.owners.get(name);
    if (cached === undefined || performance.now() < cached.until) return cached;
    this.owners.delete(name);
    return undefined;
  }
}

/** A request that is being routed to its owner. */
class Search {
  readonly name: string;
  readonly end = performance.now() + MAX_WAIT_MS;
  readonly proxied: ProxiedRequest | undefined;
  /** Another node has sent it here, so it is not forwarded again. */
  readonly isForwarded: boolean;

  constructor(name: string, connection: Connection | undefined) {
    this.name = name;
    this.isForwarded = connection?.request.headers[HOP_HEADER] !== undefined;
    this.proxied = connection && { ...connection, body: new ReplayableBody(connection.request) };
  }
}

/** A refusal before any change. */
const refuseBeforeStart = (name: string) => toMovedRefusal(name, { [HOP_HEADER]: MOVED });

function createLostRefusal(name: string, { url }: Target): StoreRefusal {
  const message = `the node ${url}, which owned sandbox ${name}, stopped before it answered; it may have made the change`;
  return toFleetRefusal("moved", message);
}

function createUnreachableRefusal(name: string, { url }: Target): StoreRefusal {
  const message = `sandbox ${name} is owned by the node ${url}, which cannot be reached from here`;
  return toFleetRefusal("moved", message);
}
