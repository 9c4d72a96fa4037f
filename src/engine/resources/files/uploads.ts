import { Type } from "typebox";
import { renderError } from "../../contract/envelopes.ts";
import { ApiError, invalidInput, resourceNotFound } from "../../contract/errors.ts";
import { type Call, operation } from "../../contract/operation.ts";
import { Reply } from "../../contract/reply.ts";
import { StringEnum, Timestamp } from "../../contract/schema.ts";
import type { FileDigest } from "../../contract/services.ts";
import { isJoinedHeader } from "../../contract/text.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { completeUpload, hasNeededBytes } from "./rules.ts";
import { BUCKET, type Upload, uploads } from "./schema.ts";

/** The answer of Google Cloud Storage to the last bytes; the official client compares the checksum with its own. */
const StoredObject = Type.Object(
  {
    kind: StringEnum(["storage#object"]),
    id: Type.String(),
    name: Type.String(),
    bucket: Type.String(),
    generation: Type.String(),
    metageneration: Type.String(),
    contentType: Type.String(),
    storageClass: Type.String(),
    size: Type.String({ description: "Bytes, as text" }),
    crc32c: Type.String(),
    timeCreated: Timestamp(),
    updated: Timestamp(),
  },
  { $id: "StoredObject" },
);

/** The object of a complete upload. */
function renderObject(upload: Upload, world: WorldReader) {
  const name = upload.gcs_path.slice(`gs://${BUCKET}/`.length);
  const updatedAt = upload.completed_at ?? upload.created_at;
  // The real storage counts generations in microseconds.
  const generation = String(world.toEpoch(updatedAt) * 1000);
  return {
    kind: "storage#object" as const,
    id: `${BUCKET}/${name}/${generation}`,
    name,
    bucket: BUCKET,
    generation,
    metageneration: "1",
    contentType: upload.mime_type,
    storageClass: "STANDARD",
    size: String(upload.file_size),
    crc32c: upload.crc32c ?? "AAAAAA==",
    timeCreated: world.toIso(updatedAt),
    updated: world.toIso(updatedAt),
  };
}

const UPLOAD_PATH = "/upload/storage/v1/b/{bucket}/o";
const params = Type.Object({ bucket: Type.String({ minLength: 1, examples: [BUCKET] }) });
const query = Type.Object({
  upload_id: Type.String({ minLength: 1, description: "The token, in place of credentials" }),
  uploadType: Type.Optional(Type.String({ description: "As in the upload URL. It is not evaluated" })),
});

/** The token in the query identifies an upload; the path does not. */
const UNKNOWN_UPLOAD = { code: "RESOURCE_NOT_FOUND", details: ["upload_id"] } as const;

/** The digests of an upload, on its last request. */
export const DIGEST_HEADERS = {
  "x-goog-hash": "`crc32c=…` and `md5=…` of all bytes, in base64. A digest that does not match is a 400",
  "content-md5": "The MD5 of all bytes, in base64",
};

type UploadCall = { params: { bucket: string }; query: { upload_id: string }; world: WorldReader };

/**
 * Finds the upload of a URL that is neither cancelled nor expired; it may be complete.
 * @throws ApiError RESOURCE_NOT_FOUND, UPLOAD_EXPIRED (G13)
 */
function requireUpload({ params: { bucket }, query: { upload_id }, world }: UploadCall): Upload {
  const upload = world.index(uploads, "by_token", upload_id).first();
  if (upload === undefined || bucket !== BUCKET || upload.status === "cancelled")
    throw resourceNotFound("upload_id", upload_id);
  if (upload.expires_at <= world.now)
    throw new ApiError("UPLOAD_EXPIRED", { details: { expires_at: world.toIso(upload.expires_at) } });
  return upload;
}

export const putUpload = operation({
  id: "uploads.put",
  section: "G13",
  assumptions: ["G13", "G43"],
  route: `PUT ${UPLOAD_PATH}`,
  summary: "Send bytes of a resumable upload, or ask how far it is",
  description:
    "The request sends the whole file, or with `Content-Range` a chunk of any size. A probe has no bytes, and asks how many the server has stored. Bytes that arrived before are skipped. A chunk that would leave a gap is not stored.",
  params,
  query,
  headers: {
    "content-range":
      "A chunk has `bytes a-b/N`, a probe `bytes */N` or `bytes */*`. Leave it out for the whole file",
    ...DIGEST_HEADERS,
  },
  body: { kind: "stream", optional: true, isUpload: true },
  credentials: false,
  errors: [UNKNOWN_UPLOAD, "INVALID_DIGEST", "UPLOAD_EXPIRED", "PAYLOAD_TOO_LARGE"],
  success: [
    { status: 200, schema: StoredObject, description: "All bytes are there" },
    {
      status: 308,
      headers: ["Range"],
      description: "The upload is not complete; `Range` has the stored bytes, if there are any",
    },
  ],
  access: requireUpload,
  async prepare({ headers, settings }, upload, { services, stream }) {
    const { bytes } = services;
    const range = readRange(headers, upload.file_size);
    // An empty file is complete before its only PUT, whose digests are checked nevertheless.
    if (upload.file_size === 0 && range.kind === "bytes") await checkComplete();
    if (upload.status === "complete" && hasNeededBytes(upload, bytes))
      return { receivedBytes: upload.file_size, isProbe: false, crc32c: upload.crc32c };
    if (range.kind === "probe") return { receivedBytes: bytes.size(upload.id), isProbe: true, crc32c: null };
    try {
      await receive(range);
    } catch (error) {
      // The last byte completes the upload, even if the client leaves before the end of its body.
      if (await checkComplete())
        services.transact((tx) => completeUpload(tx, upload.id, bytes.crc32c(upload.id)));
      throw error;
    }
    await checkComplete();
    return { receivedBytes: bytes.size(upload.id), isProbe: false, crc32c: bytes.crc32c(upload.id) };

    /** @throws ApiError INVALID_DIGEST; the upload then begins again */
    async function checkComplete(): Promise<boolean> {
      if (bytes.size(upload.id) !== upload.file_size) return false;
      try {
        await requireDigests({ headers, settings }, (algorithm) => bytes.digest(upload.id, algorithm));
        return true;
      } catch (error) {
        bytes.remove(upload.id);
        throw error;
      }
    }

    async function receive({ start, end }: Extract<UploadRange, { kind: "bytes" }>): Promise<void> {
      const missing = upload.file_size - bytes.size(upload.id);
      bytes.requireRoom(Math.min(missing, Number(headers["content-length"] ?? 0)));
      const outcome = await bytes.write(upload.id, stream, { start, end });
      if (outcome === "excess") throw createExcessError(headers["content-range"], upload.file_size);
    }
  },
  handle({ world }, upload, { receivedBytes, isProbe, crc32c }) {
    if (upload.status === "complete" && receivedBytes === upload.file_size)
      return renderObject(upload, world);
    // A probe does not complete an upload whose last byte is just being received.
    if (isProbe || receivedBytes < upload.file_size)
      return new Reply(308, undefined, receivedBytes === 0 ? {} : { Range: `bytes=0-${receivedBytes - 1}` });
    return renderObject(completeUpload(world, upload.id, crc32c), world);
  },
});

export const cancelUpload = operation({
  id: "uploads.cancel",
  section: "G13",
  assumptions: ["G13"],
  route: `DELETE ${UPLOAD_PATH}`,
  summary: "Cancel a resumable upload",
  description: "The answer is 499, as from Google Cloud Storage. Afterwards the URL is unknown.",
  params,
  query,
  credentials: false,
  errors: [UNKNOWN_UPLOAD, "UPLOAD_EXPIRED", "UPLOAD_CANCELLED"],
  success: { status: 499, description: "The upload was cancelled." },
  access(call) {
    const upload = requireUpload(call);
    // A registered upload is a file now and cannot be cancelled.
    if (upload.file_id !== null) throw resourceNotFound("upload_id", call.query.upload_id);
    return upload;
  },
  handle({ world, request }, upload) {
    world.update(uploads, upload.id, { status: "cancelled" });
    world.unschedule("expiry", upload.id);
    // A thrown error would roll back the cancellation.
    const error = new ApiError("UPLOAD_CANCELLED");
    const body = renderError({ ...error, message: error.message }, "A", {
      trace_id: request.id,
      timestamp: world.toIso(world.now),
    });
    return new Reply(error.status, body);
  },
});

/** The digests in base64, each with the padding of its length. */
const DIGEST_PATTERNS: Record<FileDigest, RegExp> = {
  crc32c: /^[A-Za-z0-9+/]{6}==$/,
  md5: /^[A-Za-z0-9+/]{22}==$/,
};

type DigestCall = Pick<Call, "headers" | "settings">;

/**
 * Compares the digests in the headers of an upload's last request with its bytes (G43). Unknown algorithms are ignored,
 * as Google Cloud Storage does.
 * @throws ApiError INVALID_DIGEST
 */
export async function requireDigests(
  { headers, settings }: DigestCall,
  compute: (algorithm: FileDigest) => Promise<string>,
): Promise<void> {
  if (settings.upload_digests === "ignore") return;
  for (const { field, algorithm, digest } of readDigests(headers)) {
    if (algorithm !== "crc32c" && algorithm !== "md5") continue;
    const isReadable = DIGEST_PATTERNS[algorithm].test(digest);
    const computed = isReadable ? await compute(algorithm) : undefined;
    if (computed === digest) continue;
    const value = headers[field.toLowerCase()];
    const message = isReadable
      ? `${field} has the ${algorithm} ${digest}, but the bytes have ${computed}`
      : `the ${algorithm} in ${field} must be ${algorithm === "md5" ? 16 : 4} bytes in base64`;
    throw new ApiError("INVALID_DIGEST", { message, details: { field, value } });
  }
}

function* readDigests(headers: DigestCall["headers"]) {
  for (const part of listValues(headers["x-goog-hash"])) {
    const [, algorithm = "", digest = ""] = /^([^=]*)=?(.*)$/.exec(part)!;
    yield { field: "X-Goog-Hash", algorithm: algorithm.toLowerCase(), digest };
  }
  for (const digest of listValues(headers["content-md5"]))
    yield { field: "Content-MD5", algorithm: "md5", digest };
}

function listValues(header: string | undefined): string[] {
  return (header ?? "").split(",").flatMap((part) => part.trim() || []);
}

/**
 * The bytes of one PUT, from `start` up to `end`, which is exclusive and the latest position that the body may reach; a
 * probe has no bytes.
 */
type UploadRange = { kind: "probe" } | { kind: "bytes"; start: number; end: number };

const RANGE = /^bytes (?:\*|(\d{1,15})-(\d{1,15}|\*))\/(\d+|\*)$/i;

/**
 * Reads a Content-Range of Google Cloud Storage's resumable protocol: absent for the whole file, `bytes a-b/N`,
 * `bytes a-b/*`, an open end as the official client sends it, or a probe. Chunks may have any size; the real
 * storage requires multiples of 256 KiB.
 * @throws ApiError INVALID_INPUT for a range that does not fit the announced file
 */
function readRange(headers: Readonly<Record<string, string | undefined>>, file_size: number): UploadRange {
  const text = headers["content-range"];
  const length = headers["content-length"] === undefined ? undefined : Number(headers["content-length"]);
  let [start, end] = [0, file_size];
  if (text !== undefined) {
    const match = RANGE.exec(text);
    if (match === null) {
      const problem = isJoinedHeader(text) ? "was sent twice" : "is not a range of the resumable protocol";
      throw createRangeError(text, problem);
    }
    const [, first, last, total] = match;
    if (total !== "*" && Number(total) !== file_size)
      throw createRangeError(text, `names a total of ${total} bytes; ${file_size} were announced`);
    if (first === undefined) return { kind: "probe" };
    start = Number(first);
    end = last === "*" ? file_size : Number(last) + 1;
    if (last !== "*" && end <= start) throw createRangeError(text, "ends before it begins");
    if (last !== "*" && length !== undefined && length !== end - start)
      throw createRangeError(text, `covers ${end - start} bytes, but the body has ${length}`);
  }
  if (end > file_size || start + (length ?? 0) > file_size) throw createExcessError(text, file_size);
  return { kind: "bytes", start, end };
}

/** The error for more bytes than announced. */
function createExcessError(text: string | undefined, file_size: number): Error {
  return text === undefined
    ? invalidInput("file_size", file_size, `the body is longer than the ${file_size} bytes announced`)
    : createRangeError(text, `goes beyond the ${file_size} bytes announced`);
}

function createRangeError(text: string, problem: string): Error {
  return invalidInput("Content-Range", text, `Content-Range ${problem}`);
}
