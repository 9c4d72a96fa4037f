import { toLatin1 } from "../../engine/bytes.ts";
import {
  AVERAGED_GRIDS,
  type Colour,
  type ImageHeader,
  type ImageTools,
  MAX_IMAGE_PIXELS,
  type Size,
  TINT_SHARE,
} from "../../engine/platform.ts";

/* Implements `ImageTools` with a browser's decoders and encoders. Their bytes differ from those of Node. */

interface Canvas extends Size {
  getContext(kind: "2d", options?: object): Context;
  convertToBlob(options: { type: string; quality?: number }): Promise<Blob>;
}
interface Context {
  fillStyle: string;
  imageSmoothingEnabled: boolean;
  imageSmoothingQuality: string;
  fillRect(x: number, y: number, width: number, height: number): void;
  drawImage(image: Size, x: number, y: number, width: number, height: number): void;
  getImageData(x: number, y: number, width: number, height: number): { data: Uint8ClampedArray };
  putImageData(pixels: object, x: number, y: number): void;
}
declare const OffscreenCanvas: new (width: number, height: number) => Canvas;
declare const ImageData: new (data: Uint8ClampedArray, width: number, height: number) => object;
declare const createImageBitmap: (image: Blob) => Promise<Size & { close(): void }>;

const WHITE: Colour = [255, 255, 255];

export const inspect: ImageTools["inspect"] = async (bytes) => {
  const header = readHeader(bytes);
  // A camera may store an image on its side, with its orientation in the Exif data.
  const hasOrientation = header.format === "jpeg" && toLatin1(bytes.subarray(0, 65_536)).includes("Exif\0\0");
  if (!hasOrientation || header.width * header.height > MAX_IMAGE_PIXELS) return header;
  const { width, height } = await decodeBitmap(bytes);
  return { ...header, width, height };
};

export const decode: ImageTools["decode"] = async (bytes, { channels, size }) => {
  const image = await decodeBitmap(bytes);
  const { width, height } = size ?? image;
  const [canvas, context] = createCanvas({ width, height }, channels === 3 ? WHITE : undefined);
  context.drawImage(image, 0, 0, width, height);
  image.close();
  const data = readPixels(canvas, context);
  return { width, height, data: channels === 4 ? data : removeAlpha(data) };
};

export const sample: ImageTools["sample"] = async (bytes, side) => {
  const image = await decodeBitmap(bytes);
  const [canvas, context] = createCanvas({ width: side, height: side }, WHITE);
  context.imageSmoothingEnabled = false;
  context.drawImage(image, 0, 0, side, side);
  image.close();
  return removeAlpha(readPixels(canvas, context));
};

export const extend: ImageTools["extend"] = async ({ data, width, height }, border, tint) => {
  const size = { width: border.left + width + border.right, height: border.top + height + border.bottom };
  const extendedPixels = new Uint8ClampedArray(size.width * size.height * 4).fill(255);
  for (let y = 0, to = 0; y < size.height; y++) {
    const row = mirrorPosition(y - border.top, height);
    for (let x = 0; x < size.width; x++, to += 4) {
      const column = mirrorPosition(x - border.left, width);
      const isInside = row === y - border.top && column === x - border.left;
      const from = (row * width + column) * 3;
      for (let i = 0; i < 3; i++) {
        const value = data[from + i]!;
        extendedPixels[to + i] = isInside ? value : value * (1 - TINT_SHARE) + tint[i]! * TINT_SHARE;
      }
    }
  }
  return encode(toCanvas(extendedPixels, size), { type: "image/jpeg", quality: 0.98 });
};

export const fill: ImageTools["fill"] = async ({ data, width, height }, tint) => {
  const picture = toCanvas(new Uint8ClampedArray(data), { width, height });
  const [canvas, context] = createCanvas({ width, height }, tint);
  context.imageSmoothingQuality = "high";
  for (const grid of AVERAGED_GRIDS) {
    const [averages, averagesContext] = createCanvas({ width: grid, height: grid });
    averagesContext.imageSmoothingQuality = "high";
    averagesContext.drawImage(picture, 0, 0, grid, grid);
    context.drawImage(averages, 0, 0, width, height);
  }
  context.drawImage(picture, 0, 0, width, height);
  return encode(canvas, { type: "image/png" });
};

/** Decodes an image and turns it upright. @throws DOMException for broken pixels */
const decodeBitmap = (bytes: Uint8Array) => createImageBitmap(new Blob([bytes as Uint8Array<ArrayBuffer>]));

function createCanvas({ width, height }: Size, background?: Colour): [Canvas, Context] {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (background !== undefined) {
    context.fillStyle = `rgb(${background.join(",")})`;
    context.fillRect(0, 0, width, height);
  }
  return [canvas, context];
}

function toCanvas(rgba: Uint8ClampedArray, size: Size): Canvas {
  const [canvas, context] = createCanvas(size);
  context.putImageData(new ImageData(rgba, size.width, size.height), 0, 0);
  return canvas;
}

function readPixels({ width, height }: Canvas, context: Context): Uint8Array {
  return new Uint8Array(context.getImageData(0, 0, width, height).data.buffer);
}

function removeAlpha(rgba: Uint8Array): Uint8Array {
  const rgb = new Uint8Array((rgba.length / 4) * 3);
  for (let from = 0, to = 0; from < rgba.length; from += 4, to += 3)
    rgb.set(rgba.subarray(from, from + 3), to);
  return rgb;
}

async function encode(canvas: Canvas, format: { type: string; quality?: number }): Promise<Uint8Array> {
  return new Uint8Array(await (await canvas.convertToBlob(format)).arrayBuffer());
}

/** The position from 0 to `length` - 1 that a position has when it is mirrored at the edges. */
function mirrorPosition(position: number, length: number): number {
  const wrapped = ((position % (2 * length)) + 2 * length) % (2 * length);
  return wrapped < length ? wrapped : 2 * length - 1 - wrapped;
}

/** @throws RangeError for an incomplete header */
function readHeader(bytes: Uint8Array): ImageHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const head = toLatin1(bytes.subarray(0, 4096));
  if (head.startsWith("\x89PNG")) {
    const colourType = view.getUint8(25);
    const hasAlpha = (colourType & 4) !== 0 || head.includes("tRNS");
    return {
      format: "png",
      width: view.getUint32(16),
      height: view.getUint32(20),
      hasAlpha,
      isAnimated: false,
    };
  }
  if (head.startsWith("GIF8"))
    return {
      format: "gif",
      width: view.getUint16(6, true),
      height: view.getUint16(8, true),
      hasAlpha: true,
      isAnimated: false,
    };
  if (head.startsWith("RIFF")) return { format: "webp", ...readWebp(view, head.slice(12, 16)) };
  if (head.startsWith("\xff\xd8"))
    return { format: "jpeg", hasAlpha: false, isAnimated: false, ...readFrameSize(view) };
  return { format: undefined, width: 0, height: 0, hasAlpha: false, isAnimated: false };
}

function readWebp(view: DataView, kind: string): Omit<ImageHeader, "format"> {
  if (kind === "VP8X") {
    const flags = view.getUint8(20);
    const [width, height] = [24, 27].map((at) => 1 + (view.getUint32(at, true) & 0xffffff)) as [
      number,
      number,
    ];
    return { width, height, hasAlpha: (flags & 16) !== 0, isAnimated: (flags & 2) !== 0 };
  }
  if (kind === "VP8L") {
    const bits = view.getUint32(21, true);
    const hasAlpha = ((bits >>> 28) & 1) === 1;
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff), hasAlpha, isAnimated: false };
  }
  const [width, height] = [26, 28].map((at) => view.getUint16(at, true) & 0x3fff) as [number, number];
  return { width, height, hasAlpha: false, isAnimated: false };
}

/**
 * The size that the frame header of a JPEG announces. Three of the markers from SOF0 to SOF15 mean something else.
 * @throws RangeError without one
 */
function readFrameSize(view: DataView): Size {
  for (let offset = 2; ; offset += 2 + view.getUint16(offset + 2)) {
    const marker = view.getUint16(offset);
    if (marker < 0xff00) throw new RangeError("the JPEG has no frame");
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isFrame) return { height: view.getUint16(offset + 5), width: view.getUint16(offset + 7) };
  }
}
