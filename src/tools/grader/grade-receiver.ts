import type { ReceiverReport } from "../../../types/control-api.ts";
import { type GradeReceiverOptions, OPTION_NAMES } from "./report.ts";

/**
 * Grades a webhook receiver against section 6: sends it valid, forged, odd and repeated deliveries and
 * checks its answers, and its side effects where a probe shows them.
 *
 * @throws ReceiverTestUsageError when the URL or an option can't be used.
 * @throws the signal's reason when it is aborted. A receiver that fails or is down is a report, never an error.
 */
export async function gradeReceiver(url: string, options: GradeReceiverOptions): Promise<ReceiverReport> {
  const { gradeFor } = await import("./run-grading.ts");
  return gradeFor({ names: OPTION_NAMES.library }, url, options);
}
