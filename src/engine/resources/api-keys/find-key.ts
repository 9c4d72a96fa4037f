import { timingSafeEqual } from "node:crypto";
import type { WorldReader } from "../../state/transaction.ts";
import { digestOf, digestOfText } from "./digest.ts";
import { type ApiKey, apiKeys } from "./schema.ts";

/**
 * The record of a key as it was sent. Keys are looked up and compared by digest, in constant time: how
 * long it takes tells nothing about how much of a guess was right.
 */
export function findKey(world: WorldReader, key: string): ApiKey | undefined {
  const sent = digestOfText(key);
  const found = world.index(apiKeys, "by_digest", sent.group).first();
  return found !== undefined && timingSafeEqual(digestOf(found), sent.bytes) ? found : undefined;
}
