import { createHash, createHmac, randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { clearTimeout, setTimeout } from "node:timers";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { Script } from "node:vm";
import { createGunzip, gzip } from "node:zlib";
import { faker as english } from "@faker-js/faker/locale/en";
import { NotAvailableError, providePlatform } from "../../engine/platform.ts";

const requireModule = createRequire(import.meta.url);

const BOUNDED = Symbol.for("understudy.bounded");
let boundedScript: Script | undefined;

/** Runs work in a script, since only a script can be stopped. Calls do not nest: the handler of an own operation calls no other. */
function runBounded<T>(work: () => T, timeout: number): T {
  boundedScript ??= new Script('globalThis[Symbol.for("understudy.bounded")]()');
  (globalThis as Record<symbol, unknown>)[BOUNDED] = work;
  return boundedScript.runInThisContext({ timeout, displayErrors: false }) as T;
}

/** Implements the engine's platform for Node. Importing this file is enough. */
providePlatform({
  createDigest: (algorithm) => createHash(algorithm),
  hmac: (algorithm, key, data) => createHmac(algorithm, key).update(data).digest(),
  randomBytes: (size) => randomBytes(size),
  timers: { setTimeout, clearTimeout, now: Date.now },
  gzip: promisify(gzip),
  gunzip(bytes) {
    const stream = createGunzip();
    stream.end(bytes);
    return stream;
  },
  nextTurn: () => setImmediate(),
  runBounded,
  loadImageTools: () =>
    import("./images.ts").catch((error: NodeJS.ErrnoException) => {
      const [reason] = error.message.split("\n");
      // A file of the build may be gone, not the package.
      if (error.code === "ERR_MODULE_NOT_FOUND" && !reason!.includes("'sharp'")) throw error;
      throw new NotAvailableError(
        `the package sharp, which processes images, cannot be loaded: ${reason}. Install it for this system (npm install --include=optional sharp), and restart`,
      );
    }),
  // Every start with the reference fixture needs English. Jest cannot load an ES module with `require`, so it has no other locale.
  loadFaker: (locale) =>
    locale === "en" ? english : requireModule(`@faker-js/faker/locale/${locale}`).faker,
  loadDocumentTools: () => import("./document-text.ts"),
});
