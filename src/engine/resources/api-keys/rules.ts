import { isEqualInConstantTime } from "../../bytes.ts";
import { type WorldReader, writesTo } from "../../state/transaction.ts";
import type { Commit } from "../../state/world-parts.ts";
import { type ApiKey, apiKeys, digestKey, digestRecord } from "./schema.ts";

/**
 * Finds the record of a key as it was sent. Keys are looked up and compared by digest, in constant time: the time says
 * nothing about how much of a guess was right.
 */
export function findKey(world: WorldReader, key: string): ApiKey | undefined {
  const sent = digestKey(key);
  const found = world.index(apiKeys, "by_digest", sent.group).first();
  return found !== undefined && isEqualInConstantTime(digestRecord(found).bytes, sent.bytes)
    ? found
    : undefined;
}

/** Keys that a commit deleted; their counters outside the world are deleted too. */
export function listDeletedKeys({ written }: Pick<Commit, "written">): string[] {
  return writesTo(apiKeys, written).flatMap(({ id, after }) => (after === undefined ? [id] : []));
}
