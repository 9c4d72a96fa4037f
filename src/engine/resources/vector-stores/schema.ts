import { type Static, Type } from "typebox";
import { publicView } from "../../contract/public-view.ts";
import { belongsTo } from "../../contract/references.ts";
import { Id, Instant, internal, Nullable, NullableInstant, StringEnum } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";
import { STEPS } from "../files/schema.ts";

export const VectorStore = Type.Object({
  id: Id("vs_"),
  name: Type.String({ minLength: 1 }),
  organization_id: Id("org_", belongsTo("organizations")),
  created_at: Instant(),
});
export type VectorStore = Static<typeof VectorStore>;

export const vectorStores = collection({
  name: "vector_stores",
  schema: VectorStore,
});

/**
 * A file of a store; its id joins the ids of the store and the file. During processing, the clock determines progress and
 * step; the stored values are those after the processing.
 */
export const StoreFile = Type.Object({
  id: Type.String({ pattern: "^vs_[A-Za-z0-9_-]+:file_[A-Za-z0-9_-]+$" }),
  store_id: Id("vs_", belongsTo("vector_stores")),
  file_id: Id("file_", belongsTo("files")),
  status: StringEnum(["processing", "completed", "failed"]),
  progress_percent: Type.Integer({ minimum: 0, maximum: 100 }),
  current_step: Nullable(StringEnum(STEPS)),
  error_message: Nullable(Type.String()),
  started_at: Instant(),
  completed_at: NullableInstant(),
  /** The duration of the processing, copied from the setting when it began. */
  processing_ms: internal(Type.Integer({ minimum: 0 })),
});
export type StoreFile = Static<typeof StoreFile>;

/** The response body (section 2.9). */
export const { schema: ProcessingStatus, render: renderProcessing } = publicView(StoreFile, {
  $id: "ProcessingStatus",
  omit: ["id", "store_id", "file_id"],
});

export const storeFiles = collection({
  name: "store_files",
  schema: StoreFile,
  timer: "file.step",
  indexes: {
    by_store: { groups: "store_id", order: ({ started_at }) => started_at },
    by_file: { groups: "file_id", order: ({ started_at }) => started_at },
  },
});

export function toStoreFileId(store_id: string, file_id: string): string {
  return `${store_id}:${file_id}`;
}
