import { createHash } from "node:crypto";

const digests = new WeakMap<{ readonly key: string }, Buffer>();

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
const MAX_REMEMBERED = 1024;
const MAX_REMEMBERED_LENGTH = 64;

export function digestOfText(text: string): SentDigest {
  let digest = lately.get(text);
  if (digest === undefined) {
    const bytes = sha256(text);
    digest = { bytes, group: bytes.toString("latin1") };
    if (lately.size >= MAX_REMEMBERED) lately.clear();
    if (text.length <= MAX_REMEMBERED_LENGTH) lately.set(text, digest);
  }
  return digest;
}

/** Kept per record, so that a request pays for one digest and not for two. */
export function digestOf(record: { readonly key: string }): Buffer {
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
