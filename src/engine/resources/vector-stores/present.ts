import type { WorldReader } from "../../state/transaction.ts";
import { progressAt } from "./progress.ts";
import { presentProcessing, type StoreFile } from "./schema.ts";

/** With the progress of this moment. */
export function currentStoreFile(file: StoreFile, now: number): StoreFile {
  return file.status === "processing" ? { ...file, ...progressAt(file, now) } : file;
}

/** Section 2.9. */
export function presentStatus(file: StoreFile, world: WorldReader) {
  return presentProcessing(currentStoreFile(file, world.now), world);
}
