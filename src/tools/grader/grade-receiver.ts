import { gradeOver } from "./grade-over.ts";
import type { GradeReceiverOptions } from "./grading-options.ts";
import type { ReceiverReport } from "./report.ts";

/**
 * Grades a webhook receiver against section 6: sends it valid, forged, odd and repeated deliveries and
 * judges its answers, and its side effects where a probe shows them.
 *
 * @throws ReceiverTestUsageError when the URL or an option can't be used.
 * @throws the signal's reason when it is aborted. A receiver that fails or is down is a report, never an error.
 */
export function gradeReceiver(url: string, options: GradeReceiverOptions): Promise<ReceiverReport> {
  return gradeOver(url, options);
}
