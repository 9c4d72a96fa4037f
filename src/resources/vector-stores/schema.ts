import Type, { type Static } from "typebox";
import { Id, Instant, Nullable, NullableInstant, Timestamp, Words } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

export const VectorStore = Type.Object({
  id: Id("vs_"),
  name: Type.String({ minLength: 1 }),
  organization_id: Id("org_"),
  created_at: Instant(),
});
export type VectorStore = Static<typeof VectorStore>;

export const vectorStores = collection<VectorStore>({
  name: "vector_stores",
  prefix: "vs_",
  idField: "id",
  schema: VectorStore,
});

export const FILE_STATUSES = ["processing", "completed", "failed"] as const;
export const STEPS = ["parsing", "chunking", "embedding"] as const;
export type Step = (typeof STEPS)[number];

const status = {
  status: Words(FILE_STATUSES),
  progress_percent: Type.Integer({ minimum: 0, maximum: 100 }),
  current_step: Nullable(Words(STEPS)),
  error_message: Nullable(Type.String()),
};

/** Section 2.9, as it is answered. */
export const ProcessingStatus = Type.Object(
  { ...status, started_at: Timestamp(), completed_at: Nullable(Timestamp()) },
  { $id: "ProcessingStatus" },
);

/** A file in a store, in its public form; its id names both. */
export const StoreFileBody = Type.Object({
  id: Type.String({ pattern: "^vs_[A-Za-z0-9_-]+:file_[A-Za-z0-9_-]+$" }),
  store_id: Id("vs_"),
  file_id: Id("file_"),
  ...status,
  started_at: Instant(),
  completed_at: NullableInstant(),
});

/**
 * At rest. While it is processing, progress and step follow from the clock; what stands here is what held
 * when it ended.
 */
export type StoreFile = Static<typeof StoreFileBody> & {
  /** How long all of its processing takes, from the setting of the day it began. */
  processing_ms: number;
};

export const storeFiles = collection<StoreFile>({
  name: "store_files",
  prefix: "vs_",
  idField: "id",
  schema: StoreFileBody,
  indexes: {
    by_store: { groups: ({ store_id }) => [store_id], order: ({ started_at }) => started_at },
    by_file: { groups: ({ file_id }) => [file_id], order: ({ started_at }) => started_at },
  },
});

export function storeFileId(store_id: string, file_id: string): string {
  return `${store_id}:${file_id}`;
}
