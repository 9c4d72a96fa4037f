import { type Fill, fillImage } from "./fill-image.ts";
import { type Growth, growImage } from "./grow-image.ts";
import type { KnownImage } from "./inspect-image.ts";

/** An image to be made, as plain values, so that another thread can be told. */
export type ImageWork =
  | { provider: "provider_a"; image: KnownImage; growth: Growth; seed: number }
  | ({ provider: "provider_b" } & Fill);

/** The same work gives the same bytes, wherever it is done. @throws ApiError INVALID_INPUT for broken pixels */
export function makeImage(work: ImageWork): Promise<Buffer> {
  return work.provider === "provider_a" ? growImage(work.image, work.growth, work.seed) : fillImage(work);
}
