import { faker } from "@faker-js/faker/locale/en";
import { hmac } from "@noble/hashes/hmac.js";
import { md5, sha1 } from "@noble/hashes/legacy.js";
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { toUtf8 } from "../../engine/bytes.ts";
import { NotAvailableError, providePlatform } from "../../engine/platform.ts";

const HASHES = { md5, sha1, sha256, sha384, sha512 };

const toBytes = (data: string | Uint8Array) => (typeof data === "string" ? toUtf8(data) : data);

// Messages rather than timers, which browsers slow down to one a second in hidden tabs.
const channel = new MessageChannel();
const waitingTurns: (() => void)[] = [];
const { document: page } = globalThis as { document?: { visibilityState: string } };
Object.assign(channel.port1, { onmessage: () => waitingTurns.shift()!() });

function pipeThrough(
  bytes: Uint8Array,
  transform: CompressionStream | DecompressionStream,
): ReadableStream<Uint8Array> & AsyncIterable<Uint8Array> {
  return new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(transform as never) as never;
}

/** Implements the engine's platform for browsers and workers. Importing this file is enough. */
providePlatform({
  createDigest(algorithm) {
    const hash = HASHES[algorithm].create();
    const digest = {
      update(data: string | Uint8Array) {
        hash.update(toBytes(data));
        return digest;
      },
      digest: () => hash.digest(),
    };
    return digest;
  },
  hmac: (algorithm, key, data) => hmac(HASHES[algorithm], toBytes(key), toBytes(data)),
  randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
  gzip: async (data) =>
    new Uint8Array(await new Response(pipeThrough(data, new CompressionStream("gzip"))).arrayBuffer()),
  gunzip: (bytes) => pipeThrough(bytes, new DecompressionStream("gzip")),
  nextTurn: () =>
    new Promise((resolve) => {
      // A page is hidden before it closes, and then may get no later turn.
      if (page?.visibilityState === "hidden") return resolve();
      waitingTurns.push(resolve);
      channel.port2.postMessage(undefined);
    }),
  runBounded: (work) => work(),
  timers: {
    setTimeout: setTimeout.bind(globalThis),
    clearTimeout: clearTimeout.bind(globalThis),
    now: Date.now,
  } as never,
  loadImageTools() {
    if ("OffscreenCanvas" in globalThis) return import("./web-images.ts");
    return Promise.reject(new NotAvailableError("this host does not process images; start a server for it"));
  },
  loadFaker(locale) {
    if (locale !== "en")
      throw new NotAvailableError(`a page invents names of the locale en only; start a server for ${locale}`);
    return faker;
  },
  loadDocumentTools: () => import("./web-document-text.ts"),
});
