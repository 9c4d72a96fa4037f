import sharp from "sharp";
import { expect } from "vitest";
import { type Api, type ApiResponse, type Caller, KEYS } from "./harness.ts";

export const UNCROP = "/v1/images/uncrop";

export type Part = string | number | { bytes: Uint8Array; type?: string; name?: string };

export function toForm(parts: Record<string, Part>): FormData {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part !== "object") form.append(name, String(part));
    else
      form.append(name, new Blob([new Uint8Array(part.bytes)], { type: part.type }), part.name ?? "picture");
  }
  return form;
}

export async function postUncrop(
  api: Api,
  parts: Record<string, Part>,
  who: Caller = "dan",
): Promise<ApiResponse & { bytes: Buffer }> {
  const response = await fetch(api.url + UNCROP, {
    method: "POST",
    headers: { "api-key": KEYS[who] },
    body: toForm({ provider: "provider_a", organization_id: "org_acme", ...parts }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get("content-type")?.includes("json");
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    text: isJson ? bytes.toString() : "",
    body: isJson ? JSON.parse(bytes.toString()) : undefined,
  };
}

/** Draws a picture in which each pixel has its own colour. */
export function drawPicture(width: number, height: number) {
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      pixels.set(
        [(x * 255) / width, (y * 255) / height, ((x + y) * 127) / (width + height)],
        (y * width + x) * 3,
      );
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

/** Draws a mask: the left half stays, the right half is filled. */
export function drawHalfMask(width: number, height: number): Promise<Buffer> {
  const pixels = Buffer.alloc(width * height * 4);
  for (let i = 0; i < width * height; i++) pixels[i * 4 + 3] = i % width < width / 2 ? 255 : 0;
  return sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
}

export function expectRefusal(answer: ApiResponse, status: number, details: Record<string, unknown>): void {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.body.error.details).toMatchObject(details);
}
