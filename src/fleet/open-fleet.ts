import { randomUUID } from "node:crypto";
import { RedisStore } from "../persistence/redis-store.ts";
import { FleetNode, type FleetParts } from "./fleet-node.ts";

export interface FleetPlace {
  /** Address of the Redis, as in `redis://10.0.0.9:6379`. */
  url: string;
  /** At which the other nodes reach this one. */
  nodeUrl: string;
}

/**
 * Joins the fleet that stands on a Redis.
 * @param most so many sandboxes there may be in the fleet
 * @throws PersistenceError where it cannot
 */
export async function openFleet(
  { url, nodeUrl }: FleetPlace,
  { most, ...parts }: Omit<FleetParts, "store"> & { most: number },
): Promise<FleetNode> {
  const { log } = parts;
  const store = await RedisStore.open(url, { session: randomUUID(), url: nodeUrl }, (warning) =>
    log.warn(warning),
  );
  store.limit = most;
  try {
    const node = new FleetNode({ ...parts, store });
    await node.begin();
    return node;
  } catch (error) {
    await store.close().catch(() => {});
    throw error;
  }
}
