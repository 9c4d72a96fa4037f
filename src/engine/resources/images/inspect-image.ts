import { toLatin1 } from "../../bytes.ts";
import { ApiError, invalidInput } from "../../contract/errors.ts";
import type { ReceivedFile } from "../../contract/operation.ts";
import { type ImageTools, MAX_IMAGE_PIXELS, type Pixels, platform } from "../../platform.ts";

export interface InspectedImage {
  /** The form field and its file, for refusals. */
  field: string;
  file: ReceivedFile;
  bytes: Uint8Array;
  width: number;
  height: number;
  hasAlpha: boolean;
}

/**
 * Checks an image by its bytes; its name and type are ignored.
 * @throws ApiError UNSUPPORTED_MEDIA_TYPE for an image of another format (an animated PNG is one), INVALID_INPUT for one that
 * cannot be decoded, is animated in an accepted format, or is too large (G26)
 */
export async function inspectImage(
  file: ReceivedFile,
  { field, formats }: { field: string; formats: readonly string[] },
): Promise<InspectedImage> {
  const bytes = await file.read(file.size);
  const format = detectFormat(bytes);
  if (format === undefined) throw createDecodeError(field, file, "it is not an image");
  if (!formats.includes(format)) {
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", {
      details: { field, value: `image/${format}` },
      system_message: `${field} must be ${formats.map((allowed) => `image/${allowed}`).join(", ")}.`,
    });
  }
  const tools = await platform().loadImageTools();
  const { width, height, hasAlpha, isAnimated } = await tools.inspect(bytes).catch(() => {
    throw createDecodeError(field, file, "its header is broken");
  });
  if (isAnimated)
    throw invalidInput(field, file.filename, `${field} is animated; only single pictures are accepted`);
  if (width * height > MAX_IMAGE_PIXELS)
    throw createSizeError(field, file, `${width} x ${height} pixels, more than ${MAX_IMAGE_PIXELS}`);
  if (format === "jpeg" && bytes.length * 8 < countBlocks(width, height))
    throw createDecodeError(field, file, `it is too small to hold ${width} x ${height} pixels`);
  return { field, file, bytes, width, height, hasAlpha };
}

/** A JPEG has at least a bit for each block of 8 x 8 pixels; a decoder would fill missing blocks. */
function countBlocks(width: number, height: number): number {
  return Math.ceil(width / 8) * Math.ceil(height / 8);
}

/** @throws ApiError INVALID_INPUT if the file breaks off or is damaged behind a valid header */
export async function decodeImage(
  { field, file, bytes }: InspectedImage,
  options: Parameters<ImageTools["decode"]>[1],
): Promise<Pixels> {
  const tools = await platform().loadImageTools();
  return tools.decode(bytes, options).catch(() => {
    throw createDecodeError(field, file, "its pixels are broken");
  });
}

export function createSizeError(field: string, { filename }: ReceivedFile, size: string): ApiError {
  return invalidInput(field, filename, `${field} has ${size}`);
}

function createDecodeError(field: string, { filename }: ReceivedFile, reason: string): ApiError {
  return invalidInput(field, filename, `${field} cannot be decoded: ${reason}`);
}

const HEADER_BYTES = 4096;

/** Detects the format by the first bytes; undefined for anything that is not an image. */
function detectFormat(bytes: Uint8Array): string | undefined {
  const header = toLatin1(bytes.subarray(0, HEADER_BYTES));
  // An animated PNG, which would decode to its first frame, has the chunk acTL before its pixels.
  if (header.startsWith("\x89PNG\r\n\x1a\n")) return header.includes("acTL") ? "apng" : "png";
  return SIGNATURES.find(([, signature]) => signature.test(header))?.[0];
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
