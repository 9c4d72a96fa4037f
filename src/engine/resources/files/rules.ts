import { invalidInput } from "../../contract/errors.ts";
import { emit } from "../../contract/event.ts";
import type { ReceivedFile } from "../../contract/operation.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { fileUploaded } from "./events.ts";
import {
  type FileObject,
  type Findings,
  files,
  fileTexts,
  MAX_FILENAME_LENGTH,
  MAX_TYPE_LENGTH,
  MIME_TYPE,
  type Upload,
  uploads,
} from "./schema.ts";

export interface NewFile {
  filename: string;
  mime_type: string;
  file_size: number;
  organization_id: string;
  gcs_path: string;
  created_by: string;
  findings: Findings;
}

/** A file object comes to be, with its text and its event (G13). */
export function insertFile(
  tx: Transaction,
  { findings, gcs_path, created_by, ...made }: NewFile,
): FileObject {
  const file = tx.insert(files, {
    id: tx.newId("file_"),
    object: "file",
    ...made,
    status: "uploaded",
    gcs_path,
    created_at: tx.now,
    created_by,
  });
  tx.insert(fileTexts, { file_id: file.id, ...findings });
  emit(tx, fileUploaded, file);
  return file;
}

/** All bytes have arrived. Where it is over by now, it stays so. */
export function completeUpload(tx: Transaction, id: string, crc32c: string | null): Upload {
  const upload = tx.get(uploads, id)!;
  if (upload.status !== "open") return upload;
  tx.unschedule("expiry", id);
  return tx.update(uploads, id, { status: "complete", completed_at: tx.now, crc32c });
}

/** Section 4.6, what registering announces again. */
export interface Registration {
  filename: string;
  gcs_path: string;
  file_size: number;
  mime_type: string;
}

/**
 * The completed upload that a registration is about (G13).
 * @throws ApiError INVALID_INPUT naming the first field that does not fit
 */
export function requireCompleted(
  world: WorldReader,
  organization_id: string,
  registration: Registration,
): Upload {
  const { gcs_path } = registration;
  const [upload] = world.index(uploads, "by_path", gcs_path).page(0, 1);
  if (upload === undefined || upload.organization_id !== organization_id) {
    throw invalidInput("gcs_path", gcs_path, "gcs_path names no upload of this organization");
  }
  if (upload.status !== "complete") throw invalidInput("gcs_path", gcs_path, INCOMPLETE[upload.status]);
  for (const field of ["filename", "file_size", "mime_type"] as const) {
    if (registration[field] !== upload[field]) {
      throw invalidInput(
        field,
        registration[field],
        `${field} must be ${JSON.stringify(upload[field])}, as announced for this upload`,
      );
    }
  }
  return upload;
}

/**
 * A form's file is described by its part's header; what an upload URL would refuse is refused here too.
 * @throws ApiError INVALID_INPUT
 */
export function requireDescribed({ filename, mime_type }: ReceivedFile): void {
  if (filename.length > MAX_FILENAME_LENGTH)
    throw invalidInput("file", filename, `its name is longer than ${MAX_FILENAME_LENGTH} characters`);
  if (mime_type.length > MAX_TYPE_LENGTH || !new RegExp(MIME_TYPE).test(mime_type))
    throw invalidInput("file", mime_type, "its Content-Type is no MIME type");
}

const INCOMPLETE: Record<Exclude<Upload["status"], "complete">, string> = {
  open: "the upload at gcs_path is not complete; send the missing bytes first",
  cancelled: "the upload at gcs_path was cancelled",
  expired: "the upload at gcs_path expired before it was complete",
};

/** The handler of `expiry` timers; those of other things are none of its business. */
export function expireUpload(tx: Transaction, { subject }: { subject: string }): void {
  if (tx.get(uploads, subject)?.status === "open") tx.update(uploads, subject, { status: "expired" });
}
