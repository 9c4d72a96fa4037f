const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
const ID_LENGTH = 20;

/**
 * Seeded randomness. A `Random` is a pure function of its seed and labels, so a draw for one purpose
 * never depends on how often another purpose drew (interfaces 5: same seed, same bytes).
 */
export class Random {
  private a: number;
  private b: number;
  private c: number;
  private d: number;

  constructor(seed: number, ...labels: readonly (string | number)[]) {
    // Small integers from the start: where a field has held a larger one, each draw makes an object.
    this.a = 0x9e3779b9 | 0;
    this.b = 0x85ebca6b | 0;
    this.c = 0xc2b2ae35 | 0;
    this.take(seed);
    for (const label of labels) {
      this.takeCode(0);
      this.take(label);
    }
    this.a = mix32(this.a) | 0;
    this.b = mix32(this.b) | 0;
    this.c = mix32(this.c) | 0;
    this.d = 1;
    for (let warmUp = 0; warmUp < 12; warmUp++) this.uint32();
  }

  private take(label: string | number): void {
    if (typeof label === "number" && label >= 0 && label === (label | 0)) this.takeDigits(label);
    else {
      const text = String(label);
      for (let i = 0; i < text.length; i++) this.takeCode(text.charCodeAt(i));
    }
  }

  /** As `take(String(whole))`, without a text that V8 would keep among those of numbers. */
  private takeDigits(whole: number): void {
    let unit = 1;
    while (unit * 10 <= whole) unit *= 10;
    for (; unit >= 1; unit /= 10) this.takeCode(48 + (Math.floor(whole / unit) % 10));
  }

  /** The three of `hash32` in one go, since most draws are of a generator of their own. */
  private takeCode(code: number): void {
    this.a = Math.imul(this.a ^ code, PRIME);
    this.b = Math.imul(this.b ^ code, PRIME);
    this.c = Math.imul(this.c ^ code, PRIME);
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
    const left = [...items];
    while (left.length > count) left.splice(this.int(0, left.length - 1), 1);
    return left;
  }

  letters(length: number, alphabet = LETTERS): string {
    return this.lettersAfter("", length, alphabet);
  }

  /** An id of section 2.1 such as `file_k3v9…`. */
  id(prefix: string): string {
    return this.lettersAfter(prefix, ID_LENGTH, LETTERS);
  }

  /** Made at once: a text that was put together is a chain of its pieces, for as long as it lives. */
  private lettersAfter(prefix: string, length: number, alphabet: string): string {
    const start = prefix.length;
    const codes = new Array<number>(start + length);
    for (let i = 0; i < start; i++) codes[i] = prefix.charCodeAt(i);
    for (let i = start; i < codes.length; i++)
      codes[i] = alphabet.charCodeAt(this.uint32() % alphabet.length);
    return String.fromCharCode(...codes);
  }
}

/** Of FNV-1a. */
const PRIME = 0x01000193;

/** FNV-1a with a murmur finaliser: labels that differ in one character give unrelated states. */
export function hash32(text: string, basis = 0x811c9dc5): number {
  let hash = basis;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, PRIME);
  }
  return mix32(hash);
}

/** What the id of a request is drawn from: kept in its place, for a text is an object of its own. */
export interface RequestDraw {
  /** Of the sandbox's seed; a small integer. */
  readonly idSeed: number;
  /** How many requests had come before it. */
  readonly number: number;
}

/** The `idSeed` of a sandbox's seed. */
export function requestIdSeed(seed: number): number {
  return hash32("request", seed) | 0;
}

/** `req_` and sixteen hex digits for the n-th request of a seed; cheaper than a generator of its own. */
export function drawRequestId(state: number, n: number): string {
  const high = mix32(state ^ Math.imul(n + 1, 0x9e3779b1));
  const low = mix32(high + Math.imul(n + 0x7f4a7c15, 0x85ebca77));
  // `toString(16)` takes numbers beyond 2^31 apart by division, which costs ten times as much.
  return String.fromCharCode(
    114, // r
    101, // e
    113, // q
    95, // _
    DIGITS[high >>> 28]!,
    DIGITS[(high >>> 24) & 15]!,
    DIGITS[(high >>> 20) & 15]!,
    DIGITS[(high >>> 16) & 15]!,
    DIGITS[(high >>> 12) & 15]!,
    DIGITS[(high >>> 8) & 15]!,
    DIGITS[(high >>> 4) & 15]!,
    DIGITS[high & 15]!,
    DIGITS[low >>> 28]!,
    DIGITS[(low >>> 24) & 15]!,
    DIGITS[(low >>> 20) & 15]!,
    DIGITS[(low >>> 16) & 15]!,
    DIGITS[(low >>> 12) & 15]!,
    DIGITS[(low >>> 8) & 15]!,
    DIGITS[(low >>> 4) & 15]!,
    DIGITS[low & 15]!,
  );
}
const DIGITS = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

function mix32(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
