import type { Faker } from "@faker-js/faker";
import { toHex } from "./bytes.ts";

/**
 * The functions that the engine needs from its host. A host calls `providePlatform` once, before the first
 * sandbox is made (`src/hosts/node/platform.ts`). Sizes are in bytes, times in milliseconds of the wall clock.
 */
interface Platform {
  /** Starts a digest. Synchronous, since ids, keys and signatures are computed within a transaction. */
  createDigest(algorithm: DigestAlgorithm): Digest;
  hmac(algorithm: DigestAlgorithm, key: string | Uint8Array, data: string | Uint8Array): Uint8Array;
  /** Bytes that cannot be guessed, for secrets that must not follow from the sandbox's seed. */
  randomBytes(size: number): Uint8Array;
  /** Compresses; not by global streams, which tests and their environments replace. */
  gzip(data: Uint8Array): Promise<Uint8Array>;
  /** @throws Error for damaged bytes, when the iteration reaches them */
  gunzip(bytes: Uint8Array): AsyncIterable<Uint8Array>;
  /** Resolves in a later turn of the event loop, so that other requests are served between pieces of long work. */
  nextTurn(): Promise<void>;
  /**
   * Runs code that may never end; after `ms` it throws an error with the code ERR_SCRIPT_EXECUTION_TIMEOUT. A page
   * cannot stop the code.
   */
  runBounded<T>(work: () => T, ms: number): T;
  /**
   * Timers of the wall clock. Not the global ones, which tests replace: fake timers must not move the sandboxes' time.
   */
  timers: Pick<typeof globalThis, "setTimeout" | "clearTimeout"> & { now(): number };
  /** Loads the library for images when the first image is processed. */
  loadImageTools(): Promise<ImageTools>;
  /**
   * The faker of a locale (`@faker-js/faker/locale/…`), loaded when it is first needed. Synchronous, since records are
   * made within a transaction; a host without synchronous imports loads the locales that it offers beforehand.
   */
  loadFaker(locale: string): Faker;
  /** Loads the library for documents when the first one is read. */
  loadDocumentTools(): Promise<DocumentTools>;
}

/** The host lacks a function, such as image processing in a page. */
export class NotAvailableError extends Error {
  override readonly name = "NotAvailableError";
}

export type DigestAlgorithm = "md5" | "sha1" | "sha256" | "sha384" | "sha512";

export interface Digest {
  update(data: string | Uint8Array): this;
  digest(): Uint8Array;
}

/** Larger images are refused by their header, before memory is allocated for their pixels. */
export const MAX_IMAGE_PIXELS = 40_000_000;

/** The share of the tint in a mirrored border. */
export const TINT_SHARE = 0.12;

/** Transparent areas are filled with average colours: of the whole picture, and over it of 8 by 8 parts. */
export const AVERAGED_GRIDS = [1, 8];

export interface Size {
  width: number;
  height: number;
}

/** Rows from top to bottom, one byte for each channel. */
export interface Pixels extends Size {
  data: Uint8Array;
}

export interface ImageHeader extends Size {
  format: string | undefined;
  hasAlpha: boolean;
  isAnimated: boolean;
}

/** Red, green and blue from 0 to 255. */
export type Colour = readonly [number, number, number];

/** Decodes, composes and encodes images. Sizes are in pixels; every image is turned upright and made sRGB. */
export interface ImageTools {
  /** Reads the header alone. @throws Error if it is broken */
  inspect(bytes: Uint8Array): Promise<ImageHeader>;
  /** Decodes to RGB on white, or to RGBA; scales to a size if one is given. @throws Error for broken pixels */
  decode(bytes: Uint8Array, options: { channels: 3 | 4; size?: Size }): Promise<Pixels>;
  /** `side` x `side` RGB pixels on white, picked from all over the image. @throws Error for broken pixels */
  sample(bytes: Uint8Array, side: number): Promise<Uint8Array>;
  /** A JPEG of RGB pixels and a border that mirrors them, tinted; the inside keeps its colours. */
  extend(pixels: Pixels, border: Border, tint: Colour): Promise<Uint8Array>;
  /** A PNG of RGBA pixels whose transparent area is filled with the colours around it and a tint. */
  fill(pixels: Pixels, tint: Colour): Promise<Uint8Array>;
}

/** Pixels for each side. */
export interface Border {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface DocumentTools {
  /**
   * Reads up to `maxLength` characters of a PDF, in bounded time and memory; to be called within `Services.runQueued`.
   * @throws the signal's reason
   */
  readPdf(bytes: Uint8Array, options: { maxLength: number; signal: AbortSignal }): Promise<PdfText>;
}

export interface PdfText {
  /** Empty for a document without words. */
  text: string;
  /** Why the document cannot be read. */
  problem?: string | undefined;
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

/** Hexadecimal text of this number of unguessable bytes. */
export function randomHex(size: number): string {
  return toHex(platform().randomBytes(size));
}

/** The longest wait of setTimeout, in milliseconds; Node replaces a longer one by 1. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Wall milliseconds, at most 24 days. In Node the timer alone does not keep the process alive. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer: { unref?: () => void } | number = platform().timers.setTimeout(
      resolve,
      Math.min(ms, MAX_TIMEOUT_MS),
    );
    if (typeof timer === "object") timer.unref?.();
  });
}
