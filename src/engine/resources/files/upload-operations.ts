import Type from "typebox";
import { renderError } from "../../contract/envelopes.ts";
import { ApiError, resourceNotFound } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import { Reply } from "../../contract/reply.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { type Placement, placementOf, tooMuch } from "./content-range.ts";
import { completeUpload } from "./rules.ts";
import { BUCKET, type Upload, uploads } from "./schema.ts";
import { presentObject, StoredObject } from "./stored-object.ts";

const path = "/upload/storage/v1/b/{bucket}/o";
const params = Type.Object({ bucket: Type.String({ minLength: 1, examples: [BUCKET] }) });
const query = Type.Object({
  upload_id: Type.String({ minLength: 1, description: "The token that stands in place of credentials" }),
  uploadType: Type.Optional(Type.String()),
});

/** The URL of an upload is told by its token, not by its path. */
const UNKNOWN = { code: "RESOURCE_NOT_FOUND", details: ["upload_id"] } as const;

type UploadCall = { params: { bucket: string }; query: { upload_id: string }; world: WorldReader };

/**
 * The upload of a URL, as long as it can be spoken to.
 * @throws ApiError RESOURCE_NOT_FOUND, UPLOAD_EXPIRED (G13)
 */
function requireUpload({ params: { bucket }, query: { upload_id }, world }: UploadCall): Upload {
  const [upload] = world.index(uploads, "by_token", upload_id).page(0, 1);
  if (upload === undefined || bucket !== BUCKET || upload.status === "cancelled") {
    throw resourceNotFound("upload_id", upload_id);
  }
  if (upload.expires_at <= world.now) {
    throw new ApiError("UPLOAD_EXPIRED", { details: { expires_at: world.iso(upload.expires_at) } });
  }
  return upload;
}

export const putUpload = operation({
  id: "uploads.put",
  section: "G13",
  assumptions: ["G13"],
  method: "PUT",
  path,
  summary: "Send bytes of a resumable upload, or ask how far it is",
  description:
    "The Google Cloud Storage resumable protocol: the whole file, chunks with Content-Range, or a probe (`bytes */N`, `bytes */*`). Bytes that arrived before are passed over; a gap stores nothing. Chunks need not be multiples of 256 KiB.",
  params,
  query,
  headers: {
    "content-range": "`bytes a-b/N` of a chunk, `bytes */*` of a probe; absent where the whole file is sent",
  },
  body: { kind: "stream" },
  credentials: false,
  errors: [UNKNOWN, "UPLOAD_EXPIRED", "PAYLOAD_TOO_LARGE"],
  success: [
    { status: 200, schema: StoredObject, description: "All bytes are there." },
    { status: 308, headers: ["Range"], description: "Not complete; Range says what is held, if anything." },
  ],
  access: requireUpload,
  async prepare({ headers }, upload, { services, stream }) {
    const { bytes } = services;
    const place = placementOf(headers, upload.file_size);
    if (upload.status === "complete") return { held: upload.file_size, probed: false, crc32c: upload.crc32c };
    if (place.kind === "probe") return { held: bytes.size(upload.id), probed: true, crc32c: null };
    try {
      await receive(place);
    } catch (error) {
      // The last byte makes it whole, also where the client hangs up before the end of its body.
      if (bytes.size(upload.id) === upload.file_size) {
        services.transact((tx) => completeUpload(tx, upload.id, bytes.crc32c(upload.id)));
      }
      throw error;
    }
    return { held: bytes.size(upload.id), probed: false, crc32c: bytes.crc32c(upload.id) };

    async function receive({ start, end }: Extract<Placement, { kind: "bytes" }>): Promise<void> {
      const missing = upload.file_size - bytes.size(upload.id);
      bytes.requireRoom(Math.min(missing, Number(headers["content-length"] ?? 0)));
      const outcome = await bytes.write(upload.id, stream, { start, end });
      if (outcome === "excess") throw tooMuch(headers["content-range"], upload.file_size);
    }
  },
  handle({ world }, upload, { held, probed, crc32c }) {
    if (upload.status === "complete") return presentObject(upload, world);
    // A probe that meets the last byte while it is being received must not decide for its sender.
    if (probed || held < upload.file_size) {
      return new Reply(308, undefined, held === 0 ? {} : { Range: `bytes=0-${held - 1}` });
    }
    return presentObject(completeUpload(world, upload.id, crc32c), world);
  },
});

export const cancelUpload = operation({
  id: "uploads.cancel",
  section: "G13",
  assumptions: ["G13"],
  method: "DELETE",
  path,
  summary: "Cancel a resumable upload",
  description: "Answers 499, as Google Cloud Storage does; the URL is unknown from then on.",
  params,
  query,
  credentials: false,
  errors: [UNKNOWN, "UPLOAD_EXPIRED", "UPLOAD_CANCELLED"],
  success: { status: 499, description: "The upload was cancelled." },
  access(call) {
    const upload = requireUpload(call);
    // A registered upload has become a file and is over.
    if (upload.file_id !== null) throw resourceNotFound("upload_id", call.query.upload_id);
    return upload;
  },
  handle({ world, request }, upload) {
    world.update(uploads, upload.id, { status: "cancelled" });
    world.unschedule("expiry", upload.id);
    // An error that was thrown would undo the cancelling.
    const error = new ApiError("UPLOAD_CANCELLED");
    const body = renderError({ ...error, message: error.message }, "A", {
      trace_id: request.id,
      timestamp: world.iso(world.now),
    });
    return new Reply(error.status, body);
  },
});
