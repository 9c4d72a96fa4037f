import { invalidInput } from "../../contract/errors.ts";
import type { StateActor, StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { changedFields, recordStateAudit } from "../audit-logs/record.ts";
import { files } from "../files/schema.ts";
import { anyOf, referred } from "../organizations/references.ts";
import { organizations } from "../organizations/schema.ts";
import { currentStoreFile } from "./present.ts";
import { processingMs, progressAt, UNSUPPORTED } from "./progress.ts";
import { completeFile, failed, removeStoreFile, scheduleStep } from "./rules.ts";
import { type StoreFile, storeFileId, storeFiles, type VectorStore, vectorStores } from "./schema.ts";
import { STORE_NAMES } from "./words.ts";

/** G31: stores are audited as `vector_store`. */
export const vectorStoreRules: StateRules<VectorStore> = {
  complete: (fields, tx, { random }) => ({
    name: random.pick(STORE_NAMES),
    organization_id: fields.organization_id ?? anyOf(tx, organizations, "organization_id").id,
    created_at: tx.now,
    ...fields,
  }),
  insert(tx, record, actor) {
    referred(tx, organizations, { field: "organization_id", id: record.organization_id });
    tx.insert(vectorStores, record);
    audit(tx, record, { actor, action: "created" });
    return record;
  },
  update(tx, before, after, actor) {
    const changes = changedFields(before, after);
    if (changes === undefined) return before;
    referred(tx, organizations, { field: "organization_id", id: after.organization_id });
    tx.put(vectorStores, after);
    audit(tx, after, { actor, action: "updated", ...changes });
    return after;
  },
  remove(tx, record, actor) {
    for (const file of [...tx.index(storeFiles, "by_store", record.id)]) removeStoreFile(tx, file);
    tx.remove(vectorStores, record.id);
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

/** A file in a store: what its status says decides about progress, step and times (section 3.1, G11). */
export const storeFileRules: StateRules<StoreFile> = {
  toPublic: (record, world) => currentStoreFile(record, world.now),
  complete(fields, tx, { settings }) {
    const [store_id, file_id] = (fields.id ?? "").split(":");
    const place = placeFor(tx, {
      store_id: fields.store_id ?? (store_id || undefined),
      file_id: fields.file_id ?? (file_id || undefined),
    });
    const started_at = fields.started_at ?? tx.now;
    const processing_ms = processingMs(settings);
    const file = { error_message: null, ...fields, started_at, processing_ms };
    return { ...file, ...place, id: storeFileId(place.store_id, place.file_id), ...endOfFile(file, tx) };
  },
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
    return settle(tx, record, actor);
  },
  update(tx, before, given, actor) {
    for (const field of ["store_id", "file_id"] as const) {
      if (given[field] !== before[field]) throw invalidInput(field, given[field], `${field} cannot change`);
    }
    return settle(tx, changed(tx, before, given, actor), actor, before.status);
  },
  remove: (tx, record) => removeStoreFile(tx, record),
};

const MOST_TRIED = 1000;

/** A store and a file of the same organization that are not together yet, for a call that does not name both. */
function placeFor(
  tx: Transaction,
  { store_id, file_id }: { store_id: string | undefined; file_id: string | undefined },
): { store_id: string; file_id: string } {
  if (store_id !== undefined && file_id !== undefined) return { store_id, file_id };
  const stores = store_id
    ? [referred(tx, vectorStores, { field: "store_id", id: store_id })]
    : tx.all(vectorStores).page(0, MOST_TRIED);
  const known = file_id
    ? [referred(tx, files, { field: "file_id", id: file_id })]
    : tx.all(files).page(0, MOST_TRIED);
  for (const store of stores) {
    for (const file of known) {
      if (file.organization_id !== store.organization_id) continue;
      const place = { store_id: store.id, file_id: file.id };
      if (tx.get(storeFiles, storeFileId(store.id, file.id)) === undefined) return place;
    }
  }
  const missing = store_id === undefined ? "store_id" : "file_id";
  throw invalidInput(
    missing,
    null,
    `${missing} is required: no other file of an organization fits one of its stores`,
  );
}

/** Fields that follow from the status of a new record, where they were not given. */
function endOfFile(file: Partial<StoreFile>, tx: Transaction): Partial<StoreFile> {
  const { status = "processing", started_at = tx.now, processing_ms = 0 } = file;
  if (status === "processing") {
    return { status, completed_at: null, ...progressAt({ started_at, processing_ms }, tx.now) };
  }
  const completed_at = file.completed_at ?? tx.now;
  if (status === "completed") return { status, completed_at, progress_percent: 100, current_step: null };
  const reached = progressAt({ started_at, processing_ms }, completed_at).progress_percent;
  return {
    status,
    completed_at,
    progress_percent: file.progress_percent ?? reached,
    current_step: null,
    error_message: file.error_message ?? UNSUPPORTED,
  };
}

/** What a PATCH makes of a file: a new status carries the fields that belong to it. */
function changed(tx: Transaction, before: StoreFile, given: StoreFile, actor: StateActor): StoreFile {
  if (given.status === "processing") {
    const begins = before.status !== "processing";
    const started_at = begins && given.started_at === before.started_at ? tx.now : given.started_at;
    // G11: what begins anew takes as long as the setting says now; what goes on, as long as it was to take.
    const processing_ms = begins ? processingMs(actor.settings) : before.processing_ms;
    const file = { ...given, started_at, processing_ms, completed_at: null, error_message: null };
    return given.progress_percent === before.progress_percent
      ? file
      : { ...file, started_at: startFor(given.progress_percent, file, tx.now) };
  }
  if (before.status !== "processing") return { ...given, current_step: null };
  const completed_at = given.completed_at ?? tx.now;
  return given.status === "failed"
    ? {
        ...failed(given, completed_at, given.error_message ?? UNSUPPORTED),
        ...(given.progress_percent === before.progress_percent
          ? {}
          : { progress_percent: given.progress_percent }),
      }
    : { ...given, completed_at };
}

/** Progress is a matter of time: a file that is to be at so many percent began so long ago. */
function startFor(percent: number, { processing_ms }: StoreFile, now: number): number {
  return now - Math.ceil((Math.min(percent, 99) * processing_ms) / 100);
}

/** Stores the record, with its timer and, when it has just completed, its event. */
function settle(
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
