/* Replaces `node:http` and `node:zlib` in builds for a page, with the parts that `har-entry.ts` uses. */

/** Empty, so status texts in a page's HAR files are empty too. */
export const STATUS_CODES: Readonly<Record<number, string>> = {};
export const constants = { Z_SYNC_FLUSH: 2 };

/** `har-entry.ts` catches this and shows the body compressed, as it was sent. */
function refuseDecoding(): never {
  throw new Error("a page decodes no content codings");
}
export const gunzipSync = refuseDecoding;
export const inflateSync = refuseDecoding;
export const inflateRawSync = refuseDecoding;
export const brotliDecompressSync = refuseDecoding;
