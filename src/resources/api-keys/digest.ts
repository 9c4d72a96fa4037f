import { createHash, timingSafeEqual } from "node:crypto";
import type { WorldReader } from "../../state/transaction.ts";
import { type ApiKey, apiKeys } from "./schema.ts";

const digests = new WeakMap<ApiKey, Buffer>();

/**
 * The record of a key as it was sent. Keys are looked up and compared by digest, in constant time: how
 * long it takes tells nothing about how much of a guess was right.
 */
export function findKey(world: WorldReader, key: string): ApiKey | undefined {
  const sent = sha256(key);
  const [found] = world.index(apiKeys, "by_digest", sent.toString("latin1")).page(0, 1);
  return found !== undefined && timingSafeEqual(digestOf(found), sent) ? found : undefined;
}

/** Kept per record, so that a request pays for one digest and not for two. */
export function digestOf(record: ApiKey): Buffer {
  let digest = digests.get(record);
  if (digest === undefined) {
    digest = sha256(record.key);
    digests.set(record, digest);
  }
  return digest;
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
