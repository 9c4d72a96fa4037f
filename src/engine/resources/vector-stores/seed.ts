import Type from "typebox";
import { type EntryOf, entriesOf, fixtureRecord } from "../../contract/fixture-record.ts";
import type { FixtureReader } from "../../contract/resource.ts";
import { makeStoreFile, makeVectorStore } from "./make.ts";
import { endOf, nextStepEnd } from "./progress.ts";
import { StoreFile, storeFiles, VectorStore, vectorStores } from "./schema.ts";

const fileRecord = fixtureRecord(StoreFile, {
  needs: ["file_id"],
  omit: ["id", "store_id", "progress_percent", "current_step"],
});
const record = fixtureRecord(VectorStore, {
  needs: ["id"],
  more: { files: Type.Optional(Type.Array(fileRecord.schema)) },
});

export const vectorStoresFixture: FixtureReader = {
  keys: { vector_stores: Type.Array(record.schema) },
  follows: ["processing_seconds"],
  check(fixture, report) {
    for (const [position, store] of entriesOf(fixture, "vector_stores", record).entries()) {
      const seen = new Set<string>();
      for (const [index, { file_id }] of (store.files ?? []).entries()) {
        const path = ["vector_stores", position, "files", index, "file_id"];
        if (seen.has(file_id)) report(path, `${file_id} is in ${store.id} already`);
        seen.add(file_id);
      }
    }
  },
  seed(fixture, base) {
    const entries = entriesOf(fixture, "vector_stores", record);
    const fileOf = (store_id: string, entry: EntryOf<typeof fileRecord>) =>
      makeStoreFile(
        { ...fileRecord.given(entry, base), store_id },
        base.context("store_files", store_id, entry.file_id),
      );
    base.fill(vectorStores, () =>
      entries.map((entry) =>
        makeVectorStore(record.given(entry, base), base.context("vector_stores", entry.id)),
      ),
    );
    base.fill(storeFiles, () =>
      entries.flatMap(({ id, files = [] }) => files.map((entry) => fileOf(id, entry))),
    );
    for (const { id, files = [] } of entries) {
      for (const entry of files) {
        if (entry.status !== "processing") continue;
        const file = fileOf(id, entry);
        // What has ended before the first day goes through its steps all the same, in their order.
        const since = endOf(file) > 0 ? 0 : file.started_at;
        base.timer({
          kind: "file.step",
          subject: file.file_id,
          key: file.id,
          due: nextStepEnd(file, since),
        });
      }
    }
  },
};
