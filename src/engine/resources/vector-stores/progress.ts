import type { Settings } from "../../contract/settings.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { presentProcessing, type Step, type StoreFile } from "./schema.ts";

/** G11: where each step ends, in percent of the way; the last one ends the processing. */
const STEP_ENDS: readonly { step: Step; percent: number }[] = [
  { step: "parsing", percent: 15 },
  { step: "chunking", percent: 40 },
  { step: "embedding", percent: 100 },
];

export interface Processing {
  started_at: number;
  processing_ms: number;
}

/** G11: how long all of it takes, in whole milliseconds. */
export function processingMs({ processing_seconds }: Pick<Settings, "processing_seconds">): number {
  return Math.round(processing_seconds * 1000);
}

/** How far a file is that has not ended: linear in the sandbox's time, never quite 100 (section 3.1). */
export function progressAt({ started_at, processing_ms }: Processing, now: number) {
  const elapsed = Math.max(0, now - started_at);
  const whole = processing_ms > 0 ? Math.floor((elapsed * 100) / processing_ms) : 99;
  const progress_percent = Math.min(99, whole);
  const { step } = STEP_ENDS.find(({ percent }) => progress_percent < percent)!;
  return { progress_percent, current_step: step };
}

/** The instant at which the next step ends after `now`, or at the latest the last one. */
export function nextStepEnd({ started_at, processing_ms }: Processing, now: number): number {
  const ends = STEP_ENDS.map(({ percent }) => started_at + Math.ceil((processing_ms * percent) / 100));
  return ends.find((end) => end > now) ?? ends.at(-1)!;
}

/** From which instant on it is complete. */
export function endOf({ started_at, processing_ms }: Processing): number {
  return started_at + processing_ms;
}

/** When a step ends, and what is wrong with the file at that step is found out (G34). */
export function stepEnd({ started_at, processing_ms }: Processing, step: Step): number {
  const { percent } = STEP_ENDS.find((one) => one.step === step)!;
  return started_at + Math.ceil((processing_ms * percent) / 100);
}

const READABLE =
  /^(text\/.+|application\/(pdf|json|.+\+json|xml|.+\+xml|csv|rtf|msword|x-ndjson|yaml|x-yaml|vnd\.(ms-|oasis\.opendocument|openxmlformats-officedocument).+))$/;

/** Documents can be put into a store; pictures, archives and unknown bytes cannot. */
export function isReadable(mime_type: string): boolean {
  return READABLE.test(mime_type.split(";")[0]!.trim().toLowerCase());
}

export const UNSUPPORTED = "unsupported file type";

/** With the progress of this moment. */
export function currentStoreFile(file: StoreFile, now: number): StoreFile {
  return file.status === "processing" ? { ...file, ...progressAt(file, now) } : file;
}

/** Section 2.9. */
export function presentStatus(file: StoreFile, world: WorldReader) {
  return presentProcessing(currentStoreFile(file, world.now), world);
}
