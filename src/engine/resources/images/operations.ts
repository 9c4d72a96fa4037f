import { type Static, Type } from "typebox";
import { invalidInput } from "../../contract/errors.ts";
import { type Call, operation } from "../../contract/operation.ts";
import { RawBody, Reply } from "../../contract/reply.ts";
import type { Resource } from "../../contract/resource.ts";
import { Id, StringEnum } from "../../contract/schema.ts";
import type { Settings } from "../../contract/settings.ts";
import { type Border, type Colour, MAX_IMAGE_PIXELS, platform } from "../../platform.ts";
import { Random } from "../../state/random.ts";
import { MEMBER_ERRORS, requireMember } from "../organizations/access.ts";
import { createSizeError, decodeImage, type InspectedImage, inspectImage } from "./inspect-image.ts";

/** The sizes of provider_b (section 4.20). */
const SIZES = ["1024x1024", "1024x1536", "1536x1024"] as const;

/** A default in the schema would let generated clients send the field to provider_b, which refuses it. */
const ExtendBy = () =>
  Type.Optional(
    Type.Integer({ minimum: 0, maximum: 2000, description: "Pixels, for provider_a. Default: 0" }),
  );

const UncropFields = Type.Object({
  provider: StringEnum(["provider_a", "provider_b"]),
  organization_id: Id("org_"),
  extend_left: ExtendBy(),
  extend_right: ExtendBy(),
  extend_up: ExtendBy(),
  extend_down: ExtendBy(),
  seed: Type.Optional(Type.Integer({ description: "For provider_a" })),
  prompt: Type.Optional(Type.String({ description: "For provider_b" })),
  size: Type.Optional(StringEnum(SIZES, { description: "For provider_b. Default: 1024x1024" })),
});
type UncropFields = Static<typeof UncropFields>;

const SIDES = ["extend_left", "extend_right", "extend_up", "extend_down"] as const;

/** Fields of the other provider, which are refused (G26). */
const OTHER_PROVIDER_FIELDS: Record<UncropFields["provider"], readonly string[]> = {
  provider_a: ["mask_file", "prompt", "size"],
  provider_b: [...SIDES, "seed"],
};

const IMAGE_FORMATS = ["png", "jpeg", "webp"] as const;

const MEGAPIXEL = 1_000_000;
/** The largest side of a JPEG that libjpeg writes. */
const MAX_SIDE = 65_500;

const getLimitBytes = ({ upload_limit_mb }: Settings) => Math.floor(upload_limit_mb * 1024 * 1024);

export const uncropImage = operation({
  id: "images.uncrop",
  section: "4.20",
  assumptions: ["G02", "G03", "G26"],
  assumed: { envelope: "G02" },
  route: "POST /v1/images/uncrop",
  summary: "Extend an image beyond its borders",
  description:
    "`provider_a` adds the requested pixels at each side, and answers with a JPEG. `provider_b` scales the image to `size`, and fills the transparent area of `mask_file`, which it requires. It answers with a PNG. A field of the other provider is a 422.",
  body: {
    kind: "multipart",
    fields: UncropFields,
    files: {
      // Clients that do not know the type of a file send octet-stream; its bytes decide.
      image_file: {
        required: true,
        limit: getLimitBytes,
        types: ["image/png", "image/jpeg", "image/webp", "application/octet-stream"],
      },
      mask_file: { required: false, limit: getLimitBytes, types: ["image/png", "application/octet-stream"] },
    },
  },
  errors: MEMBER_ERRORS,
  success: {
    status: 200,
    content_types: ["image/jpeg", "image/png"],
    headers: ["X-Provider", "X-Provider-Request-Id", "X-Provider-Credits-Consumed"],
  },
  validate: requireProviderFields,
  access: (call) => requireMember(call, call.body.organization_id),
  prepare(call, _organization, { services, signal }) {
    const { provider } = call.body;
    return services.runQueued("image", signal, () =>
      provider === "provider_a" ? extendImage(call, signal) : fillImage(call, signal),
    );
  },
  handle({ body: { provider }, world }, _organization, { bytes, credits }) {
    const type = provider === "provider_a" ? "image/jpeg" : "image/png";
    return new Reply(200, new RawBody(type, bytes), {
      "X-Provider": provider,
      "X-Provider-Request-Id": world.createId("preq_"),
      ...(credits === undefined ? {} : { "X-Provider-Credits-Consumed": String(credits) }),
    });
  },
});

type UncropCall = Call<unknown, unknown, UncropFields>;

interface GeneratedImage {
  bytes: Uint8Array;
  /** Undefined for provider_b, which consumes no credits. */
  credits?: number;
}

/** @throws ApiError INVALID_INPUT */
function requireProviderFields({ body, files }: UncropCall): void {
  for (const field of OTHER_PROVIDER_FIELDS[body.provider]) {
    const value = files[field]?.filename ?? (body as Record<string, unknown>)[field];
    if (value !== undefined)
      throw invalidInput(field, String(value), `${field} is not a field of ${body.provider}`);
  }
  if (body.provider === "provider_b" && files["mask_file"] === undefined)
    throw invalidInput("mask_file", null, "mask_file is required for provider_b");
}

/** A JPEG with a mirrored border whose tint follows from the seed. */
async function extendImage({ body, files, world }: UncropCall, signal: AbortSignal): Promise<GeneratedImage> {
  const image = await inspectImage(files["image_file"]!, { field: "image_file", formats: IMAGE_FORMATS });
  const border = planBorder(body, image);
  // If the request has no seed, each call gets another tint, in the same order after a reset.
  const seed = body.seed ?? world.random("images.uncrop").uint32();
  signal.throwIfAborted();
  const pixels = await decodeImage(image, { channels: 3 });
  signal.throwIfAborted();
  const random = new Random(seed, "tint");
  const tint: Colour = [random.int(0, 255), random.int(0, 255), random.int(0, 255)];
  const bytes = await (await platform().loadImageTools()).extend(pixels, border, tint);
  const width = border.left + image.width + border.right;
  const height = border.top + image.height + border.bottom;
  return { bytes, credits: Math.max(1, Math.ceil((width * height) / MEGAPIXEL)) };
}

/** A PNG of the requested size; the tint of the transparent area follows from the picture and the prompt. */
async function fillImage({ body, files }: UncropCall, signal: AbortSignal): Promise<GeneratedImage> {
  const image = await inspectImage(files["image_file"]!, { field: "image_file", formats: IMAGE_FORMATS });
  const maskFile = files["mask_file"]!;
  const mask = await inspectImage(maskFile, { field: "mask_file", formats: ["png"] });
  if (!mask.hasAlpha)
    throw invalidInput("mask_file", maskFile.filename, "mask_file must have an alpha channel");
  const [width, height] = (body.size ?? SIZES[0]).split("x").map(Number) as [number, number];
  const scaled = { channels: 4, size: { width, height } } as const;
  signal.throwIfAborted();
  const pixels = await decodeImage(image, scaled);
  const { data: maskData } = await decodeImage(mask, scaled);
  signal.throwIfAborted();
  for (let alpha = 3; alpha < maskData.length; alpha += 4)
    pixels.data[alpha] = Math.round((pixels.data[alpha]! * maskData[alpha]!) / 255);
  const { createDigest, loadImageTools } = platform();
  const [red, green, blue] = createDigest("sha256")
    .update(pixels.data)
    .update(body.prompt ?? "")
    .digest();
  return { bytes: await (await loadImageTools()).fill(pixels, [red!, green!, blue!]) };
}

/** @throws ApiError INVALID_INPUT naming the largest extension if the image would become too large (G26) */
function planBorder(body: UncropFields, { width, height, file }: InspectedImage): Border {
  const [left, right, top, bottom] = SIDES.map((side) => body[side] ?? 0) as [number, number, number, number];
  const size = { width: width + left + right, height: height + top + bottom };
  const hasTooManyPixels = size.width * size.height > MAX_IMAGE_PIXELS;
  if (hasTooManyPixels || Math.max(size.width, size.height) > MAX_SIDE) {
    const limit = hasTooManyPixels ? MAX_IMAGE_PIXELS : `${MAX_SIDE} on a side`;
    const excess = `${size.width} x ${size.height} pixels, more than ${limit}`;
    const largest = Math.max(left, right, top, bottom);
    if (largest === 0) throw createSizeError("image_file", file, excess);
    const side = SIDES[[left, right, top, bottom].indexOf(largest)]!;
    throw invalidInput(side, String(largest), `the image would have ${excess}`);
  }
  return { left, right, top, bottom };
}

export const imagesResource = {
  name: "images",
  collections: [],
  operations: [uncropImage],
} satisfies Resource;
