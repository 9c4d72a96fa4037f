import type { Resource } from "../../contract/resource.ts";
import { makeStoreFile, makeVectorStore, vectorStoresFixture } from "./fixtures.ts";
import { attachFile, retrieveFileStatus } from "./operations.ts";
import { advanceFile, storeFileState, vectorStoreState } from "./rules.ts";
import { storeFiles, vectorStores } from "./schema.ts";

export const vectorStoresResource = {
  name: "vector_stores",
  collections: [vectorStores, storeFiles],
  operations: [retrieveFileStatus, attachFile],
  factories: { vector_stores: makeVectorStore, store_files: makeStoreFile },
  fixture: vectorStoresFixture,
  state: { vector_stores: vectorStoreState, store_files: storeFileState },
  timers: { "file.step": advanceFile },
} satisfies Resource;
