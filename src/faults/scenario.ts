import type { Rule } from "./rule.ts";
import type { ExpectDocument } from "./rule-schema.ts";

/** A scenario file, checked and read. */
export interface Scenario {
  name: string;
  description: string | undefined;
  /** The real path of its file. */
  file: string;
  rules: readonly Rule[];
  /** Judged by the suite runner against the journal. */
  expect: readonly ExpectDocument[];
}
