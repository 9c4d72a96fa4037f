import { emit } from "../../contract/event.ts";
import type { Timer } from "../../state/timers.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { effectiveType } from "../files/fixtures.ts";
import { type FileObject, files, fileTexts, type ProcessingFailure } from "../files/schema.ts";
import { fileProcessed } from "./events.ts";
import { isReadable, nextStepEnd, processingEnd, progressAt, stepEnd, UNSUPPORTED } from "./progress.ts";
import { type StoreFile, storeFileId, storeFiles } from "./schema.ts";

/** A file whose processing begins now. */
export function newStoreFile(
  tx: Transaction,
  place: { store_id: string; file_id: string },
  processing_ms: number,
): StoreFile {
  return {
    id: storeFileId(place.store_id, place.file_id),
    ...place,
    status: "processing",
    progress_percent: 0,
    current_step: "parsing",
    error_message: null,
    started_at: tx.now,
    completed_at: null,
    processing_ms,
  };
}

/** Sets or removes the timer of a file according to its status. */
export function scheduleStep(tx: Transaction, file: StoreFile, now: number): void {
  if (file.status === "processing") {
    tx.schedule({ kind: "file.step", subject: file.file_id, key: file.id, due: nextStepEnd(file, now) });
  } else tx.unschedule("file.step", file.id);
}

/** Handles `file.step` timers: ends a step, and with the last one the processing. */
export function advanceFile(tx: Transaction, { key, due }: Timer): void {
  const file = key === undefined ? undefined : tx.get(storeFiles, key);
  if (file?.status !== "processing") return;
  const known = tx.get(files, file.file_id);
  const failure = known && findFailure(tx, known);
  if (failure && due >= stepEnd(file, failure.step)) {
    tx.put(storeFiles, toFailed(file, due, failure.message));
  } else if (due >= processingEnd(file)) {
    completeFile(tx, file, { at: due, silent: false });
  } else scheduleStep(tx, file, due);
}

/** Finds the failure of a file by its content, or by its type if it has no bytes (G34). */
function findFailure(world: WorldReader, file: FileObject): ProcessingFailure | undefined {
  if (file.file_size === 0) return { step: "parsing", message: "the file is empty" };
  if (!isReadable(effectiveType(file))) return { step: "parsing", message: UNSUPPORTED };
  return world.get(fileTexts, file.id)?.failure;
}

/** Completes the processing (3.1) and emits the event (G11). */
export function completeFile(
  tx: Transaction,
  file: StoreFile,
  { at, silent }: { at: number; silent: boolean },
): StoreFile {
  const completed = tx.put<StoreFile>(storeFiles, {
    ...file,
    status: "completed",
    progress_percent: 100,
    current_step: null,
    error_message: null,
    completed_at: at,
  });
  const known = tx.get(files, file.file_id);
  if (known && !silent) emit(tx, fileProcessed, { ...known, store_id: file.store_id });
  return completed;
}

/** A failed file keeps its progress (G11). */
export function toFailed(file: StoreFile, at: number, error_message: string): StoreFile {
  const { progress_percent } = progressAt(file, at);
  return {
    ...file,
    status: "failed",
    progress_percent,
    current_step: null,
    error_message,
    completed_at: at,
  };
}
