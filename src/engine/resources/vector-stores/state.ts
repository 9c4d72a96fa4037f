import { invalidInput } from "../../contract/errors.ts";
import { referred } from "../../contract/references.ts";
import type { StateActor, StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { changedFields, recordStateAudit } from "../audit-logs/record.ts";
import { files } from "../files/schema.ts";
import { currentStoreFile, processingMs, UNSUPPORTED } from "./progress.ts";
import { completeFile, scheduleStep, toFailed } from "./rules.ts";
import { type StoreFile, storeFiles, type VectorStore, vectorStores } from "./schema.ts";

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
