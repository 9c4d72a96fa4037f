import { brotliDecompressSync, gunzipSync, inflateSync, constants as zlib } from "node:zlib";
import type { ArchivedBody } from "../har/har-entry.ts";

/** More of a body is passed on and not kept. */
const MAX_KEPT_BYTES = 10 * 1024 * 1024;

/** What of a body goes into the archive while it passes. */
export class KeptBody {
  private readonly pieces: Buffer[] = [];
  private kept = 0;
  private size = 0;

  add(piece: Buffer): void {
    this.size += piece.length;
    const room = MAX_KEPT_BYTES - this.kept;
    if (room <= 0) return;
    this.pieces.push(piece.length > room ? piece.subarray(0, room) : piece);
    this.kept += Math.min(room, piece.length);
  }

  /** Decoded, as archives have it; without bytes where it cannot be. */
  archived(coding: string | undefined): ArchivedBody {
    const bytes = Buffer.concat(this.pieces);
    if (bytes.length === 0) return { bytes: undefined, size: 0 };
    const decoded = decode(bytes, coding?.trim().toLowerCase() ?? "identity");
    if (decoded === undefined) return { bytes: undefined, size: this.size };
    if (this.kept === this.size) return { bytes: decoded, size: decoded.length };
    return { bytes: withoutHalfCharacter(decoded), size: Math.max(this.size, decoded.length + 1) };
  }
}

function decode(bytes: Buffer, coding: string): Buffer | undefined {
  // What was cut off gives what can be had of it.
  const options = { maxOutputLength: MAX_KEPT_BYTES, finishFlush: zlib.Z_SYNC_FLUSH };
  try {
    if (coding === "identity" || coding === "") return bytes;
    if (coding === "gzip" || coding === "x-gzip") return gunzipSync(bytes, options);
    if (coding === "deflate") return inflateSync(bytes, options);
    if (coding === "br") return brotliDecompressSync(bytes, { maxOutputLength: MAX_KEPT_BYTES });
  } catch {
    return undefined;
  }
  return undefined;
}

/** A cut within a character of UTF-8 would make bytes of a text. */
function withoutHalfCharacter(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && end > bytes.length - 4 && (bytes[end - 1]! & 0xc0) === 0x80) end -= 1;
  const lead = bytes[end - 1] ?? 0;
  return lead >= 0xc0 ? bytes.subarray(0, end - 1) : bytes;
}
