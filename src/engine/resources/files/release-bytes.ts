import type { Transaction } from "../../state/transaction.ts";
import type { Commit } from "../../state/world-parts.ts";
import { writtenTo } from "../../state/written.ts";
import { type Upload, uploads } from "./schema.ts";

/**
 * Uploads whose bytes nobody needs any more after a commit: cancelled, expired, or registered (a file
 * object keeps its text, and no endpoint hands out its bytes).
 */
export function uploadsToRelease({ written }: Pick<Commit, "written">): string[] {
  return writtenTo(uploads, written).flatMap(({ id, after }) => (needsBytes(after) ? [] : [id]));
}

/**
 * Of uploads whose bytes are gone: those that still need them start again, and are returned (interfaces 10).
 */
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
