import type { GradeReceiverOptions } from "../../../../src/tools/grader/report.ts";

export interface Running {
  url: string;
  probe: string;
  close(): Promise<unknown>;
  /** How it wants to be graded, where that matters. */
  options?: Partial<GradeReceiverOptions>;
}

/** A receiver that does what section 6 asks for, in its own way. */
export interface SoundReceiver {
  name: string;
  /** Checks that pass with a note; all others pass without one. */
  notes?: string[];
  /** A program that has to be installed. */
  needs?: string;
  start(secret: string): Promise<Running>;
}
