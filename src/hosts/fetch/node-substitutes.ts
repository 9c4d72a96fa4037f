/* Replaces the parts of `node:http` and `node:zlib` that records of requests need, in builds for a page. */

/** The Fetch standard gives no status texts either. */
export const STATUS_CODES: Readonly<Record<number, string>> = {};
export const constants = { Z_SYNC_FLUSH: 2 };

/** Bodies with a content coding are shown as they are. */
function refuseDecoding(): never {
  throw new Error("a page decodes no content codings");
}
export const gunzipSync = refuseDecoding;
export const inflateSync = refuseDecoding;
export const inflateRawSync = refuseDecoding;
export const brotliDecompressSync = refuseDecoding;
