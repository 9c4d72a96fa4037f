import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { Log } from "../hosts/node/log.ts";
import { RETRY_AFTER_SECONDS } from "../persistence/redis-connection.ts";
import { type Lease, moved, type RedisStore } from "../persistence/redis-store.ts";
import { StoreRefusal } from "../persistence/store.ts";
import type { FleetRegister } from "./fleet-register.ts";
import { HOP_HEADER, MOVED } from "./hop-header.ts";
import { LEASE_MS, type NodeSession, sessionKey } from "./node-session.ts";
import { Outages, RecentAnswers } from "./outages.ts";
import { type Passed, PassOn, type Target } from "./pass-on.ts";
import { PassedBody } from "./passed-body.ts";

/** So long a request waits for an owner that is just ending, before it is told to come again. */
const PATIENCE_MS = 1000;
const RETRY_MS = 25;
/** So long is believed who owns a sandbox; whoever does not any more says so. */
const BELIEVED_MS = 1000;
const MAX_BELIEVED = 100_000;

/** What becomes of a request that names a sandbox: served here, unknown, or answered by its owner. */
export type Placed = Sandbox | undefined | "answered";

export interface Arrived {
  request: IncomingMessage;
  response: ServerResponse;
}

interface PlacingParts {
  store: RedisStore;
  session: NodeSession;
  register: FleetRegister;
  log: Log;
  /** Takes over what nobody owns; undefined where another was quicker. */
  take: (name: string, seen: Lease) => Promise<Sandbox | undefined>;
  makeDefault: () => Promise<void>;
}

/** Finds who serves a request for a sandbox that this node does not own: itself, once it has taken it, or the owner. */
export class Placing {
  readonly passing: PassOn;
  /** This node is ending: it takes nothing more, and what is asked of it goes to others. */
  isLeaving = false;
  /** Requests of which it is not known yet who serves them, or that another node has. */
  searching = 0;
  /** When somebody last asked this node, though it is ending; on the monotonic clock. */
  lastSentAway = Number.NEGATIVE_INFINITY;
  private readonly parts: PlacingParts;
  private readonly believed = new Map<string, Target & { until: number }>();
  private readonly outages: Outages;
  private readonly alive = new RecentAnswers();
  /** After a restart of Redis, owners come back to what is theirs before anybody takes it. */
  private noTakingUntil = Number.NEGATIVE_INFINITY;

  constructor(parts: PlacingParts) {
    this.parts = parts;
    this.outages = new Outages(parts.log);
    this.passing = new PassOn(parts.session.url);
  }

  /**
   * The sandbox of that name, once this node owns it; another's request is passed on, a free one taken over.
   * Without an exchange, what is another's is `undefined`.
   * @throws StoreRefusal where nobody can serve it now
   */
  async find(name: string, exchange: Arrived | undefined): Promise<Placed> {
    this.searching += 1;
    try {
      return await this.search(new Search(name, exchange));
    } finally {
      this.searching -= 1;
    }
  }

  /** Whether the session that a lease names still is one; one that has ended never comes back. */
  async isLive({ url, session }: Target): Promise<boolean> {
    if (session === "") return false;
    if (performance.now() < this.noTakingUntil) return true;
    const { connection } = this.parts.store;
    return this.alive.ask(session, async () => (await connection.ask(["GET", sessionKey(url)])) === session);
  }

  /** After this node's session was lost, or Redis began anew: what it has may be less than the owners know. */
  async beginAnew(): Promise<void> {
    this.believed.clear();
    this.noTakingUntil = performance.now() + LEASE_MS - (await this.parts.store.age());
  }

  private async search(search: Search): Promise<Placed> {
    const { session, store, take, makeDefault } = this.parts;
    const { name } = search;
    for (let turn = 0; ; turn++) {
      if (this.isLeaving) return this.searchElsewhere(search);
      if (!session.isValid) throw session.refusal(name);
      const believed = turn === 0 ? this.believedOwner(name) : undefined;
      const lease = believed === undefined ? await store.leaseOf(name) : undefined;
      const owner = believed ?? lease;
      if (owner === undefined) {
        if (name !== "default") return undefined;
        await makeDefault();
        continue;
      }
      if (lease !== undefined && (lease.session === session.id || !(await this.isLive(lease)))) {
        const sandbox = await take(name, lease);
        if (sandbox !== undefined && !search.passed?.body.isTaken) return sandbox;
        // A body that was read is only to be had again over a connection: this node passes it on to itself.
        if (sandbox !== undefined && (await this.pass(search.passed!, name, store.owner))) return "answered";
      } else if (search.passed === undefined) return undefined;
      else if (search.isPassedOn) throw untouched(name);
      else if (await this.pass(search.passed, name, owner)) return "answered";
      await this.wait(search, turn, owner);
    }
  }

  /** What this node had owned, or another has, once somebody else has it. */
  private async searchElsewhere(search: Search): Promise<Placed> {
    const { name, passed } = search;
    if (passed === undefined) return undefined;
    this.lastSentAway = performance.now();
    // Whoever is connected finds another node for the next request.
    passed.response.shouldKeepAlive = false;
    if (search.isPassedOn) throw untouched(name);
    for (let turn = 0; ; turn++) {
      const lease = await this.parts.store.leaseOf(name);
      if (lease === undefined) return undefined;
      const owner = (await this.isLive(lease)) ? lease : await this.anyOther();
      const isOurs = owner?.session === this.parts.session.id;
      if (owner !== undefined && !isOurs && (await this.pass(passed, name, owner))) return "answered";
      await this.wait(search, turn, lease);
    }
  }

  private async anyOther(): Promise<Target | undefined> {
    const { register, session } = this.parts;
    const others = (await register.live()).filter(({ url }) => url !== session.url);
    return others[Math.floor(Math.random() * others.length)];
  }

  /** Whether it has been answered. @throws StoreRefusal where nobody knows what became of it */
  private async pass(passed: Passed, name: string, owner: Target): Promise<boolean> {
    if (!this.outages.mayTry(owner)) {
      if (this.outages.isLong(owner)) throw notReached(name, owner);
      return false;
    }
    this.believe(name, owner);
    const outcome = await this.passing.pass(passed, owner);
    if (outcome === "answered" || outcome === "moved") this.outages.end(owner);
    if (outcome === "answered") return true;
    this.believed.delete(name);
    if (outcome === "lost") throw endedEarly(name, owner);
    if (outcome === "unreached") this.outages.note(owner);
    // It may be ending, and then owns none of the others either.
    else this.believed.clear();
    return false;
  }

  private async wait({ name, end }: Search, turn: number, owner: Target): Promise<void> {
    if (performance.now() >= end) throw this.outages.isLong(owner) ? notReached(name, owner) : moved(name);
    if (turn > 0) await pause(RETRY_MS);
  }

  private believe(name: string, { url, session }: Target): void {
    if (this.believed.size >= MAX_BELIEVED) this.believed.clear();
    this.believed.set(name, { url, session, until: performance.now() + BELIEVED_MS });
  }

  private believedOwner(name: string): Target | undefined {
    const believed = this.believed.get(name);
    if (believed === undefined || performance.now() < believed.until) return believed;
    this.believed.delete(name);
    return undefined;
  }
}

/** A request in search of an owner. */
class Search {
  readonly name: string;
  readonly end = performance.now() + PATIENCE_MS;
  readonly passed: Passed | undefined;
  /** Another node has sent it here: it goes no further. */
  readonly isPassedOn: boolean;

  constructor(name: string, exchange: Arrived | undefined) {
    this.name = name;
    this.isPassedOn = exchange?.request.headers[HOP_HEADER] !== undefined;
    this.passed = exchange && { ...exchange, body: new PassedBody(exchange.request) };
  }
}

/** Before anything was done. */
const untouched = (name: string) => moved(name, { [HOP_HEADER]: MOVED });

function endedEarly(name: string, { url }: Target): StoreRefusal {
  const message = `the node ${url}, which owned sandbox ${name}, ended before it answered, and perhaps not before it did what it was asked`;
  return new StoreRefusal("moved", message, RETRY_AFTER_SECONDS);
}

function notReached(name: string, { url }: Target): StoreRefusal {
  const message = `sandbox ${name} is owned by the node ${url}, which cannot be reached from here`;
  return new StoreRefusal("moved", message, RETRY_AFTER_SECONDS);
}
