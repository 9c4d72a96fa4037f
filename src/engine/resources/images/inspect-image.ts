import { open } from "node:fs/promises";
import type { OutputInfo, Sharp } from "sharp";
import { ApiError, invalidInput } from "../../contract/errors.ts";
import type { ReceivedFile } from "../../contract/operation.ts";

/** G26, before and after growth; a bomb is refused by its header, before a pixel is made of it. */
export const MAX_PIXELS = 40_000_000;

export type ImageFormat = "png" | "jpeg" | "webp";

export interface KnownImage {
  /** The form field and the file it came in, for refusals. */
  field: string;
  file: ReceivedFile;
  width: number;
  height: number;
  hasAlpha: boolean;
}

/**
 * What the file really is, whatever it is called.
 * @throws ApiError UNSUPPORTED_MEDIA_TYPE for an image of another kind, INVALID_INPUT for what cannot be
 *   decoded, moves, or is too large
 */
export async function inspectImage(
  file: ReceivedFile,
  { field, formats }: { field: string; formats: readonly ImageFormat[] },
): Promise<KnownImage> {
  const format = await sniff(file.path);
  if (format === undefined) throw undecodable(field, file, "it is no image");
  if (!(formats as readonly string[]).includes(format)) {
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", {
      details: { field, value: `image/${format}` },
      system_message: `${field} must be ${formats.map((known) => `image/${known}`).join(", ")}.`,
    });
  }
  const image = await openImage(file.path);
  const found = await image.metadata().catch(() => {
    throw undecodable(field, file, "its header is broken");
  });
  const { width, height } = found.autoOrient;
  if ((found.pages ?? 1) > 1) throw undecodable(field, file, "it is animated");
  if (width * height > MAX_PIXELS) {
    throw undecodable(field, file, `it has ${width} x ${height} pixels, more than ${MAX_PIXELS}`);
  }
  if (format === "jpeg" && file.size * 8 < blocksOf(width, height)) {
    throw undecodable(field, file, `it is too small to hold ${width} x ${height} pixels`);
  }
  return { field, file, width, height, hasAlpha: found.hasAlpha };
}

/** A JPEG spends at least a bit on each block of 8 x 8; a reader would invent those that are missing. */
function blocksOf(width: number, height: number): number {
  return Math.ceil(width / 8) * Math.ceil(height / 8);
}

/**
 * The pixels of an image, upright, after what `shape` makes of it.
 * @throws ApiError INVALID_INPUT where the file breaks off or turns into garbage behind a good header
 */
export async function pixelsOf(
  { field, file }: KnownImage,
  shape: (image: Sharp) => Sharp,
): Promise<{ data: Buffer; info: OutputInfo }> {
  const image = await openImage(file.path);
  try {
    return await shape(image).raw({ depth: "uchar" }).toBuffer({ resolveWithObject: true });
  } catch {
    throw undecodable(field, file, "its pixels are broken");
  }
}

async function openImage(path: string): Promise<Sharp> {
  // Loaded for the first image only: it brings a native library along.
  const { default: sharp } = await import("sharp");
  return sharp(path, { limitInputPixels: MAX_PIXELS, failOn: "error" }).autoOrient();
}

export function undecodable(field: string, { filename }: ReceivedFile, why: string): ApiError {
  return invalidInput(field, filename, `${field} cannot be decoded: ${why}`);
}

const HEAD_BYTES = 4096;

/** By the first bytes; undefined for anything that is no image known here. */
async function sniff(path: string): Promise<string | undefined> {
  const file = await open(path, "r");
  let head: string;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    head = buffer.toString("latin1", 0, bytesRead);
  } finally {
    await file.close();
  }
  // An animated PNG announces itself by a chunk before its pixels, and decodes to its first frame only.
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return head.includes("acTL") ? "apng" : "png";
  return SIGNATURES.find(([, signature]) => signature.test(head))?.[0];
}

const SIGNATURES: readonly (readonly [string, RegExp])[] = [
  ["jpeg", /^\xff\xd8\xff/],
  ["webp", /^RIFF[\s\S]{4}WEBP/],
  ["gif", /^GIF8[79]a/],
  ["bmp", /^BM[\s\S]{12}/],
  ["tiff", /^(?:II\*\0|MM\0\*)/],
  ["avif", /^[\s\S]{4}ftypavi[fs]/],
  ["heic", /^[\s\S]{4}ftyp(?:heic|heix|mif1|hevc)/],
  ["svg+xml", /^\s*(?:<\?xml[\s\S]{0,500}?)?<svg[\s>]/],
];
