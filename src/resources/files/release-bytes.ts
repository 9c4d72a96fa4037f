import type { Root } from "../../state/root.ts";
import { type Upload, uploads } from "./schema.ts";

/**
 * Uploads whose bytes nobody needs any more after a commit: cancelled, expired, or registered (a file
 * object keeps its text, and no endpoint hands out its bytes).
 */
export function uploadsToRelease(commit: { before: Root; after: Root }): string[] {
  const before = commit.before.tables.get(uploads.name);
  const after = commit.after.tables.get(uploads.name);
  if (before === undefined || after === undefined || before === after) return [];
  return [...before.changesTo(after)]
    .filter(({ after: upload }) => !needsBytes(upload as Upload | undefined))
    .map(({ id }) => id);
}

function needsBytes(upload: Upload | undefined): boolean {
  return upload?.status === "open" || (upload?.status === "complete" && upload.file_id === null);
}
