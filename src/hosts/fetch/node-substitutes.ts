/* For builds for a page, in place of `node:http` and `node:zlib`: the parts of them that records of requests need. */

/** The Fetch standard gives no status texts either. */
export const STATUS_CODES: Readonly<Record<number, string>> = {};
export const constants = { Z_SYNC_FLUSH: 2 };

/** Bodies with a content coding are shown as they are. */
function undecodable(): never {
  throw new Error("a page decodes no content codings");
}
export const gunzipSync = undecodable;
export const inflateSync = undecodable;
export const inflateRawSync = undecodable;
export const brotliDecompressSync = undecodable;
