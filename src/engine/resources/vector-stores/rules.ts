import { toMilliseconds } from "../../contract/duration.ts";
import { invalidInput } from "../../contract/errors.ts";
import { emit, event } from "../../contract/event.ts";
import {
  findAnyInOrganization,
  requireReferencedRecord,
  requireSameOrganization,
} from "../../contract/references.ts";
import type { StateActor, StateRules } from "../../contract/resource.ts";
import { Id, Nullable } from "../../contract/schema.ts";
import type { Timer } from "../../state/timers.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { makeChange } from "../audit-logs/log-changes.ts";
import { recordStateAudit, toAuditValues } from "../audit-logs/rules.ts";
import { isProcessable } from "../files/examine-file.ts";
import { makeFile } from "../files/fixtures.ts";
import { fileEvent } from "../files/rules.ts";
import {
  type FileObject,
  files,
  fileTexts,
  type ProcessingFailure,
  STEPS,
  type Step,
} from "../files/schema.ts";
import { renderProcessing, type StoreFile, storeFiles, type VectorStore, vectorStores } from "./schema.ts";

/** The progress in percent at which each step ends (G11). */
const STEP_ENDS: Readonly<Record<Step, number>> = { parsing: 15, chunking: 40, embedding: 100 };

type Processing = Pick<StoreFile, "started_at" | "processing_ms">;

/** The progress of a file that is being processed: linear in the sandbox's time and below 100 (section 3.1). */
export function calculateProgress({ started_at, processing_ms }: Processing, now: number) {
  const elapsed = Math.max(0, now - started_at);
  const elapsedPercent = processing_ms > 0 ? Math.floor((elapsed * 100) / processing_ms) : 99;
  const progress_percent = Math.min(99, elapsedPercent);
  const current_step = STEPS.find((step) => progress_percent < STEP_ENDS[step])!;
  return { progress_percent, current_step };
}

/** The end of the step at `now`, or the end of the last step. */
export function findNextStepEnd(processing: Processing, now: number): number {
  const ends = STEPS.map((step) => getStepEnd(processing, step));
  return ends.find((end) => end > now) ?? ends.at(-1)!;
}

/** The end of a step, at which a failure of that step shows (G34). */
export function getStepEnd({ started_at, processing_ms }: Processing, step: Step): number {
  return started_at + Math.ceil((processing_ms * STEP_ENDS[step]) / 100);
}

export const UNSUPPORTED_TYPE = "unsupported file type";

/** Sets the progress of a file that is being processed to that at `now`. */
function setCurrentProgress(file: StoreFile, now: number): StoreFile {
  return file.status === "processing" ? { ...file, ...calculateProgress(file, now) } : file;
}

/** The answer of section 2.9. */
export function renderStatus(file: StoreFile, world: WorldReader) {
  return renderProcessing(setCurrentProgress(file, world.now), world);
}

/** A file record does not name its stores, so the emitter passes the store for which the file was processed. */
export const fileProcessed = event({
  ...fileEvent,
  name: "file.processed",
  assumptions: ["G11", "G25"],
  summary: "A file in a store was processed",
  about: {
    ...fileEvent.about,
    find(world, id) {
      const file = world.get(files, id);
      const entry = world.index(storeFiles, "by_file", id).first();
      return file && { ...file, store_id: entry?.store_id ?? null };
    },
    fields: { ...fileEvent.about.fields, store_id: Nullable(Id("vs_")) },
    invent(fields, context, organization_id) {
      const store = findAnyInOrganization(context.world, vectorStores, organization_id);
      const file = makeFile(fields, context);
      return { ...file, store_id: store?.id ?? context.createId("vs_") };
    },
  },
  fixedData: { status: "completed" },
});

export const VECTOR_STORE_EVENTS = [fileProcessed] as const;

/** Sets or removes the timer of a file according to its status. */
export function scheduleStep(tx: Transaction, file: StoreFile, now: number): void {
  if (file.status === "processing") {
    tx.schedule({ kind: "file.step", subject: file.file_id, key: file.id, due: findNextStepEnd(file, now) });
  } else tx.unschedule("file.step", file.id);
}

/** Handles `file.step` timers: ends a step, and with the last one or a failing one the processing. */
export function advanceFile(tx: Transaction, { key, due, planned = due }: Timer): void {
  const stored = key === undefined ? undefined : tx.get(storeFiles, key);
  if (stored?.status !== "processing") return;
  // If a call runs the timer early, the file counts as begun earlier by as much.
  const file = { ...stored, started_at: stored.started_at - (planned - due) };
  const uploaded = tx.get(files, file.file_id);
  const failure = uploaded && findFailure(tx, uploaded);
  if (failure && due >= getStepEnd(file, failure.step)) {
    tx.put(storeFiles, toFailed(file, due, failure.message));
  } else if (due >= getStepEnd(file, "embedding")) {
    completeFile(tx, file, { at: due, silent: false });
  } else {
    if (planned > due) tx.put(storeFiles, file);
    scheduleStep(tx, file, due);
  }
}

/** Finds the failure of a file by its content, or by its type if it has no bytes (G34). */
function findFailure(world: WorldReader, file: FileObject): ProcessingFailure | undefined {
  if (file.file_size === 0) return { step: "parsing", message: "the file is empty" };
  if (!isProcessable(file)) return { step: "parsing", message: UNSUPPORTED_TYPE };
  return world.get(fileTexts, file.id)?.failure;
}

/** Completes the processing (section 3.1) and emits the event (G11). */
function completeFile(
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
  const uploaded = tx.get(files, file.file_id);
  if (uploaded && !silent) emit(tx, fileProcessed, { ...uploaded, store_id: file.store_id });
  return completed;
}

/** A failed file keeps its progress (G11). */
function toFailed(file: StoreFile, at: number, error_message: string): StoreFile {
  const { progress_percent } = calculateProgress(file, at);
  const endFields = { current_step: null, error_message, completed_at: at };
  return { ...file, status: "failed", progress_percent, ...endFields };
}

/** The audit log names stores `vector_store` (G31). */
export const vectorStoreStateRules: StateRules<VectorStore> = {
  insert(tx, record, actor) {
    tx.insert(vectorStores, record);
    recordStateAudit(tx, actor, record.organization_id, makeChange("vector_store", "created", record));
    return record;
  },
  update(tx, before, after, actor) {
    const changes = toAuditValues(before, after);
    if (changes === undefined) return before;
    requireSameOrganization(before, after, {
      name: "files",
      records: tx.index(storeFiles, "by_store", before.id),
    });
    tx.put(vectorStores, after);
    recordStateAudit(tx, actor, after.organization_id, makeChange("vector_store", "updated", after, changes));
    return after;
  },
  beforeRemove(tx, record, actor) {
    recordStateAudit(tx, actor, record.organization_id, makeChange("vector_store", "deleted", record));
  },
};

/** Progress, step and times of a file follow from its status (section 3.1, G11). */
export const storeFileStateRules: StateRules<StoreFile> = {
  toPublic: (record, world) => setCurrentProgress(record, world.now),
  insert(tx, record, actor) {
    const store = requireReferencedRecord(tx, vectorStores, { field: "store_id", id: record.store_id });
    const file = requireReferencedRecord(tx, files, { field: "file_id", id: record.file_id });
    const reason = `file_id must be a file of ${store.organization_id}, the store's organization`;
    if (store.organization_id !== file.organization_id) throw invalidInput("file_id", file.id, reason);
    return putStoreFile(tx, record, actor);
  },
  update(tx, before, after, actor, given) {
    for (const field of ["store_id", "file_id"] as const) {
      if (after[field] !== before[field]) throw invalidInput(field, after[field], `${field} cannot change`);
    }
    return putStoreFile(tx, applyUpdate(tx, { before, after, given }, actor), actor, before.status);
  },
};

/** Applies a PATCH: a new status sets the fields that follow from it. */
function applyUpdate(
  tx: Transaction,
  { before, after, given }: { before: StoreFile; after: StoreFile; given: Partial<StoreFile> },
  actor: StateActor,
): StoreFile {
  const current = setCurrentProgress(before, tx.now).progress_percent;
  const { progress_percent = current } = given;
  if (after.status === "processing") {
    const isNew = before.status !== "processing";
    const started_at = isNew && after.started_at === before.started_at ? tx.now : after.started_at;
    // New processing has the duration of the current setting, running processing keeps its own (G11).
    const processing_ms = isNew ? toMilliseconds(actor.settings.processing_seconds) : before.processing_ms;
    const file = { ...after, started_at, processing_ms, completed_at: null, error_message: null };
    // No processing begins at 100, the progress of a completed file that is sent back.
    const keepsStart = isNew ? (given.progress_percent ?? 100) === 100 : progress_percent === current;
    if (keepsStart) return file;
    return { ...file, started_at: findStart(progress_percent, processing_ms, tx.now) };
  }
  const completed_at = after.completed_at ?? before.completed_at ?? Math.max(tx.now, after.started_at);
  if (after.status === "completed") return { ...after, completed_at };
  const failed = toFailed(after, completed_at, after.error_message ?? UNSUPPORTED_TYPE);
  // If the call gives no progress, running processing fails at the progress that it has reached.
  const follows = before.status === "processing" && progress_percent === current;
  return follows ? failed : { ...failed, progress_percent };
}

/** The start of a processing that has this progress now. */
export function findStart(progress_percent: number, processing_ms: number, now: number): number {
  return now - Math.ceil((Math.min(progress_percent, 99) * processing_ms) / 100);
}

/** Stores the record and its timer, and emits the event of a file that is now complete. */
function putStoreFile(
  tx: Transaction,
  file: StoreFile,
  actor: StateActor,
  statusBefore?: StoreFile["status"],
): StoreFile {
  const { started_at, completed_at } = file;
  if (completed_at !== null && completed_at < started_at)
    throw invalidInput("completed_at", tx.toIso(completed_at), "completed_at must not be before started_at");
  const silent = actor.silent || statusBefore === "completed";
  const stored =
    file.status === "completed"
      ? completeFile(tx, file, { at: file.completed_at ?? tx.now, silent })
      : tx.put(storeFiles, file);
  scheduleStep(tx, stored, tx.now);
  return stored;
}
