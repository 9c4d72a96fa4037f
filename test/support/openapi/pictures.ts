import sharp from "sharp";

const SIZE = { width: 16, height: 16 };

export async function makePng(name: string): Promise<File> {
  const bytes = await sharp({ create: { ...SIZE, channels: 3, background: "#336699" } })
    .png()
    .toBuffer();
  return new File([new Uint8Array(bytes)], name, { type: "image/png" });
}

/** Creates a mask that asks to fill the whole image. */
export async function makeTransparentPng(name: string): Promise<File> {
  const bytes = await sharp({ create: { ...SIZE, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } })
    .png()
    .toBuffer();
  return new File([new Uint8Array(bytes)], name, { type: "image/png" });
}
