import { createHash } from "node:crypto";
import { toPairs } from "../engine/maps.ts";
import { type Lease, type RedisStore, toFleetKey } from "../persistence/redis-store.ts";
import { PersistenceError } from "../persistence/store.ts";
import { toSessionKey } from "./node-session.ts";

const KEY = toFleetKey("nodes");
const BATCH_SIZE = 500;

interface RegisteredNode {
  url: string;
  session: string;
  version: string;
  /** Wall clock of the node, milliseconds since 1970. */
  started_at: number;
  /** Digest of its control token. */
  token: string;
}

export class FleetRegister {
  private readonly store: RedisStore;
  /** This node, as JSON. */
  private description = "";

  constructor(store: RedisStore) {
    this.store = store;
  }

  /**
   * Adds the node to the fleet.
   * @throws PersistenceError if a running node has another control token, which forwarded requests need
   */
  async register(version: string, token: string): Promise<void> {
    const { url } = this.store.owner;
    const digest = createHash("sha256").update(`understudy fleet ${token}`).digest("hex");
    for (const node of await this.listLiveNodes()) {
      if (node.url !== url && node.token !== digest)
        throw new PersistenceError(
          `The control token differs from that of the node ${node.url}; give all nodes of a fleet the same UNDERSTUDY_TOKEN.`,
        );
    }
    this.description = JSON.stringify({ version, started_at: Date.now(), token: digest });
    await this.registerAgain();
  }

  /** Call this after the session was lost: any node may have removed this one meanwhile, or Redis lost its data. */
  async registerAgain(): Promise<void> {
    await this.store.connection.send(["HSET", KEY, this.store.owner.url, this.description]);
  }

  async leave(): Promise<void> {
    await this.store.connection.send(["HDEL", KEY, this.store.owner.url]);
  }

  /** Lists the live nodes, and removes those that have ended. */
  async listLiveNodes(): Promise<RegisteredNode[]> {
    const { connection } = this.store;
    const nodes = [];
    for (const [url, description] of toPairs(await connection.send(["HGETALL", KEY]))) {
      const session: string | null = await connection.send(["GET", toSessionKey(url)]);
      if (session === null) await connection.send(["HDEL", KEY, url]);
      else nodes.push({ url, session, ...JSON.parse(description) });
    }
    return nodes;
  }

  /** Every sandbox of the fleet in order of creation, with its lease. */
  async listLeases(): Promise<(Lease & { sandbox: string })[]> {
    const names = await this.store.list();
    const leases: (Lease & { sandbox: string })[] = [];
    for (let from = 0; from < names.length; from += BATCH_SIZE) {
      const batch = names.slice(from, from + BATCH_SIZE);
      const readLease = async (sandbox: string) => ({ sandbox, ...(await this.store.readLease(sandbox)) });
      leases.push(...(await Promise.all(batch.map(readLease))));
    }
    return leases;
  }
}
