import type { WorldReader } from "../../state/transaction.ts";
import { progressAt } from "./progress.ts";
import type { StoreFile } from "./schema.ts";

/** With the progress of this moment, and without what is the server's own. */
export function currentStoreFile(
  { processing_ms, ...shown }: StoreFile,
  now: number,
): Omit<StoreFile, "processing_ms"> {
  return shown.status === "processing"
    ? { ...shown, ...progressAt({ started_at: shown.started_at, processing_ms }, now) }
    : shown;
}

/** Section 2.9. */
export function presentStatus(file: StoreFile, world: WorldReader) {
  const { status, progress_percent, current_step, error_message, started_at, completed_at } =
    currentStoreFile(file, world.now);
  return {
    status,
    progress_percent,
    current_step,
    error_message,
    started_at: world.iso(started_at),
    completed_at: completed_at === null ? null : world.iso(completed_at),
  };
}
