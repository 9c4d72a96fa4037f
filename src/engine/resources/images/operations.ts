import Type, { type Static } from "typebox";
import { invalidInput } from "../../contract/errors.ts";
import { type Call, operation } from "../../contract/operation.ts";
import { RawBody, Reply } from "../../contract/reply.ts";
import { Id, Words } from "../../contract/schema.ts";
import type { Settings } from "../../contract/settings.ts";
import { MEMBER_ERRORS, requireMember } from "../organizations/access.ts";
import type { Growth } from "./grow-image.ts";
import { imageInThread } from "./image-in-thread.ts";
import { inspectImage, type KnownImage, MAX_PIXELS, undecodable } from "./inspect-image.ts";
import { SIZES } from "./sizes.ts";

const Side = () => Type.Optional(Type.Integer({ minimum: 0, maximum: 2000 }));

const UncropFields = Type.Object({
  provider: Words(["provider_a", "provider_b"]),
  organization_id: Id("org_"),
  extend_left: Side(),
  extend_right: Side(),
  extend_up: Side(),
  extend_down: Side(),
  seed: Type.Optional(Type.Integer()),
  prompt: Type.Optional(Type.String()),
  size: Type.Optional(Words(SIZES)),
});
type UncropFields = Static<typeof UncropFields>;

const SIDES = ["extend_left", "extend_right", "extend_up", "extend_down"] as const;

/** G26: a field of the other provider is refused, never ignored. */
const FOREIGN: Record<UncropFields["provider"], readonly string[]> = {
  provider_a: ["mask_file", "prompt", "size"],
  provider_b: [...SIDES, "seed"],
};

const MEGAPIXEL = 1_000_000;
/** JPEG counts its sides in sixteen bits. */
const MAX_SIDE = 65_500;

const limit = ({ upload_limit_mb }: Settings) => Math.floor(upload_limit_mb * 1024 * 1024);

export const uncropImage = operation({
  id: "images.uncrop",
  section: "4.20",
  assumptions: ["G02", "G03", "G26"],
  assumed: { envelope: "G02", headers: { "x-provider": "G26" } },
  method: "POST",
  path: "/v1/images/uncrop",
  summary: "Extend an image beyond its borders",
  description:
    "provider_a grows the image by exactly the pixels asked for (JPEG), provider_b scales it to a size and fills the transparent area of the mask (PNG).",
  body: {
    kind: "multipart",
    fields: UncropFields,
    files: {
      // Clients that do not know a file's type send octet-stream; the bytes decide then.
      image_file: {
        required: true,
        limit,
        types: ["image/png", "image/jpeg", "image/webp", "application/octet-stream"],
      },
      mask_file: { required: false, limit, types: ["image/png", "application/octet-stream"] },
    },
  },
  errors: MEMBER_ERRORS,
  success: {
    status: 200,
    content_types: ["image/jpeg", "image/png"],
    headers: ["X-Provider", "X-Provider-Request-Id", "X-Provider-Credits-Consumed"],
  },
  access: (call) => requireMember(call, call.body.organization_id),
  prepare: (call, _organization, { services, signal }) => {
    const { body, files } = call;
    requireOwnFields(body, files);
    return services.inTurn("image", signal, () =>
      body.provider === "provider_a" ? grown(call, signal) : filled(call, signal),
    );
  },
  handle({ body: { provider }, world }, _organization, { bytes, credits }) {
    const type = provider === "provider_a" ? "image/jpeg" : "image/png";
    return new Reply(200, new RawBody(type, bytes), {
      "X-Provider": provider,
      "X-Provider-Request-Id": world.newId("preq_"),
      ...(credits === undefined ? {} : { "X-Provider-Credits-Consumed": String(credits) }),
    });
  },
});

type UncropCall = Call<unknown, unknown, UncropFields>;
export interface Made {
  bytes: Buffer;
  credits: number | undefined;
}

/** @throws ApiError INVALID_INPUT */
function requireOwnFields(body: UncropFields, files: UncropCall["files"]): void {
  for (const field of FOREIGN[body.provider]) {
    const value = files[field]?.filename ?? (body as Record<string, unknown>)[field];
    if (value !== undefined)
      throw invalidInput(field, String(value), `${field} is not a field of ${body.provider}`);
  }
  if (body.provider === "provider_b" && files["mask_file"] === undefined) {
    throw invalidInput("mask_file", null, "mask_file is required for provider_b");
  }
}

async function grown({ body, files, world }: UncropCall, signal: AbortSignal): Promise<Made> {
  const file = files["image_file"]!;
  const image = await inspectImage(file, { field: "image_file", formats: ["png", "jpeg", "webp"] });
  const growth = growthOf(body, image);
  // Without a seed every call gives another picture, and the same one again after a reset.
  const seed = body.seed ?? world.random("images.uncrop").uint32();
  const bytes = await imageInThread({ provider: "provider_a", image, growth, seed }, signal);
  const width = image.width + growth.left + growth.right;
  const height = image.height + growth.up + growth.down;
  return { bytes, credits: Math.max(1, Math.ceil((width * height) / MEGAPIXEL)) };
}

async function filled({ body, files }: UncropCall, signal: AbortSignal): Promise<Made> {
  const file = files["image_file"]!;
  const maskFile = files["mask_file"]!;
  const image = await inspectImage(file, { field: "image_file", formats: ["png", "jpeg", "webp"] });
  const mask = await inspectImage(maskFile, { field: "mask_file", formats: ["png"] });
  if (!mask.hasAlpha) {
    throw invalidInput("mask_file", maskFile.filename, "mask_file must have an alpha channel");
  }
  const { size = SIZES[0], prompt = "" } = body;
  const bytes = await imageInThread({ provider: "provider_b", image, mask, size, prompt }, signal);
  return { bytes, credits: undefined };
}

/** @throws ApiError INVALID_INPUT naming the largest side of a growth that is too much (G26) */
function growthOf(body: UncropFields, { width, height, file }: KnownImage): Growth {
  const [left, right, up, down] = SIDES.map((side) => body[side] ?? 0) as [number, number, number, number];
  const after = { width: width + left + right, height: height + up + down };
  const tooMuch = after.width * after.height > MAX_PIXELS;
  if (tooMuch || Math.max(after.width, after.height) > MAX_SIDE) {
    const why = `the image would have ${after.width} x ${after.height} pixels, more than ${tooMuch ? MAX_PIXELS : `${MAX_SIDE} on a side`}`;
    const largest = Math.max(left, right, up, down);
    if (largest === 0) throw undecodable("image_file", file, why);
    throw invalidInput(SIDES[[left, right, up, down].indexOf(largest)]!, String(largest), why);
  }
  return { left, right, up, down };
}
