import { invalidInput } from "../../contract/errors.ts";
import { aboutRecords, emit, event } from "../../contract/event.ts";
import { toMediaType } from "../../contract/media-types.ts";
import type { ReceivedFile } from "../../contract/operation.ts";
import { requireSameOrganization } from "../../contract/references.ts";
import type { StateRules } from "../../contract/resource.ts";
import { MIME_TYPE } from "../../contract/schema.ts";
import type { ByteStore } from "../../contract/services.ts";
import { listWrites, type Transaction, type WorldReader } from "../../state/transaction.ts";
import type { Commit } from "../../state/world-parts.ts";
import { storeFiles } from "../vector-stores/schema.ts";
import { makeFile } from "./fixtures.ts";
import {
  type FileObject,
  type Findings,
  files,
  fileTexts,
  MAX_FILENAME_LENGTH,
  MAX_TYPE_LENGTH,
  type Upload,
  uploads,
} from "./schema.ts";

/** The common parts of events about files. */
export const fileEvent = {
  section: "6.1",
  assumptions: ["G25"],
  about: aboutRecords(files, { id: "file_id", invent: makeFile }),
} as const;

const fileUploaded = event({
  ...fileEvent,
  name: "file.uploaded",
  summary: "A file was uploaded",
  isAboutCreation: true,
});

const fileDeleted = event({ ...fileEvent, name: "file.deleted", summary: "A file was deleted" });

export const FILE_EVENTS = [fileUploaded, fileDeleted] as const;

type NewFile = Omit<FileObject, "id" | "object" | "status" | "created_at"> & { findings: Findings };

/** Creates a file object with its text and its event (G13). */
export function insertFile(
  tx: Transaction,
  { findings, gcs_path, created_by, ...fields }: NewFile,
): FileObject {
  const file = tx.insert(files, {
    id: tx.createId("file_"),
    object: "file",
    ...fields,
    status: "uploaded",
    gcs_path,
    created_at: tx.now,
    created_by,
  });
  tx.insert(fileTexts, { file_id: file.id, ...findings });
  emit(tx, fileUploaded, file);
  return file;
}

/** Marks an open upload as complete; one that has ended stays as it is. */
export function completeUpload(tx: Transaction, id: string, crc32c: string | null): Upload {
  const upload = tx.get(uploads, id)!;
  if (upload.status !== "open") return upload;
  tx.unschedule("expiry", id);
  return tx.update(uploads, id, { status: "complete", completed_at: tx.now, crc32c });
}

/** The fields of a registration, which must equal those of the upload (section 4.6), except for parameters of the type. */
type Registration = Pick<Upload, "filename" | "gcs_path" | "file_size" | "mime_type">;

/**
 * Finds the completed upload of a registration (G13).
 * @throws ApiError INVALID_INPUT naming the first field that does not fit
 */
export function requireCompletedUpload(
  world: WorldReader,
  organization_id: string,
  registration: Registration,
): Upload {
  const { gcs_path } = registration;
  const upload = world.index(uploads, "by_path", gcs_path).first();
  // An edited document or snapshot may lack the file object.
  const isFileMissing = upload && upload.file_id !== null && world.get(files, upload.file_id) === undefined;
  if (upload === undefined || upload.organization_id !== organization_id || isFileMissing)
    throw invalidInput("gcs_path", gcs_path, "gcs_path names no upload of this organization");
  if (upload.status !== "complete") throw createIncompleteError(gcs_path, upload.status);
  for (const field of ["filename", "file_size", "mime_type"] as const) {
    const isSame =
      field === "mime_type"
        ? toMediaType(registration.mime_type) === toMediaType(upload.mime_type)
        : registration[field] === upload[field];
    if (!isSame)
      throw invalidInput(
        field,
        registration[field],
        `${field} must be ${JSON.stringify(upload[field])}, as announced for this upload`,
      );
  }
  return upload;
}

/**
 * Checks name and type of a file in a form, with the limits of `files.create_upload_url`.
 * @throws ApiError INVALID_INPUT
 */
export function requireValidNameAndType({ filename, mime_type }: ReceivedFile): void {
  if ([...filename].length > MAX_FILENAME_LENGTH)
    throw invalidInput("file", filename, `the file's name is longer than ${MAX_FILENAME_LENGTH} characters`);
  if (mime_type.length > MAX_TYPE_LENGTH || !new RegExp(MIME_TYPE).test(mime_type))
    throw invalidInput("file", mime_type, "the file's Content-Type is not a MIME type");
}

/** Whether a complete upload's bytes are stored, unless they are not needed any more; damage or a restore may lose them. */
export function hasNeededBytes({ id, file_id, file_size }: Upload, bytes: Pick<ByteStore, "size">): boolean {
  return file_id !== null || bytes.size(id) === file_size;
}

export function createIncompleteError(
  gcs_path: string,
  status: Exclude<Upload["status"], "complete">,
): Error {
  return invalidInput("gcs_path", gcs_path, INCOMPLETE_MESSAGES[status]);
}

const INCOMPLETE_MESSAGES: Record<Exclude<Upload["status"], "complete">, string> = {
  open: "the upload at gcs_path is not complete; send the missing bytes first",
  cancelled: "the upload at gcs_path was cancelled",
  expired: "the upload at gcs_path expired before it was complete",
};

/** Handles `expiry` timers. Those of other resources are ignored, since their subject is not an upload. */
export function expireUpload(tx: Transaction, { subject, due }: { subject: string; due: number }): void {
  if (tx.get(uploads, subject)?.status === "open")
    tx.update(uploads, subject, { status: "expired", expires_at: due });
}

/**
 * Lists the uploads whose bytes a commit made useless: deleted, cancelled, expired, or registered (a file object has
 * its text, and no endpoint returns its bytes).
 */
export function listUploadsToRelease({ writes }: Pick<Commit, "writes">): string[] {
  return listWrites(uploads, writes).flatMap(({ id, after }) => (needsBytes(after) ? [] : [id]));
}

/** Restarts the uploads that still need their lost bytes, and returns their ids (interfaces.md 10). */
export function restartUploads(tx: Transaction, ids: readonly string[]): string[] {
  return ids.filter((id) => {
    const upload = tx.get(uploads, id);
    if (upload === undefined || !needsBytes(upload)) return false;
    if (upload.status === "complete") {
      tx.put(uploads, { ...upload, status: "open", completed_at: null, crc32c: null });
      tx.schedule({ kind: "expiry", subject: id, due: upload.expires_at });
    }
    return true;
  });
}

function needsBytes(upload: Upload | undefined): boolean {
  return upload?.status === "open" || (upload?.status === "complete" && upload.file_id === null);
}

export const fileStateRules: StateRules<FileObject> = {
  insert(tx, record, actor) {
    tx.insert(files, record);
    if (!actor.silent) emit(tx, fileUploaded, record);
    return record;
  },
  update(tx, before, after) {
    requireSameOrganization(before, after, {
      name: "vector stores",
      records: tx.index(storeFiles, "by_file", before.id),
    });
    return tx.put(files, after);
  },
  beforeRemove(tx, record, actor) {
    if (!actor.silent) emit(tx, fileDeleted, record);
  },
};
