import Type, { type Static } from "typebox";
import { publicView } from "../../contract/public-view.ts";
import { belongsTo, mentions } from "../../contract/references.ts";
import { Id, Instant, Nullable, NullableInstant, UserId, Words } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

/** The bucket that gcs_path and upload URLs name. */
export const BUCKET = "uploads";

/** The largest object that Google Cloud Storage takes, 5 TiB. */
const MAX_FILE_BYTES = 5 * 1024 ** 4;

export const MAX_FILENAME_LENGTH = 1024;
export const MAX_TYPE_LENGTH = 255;
export const MIME_TYPE = "^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+\\s*(;.*)?$";

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
  object: Words(["file"]),
  filename: FileName(),
  mime_type: MimeType(),
  file_size: FileSize(),
  organization_id: Id("org_", belongsTo("organizations")),
  status: Words(["uploaded"]),
  gcs_path: Type.String({ minLength: 1 }),
  created_at: Instant(),
  created_by: UserId(mentions("users")),
});
export type FileObject = Static<typeof FileObject>;

export const { schema: FileBody, present: presentFile } = publicView(FileObject, { $id: "File" });

export const files = collection({
  name: "files",
  prefix: "file_",
  idField: "id",
  schema: FileObject,
});

const UPLOAD_STATUSES = ["open", "complete", "cancelled", "expired"] as const;

/** A resumable upload: what was announced, and how far it came. Its bytes are in the ByteStore under its id. */
export const Upload = Type.Object({
  id: Id("upload_"),
  /** Stands in the URL in place of credentials (G13). */
  token: Type.String(),
  organization_id: Id("org_", belongsTo("organizations")),
  filename: FileName(),
  mime_type: MimeType(),
  file_size: FileSize(),
  gcs_path: Type.String(),
  status: Words(UPLOAD_STATUSES),
  created_at: Instant(),
  expires_at: Instant(),
  completed_at: NullableInstant(),
  crc32c: Nullable(Type.String()),
  /** Once registered; from then on the upload is the file's. */
  file_id: Nullable(Id("file_", belongsTo("files"))),
});
export type Upload = Static<typeof Upload>;

export const uploads = collection({
  name: "_uploads",
  prefix: "upload_",
  idField: "id",
  schema: Upload,
  internal: true,
  counted: true,
  timer: "expiry",
  indexes: {
    by_file: { groups: "file_id", order: ({ id }) => id },
    by_token: { groups: ({ token }) => [token], order: ({ id }) => id },
    by_path: { groups: ({ gcs_path }) => [gcs_path], order: ({ id }) => id },
  },
});

/** Why processing an uploaded file will fail, and at which step that is found out (G34). */
export interface Trouble {
  step: "parsing" | "chunking" | "embedding";
  message: string;
}

/** What can be seen of a picture (G35). */
export interface Picture {
  format: string;
  width: number;
  height: number;
  /** The commonest first. */
  colours: readonly string[];
}

/** What an uploaded file was found to hold: passages that an answer can quote (G20), or a picture. */
export interface Findings {
  passages: readonly string[];
  trouble?: Trouble | undefined;
  picture?: Picture | undefined;
}

export interface FileText extends Findings {
  file_id: string;
}

export const fileTexts = collection<FileText>({
  name: "_file_texts",
  prefix: "file_",
  idField: "file_id",
  schema: Type.Object({
    file_id: Id("file_", belongsTo("files")),
    passages: Type.Array(Type.String()),
    trouble: Type.Optional(
      Type.Object({ step: Words(["parsing", "chunking", "embedding"]), message: Type.String() }),
    ),
    picture: Type.Optional(
      Type.Object({
        format: Type.String(),
        width: Type.Integer(),
        height: Type.Integer(),
        colours: Type.Array(Type.String()),
      }),
    ),
  }),
  internal: true,
});
