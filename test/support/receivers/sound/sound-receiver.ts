import type { GradeReceiverOptions } from "../../../../src/tools/grader/report.ts";

export interface Running {
  url: string;
  probe: string;
  close(): Promise<unknown>;
  /** Options for the grader, if the receiver needs some. */
  options?: Partial<GradeReceiverOptions>;
}

/** A correct receiver (section 6) in one of many styles. */
export interface SoundReceiver {
  name: string;
  /** Checks that pass with a note; the others pass without one. */
  notes?: string[];
  /** A program that must be installed. */
  needs?: string;
  start(secret: string): Promise<Running>;
}
