import type { ReceiverReport } from "../../../types/control-api.ts";
import { type GradeReceiverOptions, OPTION_NAMES, ReceiverTestUsageError } from "./report.ts";

/**
 * Grades a webhook receiver against section 6: sends it valid, forged, unusual and repeated deliveries, and
 * checks its answers and, with a probe, its side effects.
 *
 * @throws ReceiverTestUsageError if the URL or an option can't be used.
 * @throws the signal's reason if it is aborted. For a receiver that fails or is down there is a report, not an error.
 */
export async function gradeReceiver(url: string, options: GradeReceiverOptions): Promise<ReceiverReport> {
  if (typeof options !== "object" || options === null)
    throw new ReceiverTestUsageError("gradeReceiver takes its options as an object with the secret");
  const { gradeFor } = await import("./run-grading.ts");
  return gradeFor({ names: OPTION_NAMES.library }, url, options);
}
