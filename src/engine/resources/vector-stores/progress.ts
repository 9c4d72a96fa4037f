import type { Settings } from "../../contract/settings.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { presentProcessing, type Step, type StoreFile } from "./schema.ts";

/** The progress in percent at which each step ends (G11). */
const STEP_ENDS: readonly { step: Step; percent: number }[] = [
  { step: "parsing", percent: 15 },
  { step: "chunking", percent: 40 },
  { step: "embedding", percent: 100 },
];

export interface Processing {
  started_at: number;
  processing_ms: number;
}

/** The duration of all steps in whole milliseconds (G11). */
export function processingMs({ processing_seconds }: Pick<Settings, "processing_seconds">): number {
  return Math.round(processing_seconds * 1000);
}

/** The progress of a file that is being processed: linear in the sandbox's time and below 100 (3.1). */
export function progressAt({ started_at, processing_ms }: Processing, now: number) {
  const elapsed = Math.max(0, now - started_at);
  const whole = processing_ms > 0 ? Math.floor((elapsed * 100) / processing_ms) : 99;
  const progress_percent = Math.min(99, whole);
  const { step } = STEP_ENDS.find(({ percent }) => progress_percent < percent)!;
  return { progress_percent, current_step: step };
}

/** The end of the step at `now`, or the end of the last step. */
export function nextStepEnd({ started_at, processing_ms }: Processing, now: number): number {
  const ends = STEP_ENDS.map(({ percent }) => started_at + Math.ceil((processing_ms * percent) / 100));
  return ends.find((end) => end > now) ?? ends.at(-1)!;
}

export function processingEnd({ started_at, processing_ms }: Processing): number {
  return started_at + processing_ms;
}

/** The end of a step, at which a failure of that step shows (G34). */
export function stepEnd({ started_at, processing_ms }: Processing, step: Step): number {
  const { percent } = STEP_ENDS.find((one) => one.step === step)!;
  return started_at + Math.ceil((processing_ms * percent) / 100);
}

const READABLE =
  /^(text\/.+|application\/(pdf|json|.+\+json|xml|.+\+xml|csv|rtf|msword|x-ndjson|yaml|x-yaml|vnd\.(ms-|oasis\.opendocument|openxmlformats-officedocument).+))$/;

/** Whether a store can process the type: documents, but not pictures, archives and unknown bytes. */
export function isReadable(mime_type: string): boolean {
  return READABLE.test(mime_type.split(";")[0]!.trim().toLowerCase());
}

export const UNSUPPORTED = "unsupported file type";

/** The file with its progress at `now`. */
export function currentStoreFile(file: StoreFile, now: number): StoreFile {
  return file.status === "processing" ? { ...file, ...progressAt(file, now) } : file;
}

/** The answer of section 2.9. */
export function presentStatus(file: StoreFile, world: WorldReader) {
  return presentProcessing(currentStoreFile(file, world.now), world);
}
