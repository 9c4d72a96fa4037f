import { Type } from "typebox";
import { operation } from "../../contract/operation.ts";
import { Reply } from "../../contract/reply.ts";
import type { Resource } from "../../contract/resource.ts";
import { Id, StringEnum, Timestamp } from "../../contract/schema.ts";
import { MEMBER_ERRORS, requireMember } from "../organizations/access.ts";
import { examineFile, examineUpload } from "./examine-file.ts";
import { filesFixture, makeFile } from "./fixtures.ts";
import {
  createIncompleteError,
  expireUpload,
  fileStateRules,
  hasNeededBytes,
  insertFile,
  requireCompletedUpload,
  requireValidNameAndType,
} from "./rules.ts";
import {
  BUCKET,
  FileBody,
  FileName,
  FileSize,
  files,
  fileTexts,
  MimeType,
  renderFile,
  toStoragePath,
  uploads,
} from "./schema.ts";
import { cancelUpload, DIGEST_HEADERS, putUpload, requireDigests } from "./uploads.ts";

const params = Type.Object({ organization_id: Id("org_") });
const ANNOUNCED_FIELDS = { filename: FileName(), file_size: FileSize(), mime_type: MimeType() };

/** Files of at least 100 x 2^20 bytes are uploaded resumably (section 8). */
const MIN_RESUMABLE_BYTES = 100 * 1024 * 1024;

/** The reference shows only the id of a file object. */
const FILE_ASSUMED = Object.fromEntries(
  Object.keys(FileBody.properties)
    .filter((name) => name !== "id")
    .map((name) => [`/${name}`, "G13"]),
);

const createUploadUrl = operation({
  id: "files.create_upload_url",
  section: "4.6",
  assumptions: ["G13"],
  assumed: {
    status: "G13",
    envelope: "G13",
    fields: { "/expires_at": "G13", "/method": "G13" },
    values: { "/upload_url": "G13" },
  },
  route: "POST /v1/organizations/{organization_id}/files/upload-url",
  summary: "Begin a resumable upload",
  description:
    "The answer has a URL of this server to send the bytes to, by Google Cloud Storage's resumable protocol. It also has the `gcs_path` with which you then register the file.",
  params,
  body: { kind: "json", schema: Type.Object(ANNOUNCED_FIELDS) },
  errors: MEMBER_ERRORS,
  success: {
    status: 200,
    schema: Type.Object({
      upload_url: Type.String({ format: "uri" }),
      gcs_path: Type.String(),
      expires_at: Timestamp(),
      method: StringEnum(["PUT"]),
    }),
  },
  access: (call) => requireMember(call, call.params.organization_id),
  handle({ params: { organization_id }, body, world, settings, request }) {
    const token = world.createSecret("upload");
    const isComplete = body.file_size === 0;
    const upload = world.insert(uploads, {
      id: world.createId("upload_"),
      token,
      organization_id,
      filename: body.filename,
      mime_type: body.mime_type,
      file_size: body.file_size,
      gcs_path: toStoragePath(organization_id, world.random("gcs_path").characters(20), body.filename),
      // An empty file has all its bytes from the start.
      status: isComplete ? "complete" : "open",
      created_at: world.now,
      expires_at: world.limitToClock(world.now + settings.upload_url_lifetime_seconds * 1000),
      completed_at: isComplete ? world.now : null,
      crc32c: null,
      file_id: null,
    });
    if (!isComplete) world.schedule({ kind: "expiry", subject: upload.id, due: upload.expires_at });
    return {
      upload_url: `${request.base_url}/upload/storage/v1/b/${BUCKET}/o?uploadType=resumable&upload_id=${token}`,
      gcs_path: upload.gcs_path,
      expires_at: world.toIso(upload.expires_at),
      method: "PUT",
    };
  },
});

const registerFile = operation({
  id: "files.register",
  section: "4.6",
  assumptions: ["G13", "G25"],
  assumed: { status: "G13", envelope: "G13", fields: FILE_ASSUMED },
  route: "POST /v1/organizations/{organization_id}/files",
  summary: "Register a completed upload",
  description: "The first call creates the file object. Later calls return it.",
  params,
  body: {
    kind: "json",
    schema: Type.Object({ ...ANNOUNCED_FIELDS, gcs_path: Type.String({ minLength: 1 }) }),
  },
  errors: MEMBER_ERRORS,
  success: [
    { status: 201, schema: FileBody },
    { status: 200, schema: FileBody, description: "The upload is registered already" },
  ],
  access: (call) => requireMember(call, call.params.organization_id),
  async prepare({ params, body, world }, _organization, io) {
    const upload = requireCompletedUpload(world, params.organization_id, body);
    if (!hasNeededBytes(upload, io.services.bytes)) throw createIncompleteError(upload.gcs_path, "open");
    return upload.file_id === null ? examineUpload(upload, io) : { passages: [] };
  },
  handle({ params: { organization_id }, body, world, principal }, _organization, findings) {
    const upload = requireCompletedUpload(world, organization_id, body);
    if (upload.file_id !== null) return new Reply(200, renderFile(world.get(files, upload.file_id)!, world));
    const { filename, mime_type, file_size, gcs_path } = upload;
    const fields = { filename, mime_type, file_size, gcs_path, organization_id, findings };
    const file = insertFile(world, { ...fields, created_by: principal.user_id });
    world.update(uploads, upload.id, { file_id: file.id });
    return new Reply(201, renderFile(file, world));
  },
});

const uploadFile = operation({
  id: "files.upload",
  section: "4.6",
  assumptions: ["G13", "G25", "G43"],
  assumed: { endpoint: "G13" },
  route: "POST /v1/organizations/{organization_id}/files/upload",
  summary: "Upload a file in one request",
  description: "A file of 100 MiB or more needs the resumable upload.",
  params,
  body: {
    kind: "multipart",
    fields: Type.Object({}),
    files: { file: { required: true, limit: () => MIN_RESUMABLE_BYTES - 1 } },
  },
  headers: DIGEST_HEADERS,
  errors: [...MEMBER_ERRORS, "INVALID_DIGEST"],
  success: { status: 201, schema: FileBody },
  access: (call) => requireMember(call, call.params.organization_id),
  async prepare(call, _organization, io) {
    const file = call.files["file"]!;
    requireValidNameAndType(file);
    await requireDigests(call, (algorithm) => file.digest(algorithm));
    return examineFile(file, io);
  },
  handle({ params: { organization_id }, files: { file }, world, principal }, _organization, findings) {
    const { filename, mime_type, size } = file!;
    const record = insertFile(world, {
      filename,
      mime_type,
      file_size: size,
      organization_id,
      gcs_path: toStoragePath(organization_id, world.random("gcs_path").characters(20), filename),
      created_by: principal.user_id,
      findings,
    });
    return renderFile(record, world);
  },
});

export const filesResource = {
  name: "files",
  collections: [files, uploads, fileTexts],
  operations: [createUploadUrl, registerFile, uploadFile, putUpload, cancelUpload],
  factories: { files: makeFile },
  fixture: filesFixture,
  state: { files: fileStateRules },
  timers: { expiry: expireUpload },
} satisfies Resource;
