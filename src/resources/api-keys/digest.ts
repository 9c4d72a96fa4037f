import { createHash, timingSafeEqual } from "node:crypto";
import type { WorldReader } from "../../state/transaction.ts";
import { type ApiKey, apiKeys } from "./schema.ts";

const digests = new WeakMap<ApiKey, Buffer>();

/**
 * The record of a key as it was sent. Keys are looked up and compared by digest, in constant time: how
 * long it takes tells nothing about how much of a guess was right.
 */
export function findKey(world: WorldReader, key: string): ApiKey | undefined {
  const sent = digestOfText(key);
  const found = world.index(apiKeys, "by_digest", sent.group).first();
  return found !== undefined && timingSafeEqual(digestOf(found), sent.bytes) ? found : undefined;
}

interface SentDigest {
  bytes: Buffer;
  /** As the index groups by it. */
  group: string;
}

/**
 * Digests of the texts that were sent lately: clients send the same key again and again, and hashing it is
 * the dearest thing on the way of a small request. What is remembered are whole texts, so a guess that is
 * nearly right still finds nothing.
 */
const lately = new Map<string, SentDigest>();
const MOST_REMEMBERED = 1024;
const LONGEST_REMEMBERED = 64;

function digestOfText(text: string): SentDigest {
  let digest = lately.get(text);
  if (digest === undefined) {
    const bytes = sha256(text);
    digest = { bytes, group: bytes.toString("latin1") };
    if (lately.size >= MOST_REMEMBERED) lately.clear();
    if (text.length <= LONGEST_REMEMBERED) lately.set(text, digest);
  }
  return digest;
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
