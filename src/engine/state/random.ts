import { toHex } from "../bytes.ts";
import { digest, hmac } from "../platform.ts";

const CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
const ID_LENGTH = 20;
const FNV_PRIME = 0x01000193;

/**
 * Seeded randomness. The draws of a `Random` follow from its seed and labels alone, so a draw for one purpose
 * never depends on how often another purpose drew (interfaces.md 5: same seed, same bytes).
 */
export class Random {
  // Signed from the start: V8 would store a field that once held a larger number as an object.
  private a = 0x9e3779b9 | 0;
  private b = 0x85ebca6b | 0;
  private c = 0xc2b2ae35 | 0;
  private d = 1;

  constructor(seed: number, ...labels: readonly (string | number)[]) {
    this.absorb(String(seed));
    for (const label of labels) this.absorb(`\0${label}`);
    this.a = mix32(this.a) | 0;
    this.b = mix32(this.b) | 0;
    this.c = mix32(this.c) | 0;
    for (let warmUp = 0; warmUp < 12; warmUp++) this.uint32();
  }

  private absorb(text: string): void {
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      this.a = Math.imul(this.a ^ code, FNV_PRIME);
      this.b = Math.imul(this.b ^ code, FNV_PRIME);
      this.c = Math.imul(this.c ^ code, FNV_PRIME);
    }
  }

  /** sfc32: small, fast, and passes PractRand; quality matters for the probabilities of fault rules. */
  uint32(): number {
    const t = (this.a + this.b + this.d) | 0;
    this.d = (this.d + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (this.c << 21) | (this.c >>> 11);
    this.c = (this.c + t) | 0;
    return t >>> 0;
  }

  /** In [0, 1). */
  float(): number {
    return this.uint32() / 0x1_0000_0000;
  }

  /** A whole number in [min, max], both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.float() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.float() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(0, items.length - 1)]!;
  }

  /** `count` different items, in the order of the list. */
  sample<T>(items: readonly T[], count: number): T[] {
    const remaining = [...items];
    while (remaining.length > count) remaining.splice(this.int(0, remaining.length - 1), 1);
    return remaining;
  }

  characters(length: number, alphabet = CHARACTERS): string {
    const codes = new Array<number>(length);
    for (let i = 0; i < length; i++) codes[i] = alphabet.charCodeAt(this.uint32() % alphabet.length);
    return String.fromCharCode(...codes);
  }

  /** An id of section 2.1 such as `file_k3v9…`. */
  id(prefix: string): string {
    return prefix + this.characters(ID_LENGTH);
  }
}

/** FNV-1a with a murmur finaliser: labels that differ in one character give unrelated states. */
export function hash32(text: string, basis = 0x811c9dc5): number {
  let hash = basis;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return mix32(hash);
}

/** The source of a request's id, which is only drawn when it is needed. */
export interface RequestIdSource {
  /** From the sandbox's seed. */
  readonly idSeed: number;
  /** The number of requests before it. */
  readonly number: number;
}

/** The `idSeed` of a sandbox's seed. */
export function deriveRequestIdSeed(seed: number): number {
  return hash32("request", seed) | 0;
}

/** `req_` and sixteen hex digits for the n-th request of a seed; cheaper than a generator for each request. */
export function drawRequestId(idSeed: number, number: number): string {
  const high = mix32(idSeed ^ Math.imul(number + 1, 0x9e3779b1));
  const low = mix32(high + Math.imul(number + 0x7f4a7c15, 0x85ebca77));
  return `req_${toHex32(high)}${toHex32(low)}`;
}

/** Each byte in hex: `toString(16)` is ten times slower for numbers above 2^31. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function toHex32(value: number): string {
  return `${HEX[value >>> 24]}${HEX[(value >>> 16) & 255]}${HEX[(value >>> 8) & 255]}${HEX[value & 255]}`;
}

function mix32(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Derives a sandbox's key for secrets, on a shared server also from the server's key (interfaces.md 5). */
export function deriveSecretKey(
  { seed, name, resets }: { seed: number; name: string; resets: number },
  serverKey: Uint8Array | undefined,
): string {
  const text = `${seed}\u0000${name}\u0000${resets}`;
  return toHex(serverKey === undefined ? digest("sha256", text) : hmac("sha256", serverKey, text));
}
