import { createHash, createHmac } from "node:crypto";
import { bodyVariants } from "./body-variants.ts";
import { keyVariants } from "./key-variants.ts";

/** SHA-256 is the right one (6.3); the others are what a digest's length gives away. */
export type Algorithm = "md5" | "sha1" | "sha256" | "sha384" | "sha512";

export interface Ingredients {
  secret: string;
  body: Uint8Array;
  /** A timestamp that may have been signed along with the body, as other services do. */
  timestamp?: string | undefined;
  /** Other secrets that might have been used by mistake, with a label to name them by; asked for where needed. */
  candidates?: (() => readonly { label: string; secret: string }[]) | undefined;
}

/** One way to arrive at a digest: the right one, or a known mistake with the key, the bytes or the hash. */
export interface DigestOrigin {
  mistake: "none" | "hash" | "key" | "bytes" | "key-and-bytes";
  /** What it was made of, as a noun: `the secret without its whsec_ prefix`; never a secret itself. */
  key: string;
  bytes: string;
  digest: Buffer;
}

/** Two mistakes at once are tried for bodies up to this size: it is a thousand digests of each. */
const MAX_PAIRED_BYTES = 8 * 1024;

const WHOLE_SECRET = "the secret";
const WHOLE_BODY = "the body";

/** From the most to the least likely; lazy, since most callers stop early. */
export function* digestOrigins(
  ingredients: Ingredients,
  algorithm: Algorithm = "sha256",
): Generator<DigestOrigin> {
  const { secret, body, candidates } = ingredients;
  const hmac = (key: string | Uint8Array, bytes: Uint8Array) =>
    createHmac(algorithm, key).update(bytes).digest();
  const right = { key: WHOLE_SECRET, bytes: WHOLE_BODY };
  yield { ...right, mistake: "none", digest: hmac(secret, body) };
  for (const [key, parts] of plainHashes(secret, body)) {
    const hash = createHash(algorithm);
    for (const part of parts) hash.update(part);
    yield { ...right, mistake: "hash", key, digest: hash.digest() };
  }
  const misread = keyVariants(secret);
  for (const { label, key } of misread) {
    yield { ...right, mistake: "key", key: label, digest: hmac(key, body) };
  }
  for (const { label, secret: other } of candidates?.() ?? []) {
    yield { ...right, mistake: "key", key: label, digest: hmac(other, body) };
  }
  const paired: [string, Uint8Array][] = [];
  for (const [label, variant] of bodyVariants(body, ingredients.timestamp)) {
    yield { ...right, mistake: "bytes", bytes: label, digest: hmac(secret, variant) };
    if (body.length <= MAX_PAIRED_BYTES) paired.push([label, variant]);
  }
  for (const { label: key, key: bytes } of misread) {
    for (const [label, variant] of paired) {
      yield { mistake: "key-and-bytes", key, bytes: label, digest: hmac(bytes, variant) };
    }
  }
}

/** Without HMAC, as its name in some libraries suggests. */
function plainHashes(secret: string, body: Uint8Array): [key: string, parts: (string | Uint8Array)[]][] {
  return [
    ["no secret at all", [body]],
    ["the secret put before it", [secret, body]],
    ["the secret put after it", [body, secret]],
  ];
}

/** How a digest came about, as far as known mistakes go. */
export function originOf(
  digest: Uint8Array,
  ingredients: Ingredients,
  algorithm: Algorithm = "sha256",
): DigestOrigin | undefined {
  for (const origin of digestOrigins(ingredients, algorithm)) {
    if (origin.digest.equals(digest)) return origin;
  }
  return undefined;
}
