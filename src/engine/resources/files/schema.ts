import { type Static, Type } from "typebox";
import { publicView } from "../../contract/public-view.ts";
import { belongsTo, mentions } from "../../contract/references.ts";
import {
  Id,
  Instant,
  MIME_TYPE,
  Nullable,
  NullableInstant,
  StringEnum,
  UserId,
} from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

/** The bucket that gcs_path and upload URLs name. */
export const BUCKET = "uploads";

const MAX_NAME_IN_PATH = 100;

/** `gs://uploads/org_acme/<random>/<name>`; the name is only for readers. */
export function toStoragePath(organization_id: string, uniquePart: string, filename: string): string {
  const name = filename.replaceAll(/[^A-Za-z0-9._-]+/g, "_").slice(-MAX_NAME_IN_PATH);
  return `gs://${BUCKET}/${organization_id}/${uniquePart}/${name}`;
}

/** The largest object that Google Cloud Storage accepts, 5 TiB. */
const MAX_FILE_BYTES = 5 * 1024 ** 4;

export const MAX_FILENAME_LENGTH = 1024;
export const MAX_TYPE_LENGTH = 255;

export const FileName = () =>
  Type.String({ minLength: 1, maxLength: MAX_FILENAME_LENGTH, examples: ["handbook.pdf"] });
export const MimeType = () =>
  Type.String({
    maxLength: MAX_TYPE_LENGTH,
    pattern: MIME_TYPE,
    examples: ["application/pdf"],
  });
export const FileSize = () => Type.Integer({ minimum: 0, maximum: MAX_FILE_BYTES, examples: [482133] });

/** The file object of section 2.14 and G13. */
export const FileObject = Type.Object({
  id: Id("file_"),
  object: StringEnum(["file"]),
  filename: FileName(),
  mime_type: MimeType(),
  file_size: FileSize(),
  organization_id: Id("org_", belongsTo("organizations")),
  status: StringEnum(["uploaded"]),
  gcs_path: Type.String({ minLength: 1 }),
  created_at: Instant(),
  created_by: UserId(mentions("users")),
});
export type FileObject = Static<typeof FileObject>;

export const { schema: FileBody, render: renderFile } = publicView(FileObject, { $id: "UploadedFile" });

export const files = collection({
  name: "files",
  schema: FileObject,
});

/** A resumable upload: its announced fields and its state. The ByteStore has the bytes under the upload's id. */
export const Upload = Type.Object({
  id: Id("upload_"),
  /** The token in the URL, which replaces credentials (G13). */
  token: Type.String(),
  organization_id: Id("org_", belongsTo("organizations")),
  filename: FileName(),
  mime_type: MimeType(),
  file_size: FileSize(),
  gcs_path: Type.String(),
  status: StringEnum(["open", "complete", "cancelled", "expired"]),
  created_at: Instant(),
  expires_at: Instant(),
  completed_at: NullableInstant(),
  crc32c: Nullable(Type.String()),
  /** The file object, once the upload is registered. */
  file_id: Nullable(Id("file_", belongsTo("files"))),
});
export type Upload = Static<typeof Upload>;

export const uploads = collection({
  name: "_uploads",
  schema: Upload,
  internal: true,
  countsTowardLimit: true,
  timer: "expiry",
  indexes: {
    by_file: { groups: "file_id", order: ({ id }) => id },
    by_token: { groups: ({ token }) => [token], order: ({ id }) => id },
    by_path: { groups: ({ gcs_path }) => [gcs_path], order: ({ id }) => id },
  },
});

/** The steps of processing a file (section 2.9). */
export const STEPS = ["parsing", "chunking", "embedding"] as const;
export type Step = (typeof STEPS)[number];

/** Why processing a file will fail, and at which step (G34). */
const ProcessingFailure = Type.Object({ step: StringEnum(STEPS), message: Type.String() });
export type ProcessingFailure = Static<typeof ProcessingFailure>;

/** The description of a picture (G35). */
const Picture = Type.Object({
  format: Type.String(),
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  /** The most common first. */
  colours: Type.Array(Type.String()),
});
export type Picture = Static<typeof Picture>;

/** The content of an uploaded file: passages to quote (G20), a picture, or the reason why processing fails. */
const FileText = Type.Object({
  file_id: Id("file_", belongsTo("files")),
  passages: Type.Array(Type.String()),
  failure: Type.Optional(ProcessingFailure),
  picture: Type.Optional(Picture),
});
export type FileText = Static<typeof FileText>;
export type Findings = Omit<FileText, "file_id">;

export const fileTexts = collection({
  name: "_file_texts",
  idField: "file_id",
  schema: FileText,
  internal: true,
});
