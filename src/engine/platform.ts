/**
 * The ports: what the engine needs of its host. A host calls `providePlatform` once, before the first sandbox is made
 * (`src/hosts/node/platform.ts`). Sizes are in bytes, times in milliseconds of the wall clock.
 */
export interface Platform {
  /** Starts a digest. Synchronous, since ids, keys and signatures are made within a transaction. */
  createDigest(algorithm: DigestAlgorithm): Digest;
  hmac(algorithm: DigestAlgorithm, key: string | Uint8Array, data: string | Uint8Array): Uint8Array;
  /** Bytes that cannot be guessed, for secrets that must not follow from the sandbox's seed. */
  randomBytes(size: number): Uint8Array;
  /** Resolves in a later turn of the event loop, so that other requests are served between pieces of long work. */
  nextTurn(): Promise<void>;
}

export type DigestAlgorithm = "md5" | "sha1" | "sha256" | "sha384" | "sha512";

export interface Digest {
  update(data: string | Uint8Array): this;
  digest(): Uint8Array;
}

let current: Platform | undefined;

export function providePlatform(platform: Platform): void {
  current = platform;
}

/** @throws Error if no host has called `providePlatform`. */
export function platform(): Platform {
  if (current === undefined)
    throw new Error("no platform: import a host, such as src/hosts/node/platform.ts");
  return current;
}

/** A text is digested as UTF-8. */
export function digest(algorithm: DigestAlgorithm, data: string | Uint8Array): Uint8Array {
  return platform().createDigest(algorithm).update(data).digest();
}

export function hmac(
  algorithm: DigestAlgorithm,
  key: string | Uint8Array,
  data: string | Uint8Array,
): Uint8Array {
  return platform().hmac(algorithm, key, data);
}
