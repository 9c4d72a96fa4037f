import { invalidInput } from "../../contract/errors.ts";
import { emit } from "../../contract/event.ts";
import { referred } from "../../contract/references.ts";
import type { StateActor, StateRules } from "../../contract/resource.ts";
import type { Timer } from "../../state/timers.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { changedFields, recordStateAudit } from "../audit-logs/record.ts";
import { effectiveType } from "../files/fixtures.ts";
import { type FileObject, files, fileTexts, type ProcessingFailure } from "../files/schema.ts";
import { fileProcessed } from "./events.ts";
import {
  currentStoreFile,
  isReadable,
  nextStepEnd,
  processingEnd,
  processingMs,
  progressAt,
  stepEnd,
  UNSUPPORTED,
} from "./progress.ts";
import { type StoreFile, storeFileId, storeFiles, type VectorStore, vectorStores } from "./schema.ts";

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

/** The audit log names stores `vector_store` (G31). */
export const vectorStoreState: StateRules<VectorStore> = {
  insert(tx, record, actor) {
    tx.insert(vectorStores, record);
    audit(tx, record, { actor, action: "created" });
    return record;
  },
  update(tx, before, after, actor) {
    const changes = changedFields(before, after);
    if (changes === undefined) return before;
    tx.put(vectorStores, after);
    audit(tx, after, { actor, action: "updated", ...changes });
    return after;
  },
  remove(tx, record, actor) {
    audit(tx, record, { actor, action: "deleted" });
  },
};

function audit(
  tx: Transaction,
  { id, name, organization_id }: VectorStore,
  what: { actor: StateActor; action: string; previous_value?: string; new_value?: string },
): void {
  const { actor, ...entry } = what;
  recordStateAudit(tx, actor, {
    organization_id,
    entity_type: "vector_store",
    entity_id: id,
    entity_name: name,
    ...entry,
  });
}

/** Progress, step and times of a file follow from its status (3.1, G11). */
export const storeFileState: StateRules<StoreFile> = {
  toPublic: (record, world) => currentStoreFile(record, world.now),
  insert(tx, record, actor) {
    const store = referred(tx, vectorStores, { field: "store_id", id: record.store_id });
    const file = referred(tx, files, { field: "file_id", id: record.file_id });
    if (store.organization_id !== file.organization_id) {
      throw invalidInput(
        "file_id",
        file.id,
        `file_id must be a file of ${store.organization_id}, as the store is`,
      );
    }
    return writeFile(tx, record, actor);
  },
  update(tx, before, given, actor) {
    for (const field of ["store_id", "file_id"] as const) {
      if (given[field] !== before[field]) throw invalidInput(field, given[field], `${field} cannot change`);
    }
    return writeFile(tx, applyUpdate(tx, before, given, actor), actor, before.status);
  },
};

/** Applies a PATCH: a new status sets the fields that follow from it. */
function applyUpdate(tx: Transaction, before: StoreFile, given: StoreFile, actor: StateActor): StoreFile {
  if (given.status === "processing") {
    const begins = before.status !== "processing";
    const started_at = begins && given.started_at === before.started_at ? tx.now : given.started_at;
    // New processing has the duration of the current setting, running processing keeps its own (G11).
    const processing_ms = begins ? processingMs(actor.settings) : before.processing_ms;
    const file = { ...given, started_at, processing_ms, completed_at: null, error_message: null };
    return given.progress_percent === before.progress_percent
      ? file
      : { ...file, started_at: startForProgress(given.progress_percent, file, tx.now) };
  }
  if (before.status !== "processing") return { ...given, current_step: null };
  const completed_at = given.completed_at ?? tx.now;
  return given.status === "failed"
    ? {
        ...toFailed(given, completed_at, given.error_message ?? UNSUPPORTED),
        ...(given.progress_percent === before.progress_percent
          ? {}
          : { progress_percent: given.progress_percent }),
      }
    : { ...given, completed_at };
}

/** The start that gives the progress at `now`. */
function startForProgress(percent: number, { processing_ms }: StoreFile, now: number): number {
  return now - Math.ceil((Math.min(percent, 99) * processing_ms) / 100);
}

/** Stores the record and its timer, and emits the event of a file that is now complete. */
function writeFile(
  tx: Transaction,
  file: StoreFile,
  actor: StateActor,
  before?: StoreFile["status"],
): StoreFile {
  const settled =
    file.status === "completed" && before !== "completed"
      ? completeFile(tx, file, { at: file.completed_at ?? tx.now, silent: actor.silent })
      : tx.put(storeFiles, file);
  scheduleStep(tx, settled, tx.now);
  return settled;
}
